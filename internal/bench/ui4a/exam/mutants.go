package exam

import (
	"context"
	"hash/fnv"
	"slices"
	"sync"

	"macaron/internal/bench/ui4a"
	"macaron/internal/bench/ui4a/mutant"
	"macaron/internal/bench/ui4a/stage"
	"macaron/internal/browser"
)

// KindResult says what a kind of defect did to the scores of good cards, on the phone.
type KindResult struct {
	Layer   string             `json:"layer"`
	Kind    string             `json:"kind"`
	N       int                `json:"n"`                // cards
	Dropped int                `json:"dropped"`          // of them, in the layer
	Drop    float64            `json:"drop"`             // of the layer, median, points
	Others  map[string]float64 `json:"others"`           // drop of each other layer, median, points
	Missed  []string           `json:"missed,omitempty"` // cases whose layer did not drop
	Valid   bool               `json:"valid"`            // 95 % dropped, and no other layer by more than 5 points
}

// MutantOptions say what is broken, and how often.
type MutantOptions struct {
	Cases []*ui4a.Case
	Kinds []mutant.Kind
	Each  int              // cards of a kind, at most
	Tabs  int              // pages of the browser at once
	On    *browser.Browser // nil: one of its own
	Out   string           // directory in which measured cards are kept and found again; "" keeps nothing
	Told  func(KindResult) // called with each kind that is done; may be nil
}

// Mutants breaks a sample of each kind's cards, so many at most, and measures every layer
// before and after. Other layers are taken without the gate.
func Mutants(ctx context.Context, o MutantOptions) ([]KindResult, error) {
	m := &mutation{good: map[string]ungated{}, drops: map[int][]drops{}, left: map[int]int{}, kinds: o.Kinds, told: o.Told, out: make([]KindResult, len(o.Kinds))}
	var err error
	if m.kept, err = openUngated(o.Out); err != nil {
		return nil, err
	}
	defer m.kept.close()
	for n, k := range o.Kinds {
		jobs := sample(o.Cases, n, k, o.Each)
		m.jobs, m.left[n], m.out[n] = append(m.jobs, jobs...), len(jobs), verdict(k, nil)
	}
	for _, c := range o.Cases {
		if slices.ContainsFunc(m.jobs, func(j job) bool { return j.c == c }) {
			m.base = append(m.base, job{c: c, kind: -1, source: c.Card})
		}
	}
	for _, part := range [][]job{m.base, m.jobs} {
		part = slices.DeleteFunc(part, m.known)
		if len(part) == 0 {
			continue
		}
		if err := onStage(ctx, o.On, o.Tabs, len(part), func(ctx context.Context, t *stage.Tab, i int, _ bool) error { return m.do(ctx, t, part[i]) }); err != nil {
			return nil, err
		}
	}
	return m.out, nil
}

type job struct {
	c      *ui4a.Case
	kind   int
	source string
}

type drops struct {
	id    string
	layer map[string]float64
}

type mutation struct {
	base, jobs []job
	kinds      []mutant.Kind
	told       func(KindResult)

	mu    sync.Mutex
	kept  *ungatedFile
	good  map[string]ungated // by case
	drops map[int][]drops    // by kind
	left  map[int]int        // jobs of a kind that are not done
	out   []KindResult
}

// sample takes cards that a kind fits, in an order that depends on the kind's name alone.
func sample(cases []*ui4a.Case, n int, k mutant.Kind, each int) []job {
	var fit []job
	for _, c := range cases {
		if !c.Wants() {
			continue
		}
		if source, ok := k.Break(c); ok {
			fit = append(fit, job{c, n, source})
		}
	}
	slices.SortFunc(fit, func(a, b job) int { return int(lot(k.Name, a.c.ID)>>1) - int(lot(k.Name, b.c.ID)>>1) })
	return fit[:min(each, len(fit))]
}

func lot(kind, id string) uint32 {
	h := fnv.New32a()
	_, _ = h.Write([]byte(kind + "\x00" + id)) // never fails
	return h.Sum32()
}

// known takes a card that was measured in an earlier run.
func (m *mutation) known(j job) bool {
	scores, ok := m.kept.find(j)
	if ok {
		m.note(j, scores)
	}
	return ok
}

func (m *mutation) do(ctx context.Context, t *stage.Tab, j job) error {
	e, err := t.Card(ctx, j.c, j.source, ui4a.Views[0], nil)
	if err != nil {
		return err
	}
	scores := ungatedOf(j.c.Layers(e, nil))
	m.mu.Lock()
	defer m.mu.Unlock()
	m.note(j, scores)
	return m.kept.add(j, scores)
}

// note counts a measured card.
func (m *mutation) note(j job, scores ungated) {
	if j.kind < 0 {
		m.good[j.c.ID] = scores
		return
	}
	d := drops{j.c.ID, map[string]float64{}}
	for name, before := range m.good[j.c.ID] {
		if after, ok := scores[name]; ok {
			d.layer[name] = before - after
		}
	}
	m.drops[j.kind] = append(m.drops[j.kind], d)
	if m.left[j.kind]--; m.left[j.kind] == 0 {
		m.out[j.kind] = verdict(m.kinds[j.kind], m.drops[j.kind])
		if m.told != nil {
			m.told(m.out[j.kind])
		}
	}
}

func verdict(k mutant.Kind, all []drops) KindResult {
	r := KindResult{Layer: k.Layer, Kind: k.Name, N: len(all), Others: map[string]float64{}}
	values := map[string][]float64{}
	for _, d := range all {
		for name, v := range d.layer {
			values[name] = append(values[name], v)
		}
		if d.layer[k.Layer] > 0.01 {
			r.Dropped++
		} else {
			r.Missed = append(r.Missed, d.id)
		}
	}
	slices.Sort(r.Missed)
	r.Drop, r.Valid = median(values[k.Layer]), r.N > 0 && float64(r.Dropped) >= 0.95*float64(r.N)
	for _, name := range ui4a.LayerNames {
		if name == k.Layer || len(values[name]) == 0 {
			continue
		}
		r.Others[name] = median(values[name])
		r.Valid = r.Valid && r.Others[name] <= 5
	}
	return r
}
