package discovery

import (
	"sort"

	"macaron/internal/ids"
	"macaron/internal/mindforge"
	"macaron/internal/mint/filter"
)

// shingle is the length of the runs of words that texts are compared by.
const shingle = 3

// Shelf is what was kept, and what new tasks are compared with.
type Shelf struct {
	set        Settings
	kept       []Record
	near       *filter.Near
	structures map[ids.Digest]int
	families   map[string]int
	failing    int // of kept: never solved
	refused    map[Reason]int
	sources    map[Kind]int
}

// NewShelf makes one with what was kept before.
func NewShelf(set Settings, kept []Record) (*Shelf, error) {
	if err := set.Check(); err != nil {
		return nil, err
	}
	s := &Shelf{set: set, near: filter.NewNear(shingle), structures: map[ids.Digest]int{}, families: map[string]int{}, refused: map[Reason]int{}, sources: map[Kind]int{}}
	for _, r := range kept {
		s.put(r)
	}
	return s, nil
}

// Kept are the records, in order.
func (s *Shelf) Kept() []Record { return s.kept }

func (s *Shelf) put(r Record) {
	s.kept = append(s.kept, r)
	s.near.Add(words(r.Task))
	s.structures[r.Structure]++
	s.families[family(r.Task)]++
	s.sources[r.Source.Kind]++
	if r.Class == Failing {
		s.failing++
	}
}

// words are what texts are compared by: the canary is another one in each.
func words(t mindforge.Task) string { return t.Instruction }

func family(t mindforge.Task) string { return t.World + "/" + t.Family }

// novel refuses what is kept already: the same problem with other constants, and the same
// words, whatever their problem is said to be.
func (s *Shelf) novel(t mindforge.Task, structure ids.Digest) (likeness float64, refusal *Refusal) {
	of, likeness := s.near.Closest(words(t))
	switch {
	case likeness >= s.set.Likeness:
		return likeness, no(Alike, "%.2f like %s", likeness, s.kept[of].Task.ID)
	case s.structures[structure] >= s.set.PerStructure:
		return likeness, no(Repeated, "%d tasks of the structure %s are kept", s.structures[structure], structure.Short())
	}
	return likeness, nil
}

func sortedKeys[V any](m map[string]V) []string {
	out := make([]string, 0, len(m))
	for k := range m {
		out = append(out, k)
	}
	sort.Strings(out)
	return out
}
