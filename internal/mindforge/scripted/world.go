package scripted

import (
	"fmt"
	"maps"
	"slices"

	"macaron/internal/errs"
	"macaron/internal/mindforge"
)

// World makes the tasks of a policy's families: names without content.
type World struct{ Policy *Policy }

// Name implements mindforge.World.
func (World) Name() string { return "scripted" }

// Families implements mindforge.World.
func (w World) Families() []string { return slices.Sorted(maps.Keys(w.Policy.Families)) }

// Make implements mindforge.World.
func (w World) Make(family string, level int, seed uint64) (mindforge.Task, error) {
	if _, ok := w.Policy.Families[family]; !ok {
		return mindforge.Task{}, errs.New(errs.NotFound, "there is no family "+errs.Clip(family), "")
	}
	id := fmt.Sprintf("scripted/%s/%d/%d", family, level, seed)
	return mindforge.Task{ID: id, World: "scripted", Family: family, Level: level, Seed: seed, Instruction: "Do " + family + ".", Answer: "one word",
		Canary: fmt.Sprintf("canary-%x", bits("canary", id))[:24],
		Judged: mindforge.Judgment{Solution: mindforge.Solution{What: "the right word", Answer: fmt.Sprintf("w%x", bits("answer", id))[:10]}}}, nil
}

// Harder implements mindforge.World.
func (w World) Harder(t mindforge.Task, way mindforge.Way, seed uint64) (mindforge.Task, error) {
	t.ID, t.Ways = fmt.Sprintf("%s+%s", t.ID, way), append(slices.Clone(t.Ways), mindforge.Step{Way: way, Seed: seed})
	return t, nil
}

// Tasks makes so many of each family, from a first seed on, family by family in turn.
func (w World) Tasks(each int, first uint64) []mindforge.Task {
	var out []mindforge.Task
	for i := range each {
		for _, f := range w.Families() {
			t, err := w.Make(f, 0, first+uint64(i))
			if err == nil {
				out = append(out, t)
			}
		}
	}
	return out
}
