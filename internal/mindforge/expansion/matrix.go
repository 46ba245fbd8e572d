package expansion

import (
	"maps"
	"slices"

	"macaron/internal/ids"
	"macaron/internal/mindforge"
)

// Cell is the outcome of a candidate at an item in a repeat.
type Cell struct {
	Candidate ids.Digest        `json:"candidate"`
	Item      string            `json:"item"`
	Family    string            `json:"family"`
	Repeat    int               `json:"repeat"`
	Outcome   mindforge.Outcome `json:"outcome"`
}

// Matrix is candidate x item x repeat.
type Matrix struct {
	cells map[ids.Digest]map[string]*sum
	order []ids.Digest
}

type sum struct {
	points float64
	n      int
}

// Add puts a cell in. What the machinery failed at is no outcome.
func (m *Matrix) Add(c Cell) {
	if c.Outcome.Failure == mindforge.Infrastructure {
		return
	}
	if m.cells == nil {
		m.cells = map[ids.Digest]map[string]*sum{}
	}
	row := m.cells[c.Candidate]
	if row == nil {
		row = map[string]*sum{}
		m.cells[c.Candidate], m.order = row, append(m.order, c.Candidate)
	}
	if row[c.Item] == nil {
		row[c.Item] = &sum{}
	}
	row[c.Item].points += c.Outcome.Points
	row[c.Item].n++
}

// At is the mean points of a candidate at an item.
func (m *Matrix) At(c ids.Digest, item string) (float64, bool) {
	s := m.cells[c][item]
	if s == nil {
		return 0, false
	}
	return s.points / float64(s.n), true
}

// Mean is the mean over a candidate's items, each counted once.
func (m *Matrix) Mean(c ids.Digest) float64 {
	row, total := m.cells[c], 0.0
	for _, item := range slices.Sorted(maps.Keys(row)) {
		total += row[item].points / float64(row[item].n)
	}
	return total / float64(max(1, len(row)))
}

// Winners lists for each item the candidates with its best mean, where that is above 0.
func (m *Matrix) Winners() map[string][]ids.Digest {
	best, out := map[string]float64{}, map[string][]ids.Digest{}
	for _, c := range m.order {
		for item := range m.cells[c] {
			at, _ := m.At(c, item)
			switch {
			case at <= 0 || at < best[item]:
			case at > best[item]:
				best[item], out[item] = at, []ids.Digest{c}
			default:
				out[item] = append(out[item], c)
			}
		}
	}
	return out
}

// Frontier counts the items that each candidate wins, dominated candidates left out: one is
// dominated while others win, at every item that it wins, too (GEPA, arXiv:2507.19457).
func (m *Matrix) Frontier() map[ids.Digest]int {
	winners := m.Winners()
	items := slices.Sorted(maps.Keys(winners))
	wins := map[ids.Digest]int{}
	for _, item := range items {
		for _, c := range winners[item] {
			wins[c]++
		}
	}
	weakest := slices.SortedFunc(maps.Keys(wins), func(a, b ids.Digest) int {
		if d := m.Mean(a) - m.Mean(b); d != 0 {
			return sign(d)
		}
		return compare(string(a), string(b))
	})
	for _, c := range weakest {
		if m.dominated(c, items, winners, wins) {
			delete(wins, c)
		}
	}
	return wins
}

// dominated: every item that it wins, somebody who is left wins too.
func (m *Matrix) dominated(c ids.Digest, items []string, winners map[string][]ids.Digest, left map[ids.Digest]int) bool {
	for _, item := range items {
		if !slices.Contains(winners[item], c) {
			continue
		}
		if !slices.ContainsFunc(winners[item], func(o ids.Digest) bool { return o != c && left[o] > 0 }) {
			return false
		}
	}
	return true
}

func sign(x float64) int {
	switch {
	case x < 0:
		return -1
	case x > 0:
		return 1
	}
	return 0
}
