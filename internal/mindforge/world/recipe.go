package world

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"macaron/internal/mindforge"
)

// recipe is what a task is a function of.
type recipe struct {
	family string
	level  int
	seed   uint64
	ways   []mindforge.Step
}

// The bounds of a recipe. A task that has become harder so often is longer than any model's
// window, and none needs more.
const (
	MaxLevel = 32
	MaxWays  = 32
)

// ID names a task: what it is made again from.
func ID(world, family string, level int, seed uint64, ways []mindforge.Step) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s/%s/%d/%d", world, family, level, seed)
	for _, s := range ways {
		fmt.Fprintf(&b, "+%s.%d", s.Way, s.Seed)
	}
	return b.String()
}

// Again makes a task from its name.
func Again(all []World, id string) (mindforge.Task, error) {
	parts := strings.SplitN(id, "/", 4)
	if len(id) > 2000 || len(parts) != 4 {
		return mindforge.Task{}, notFound("this names no task: ", id)
	}
	w, err := Of(all, parts[0])
	if err != nil {
		return mindforge.Task{}, err
	}
	steps := strings.Split(parts[3], "+")
	level, err1 := strconv.ParseUint(parts[2], 10, 16)
	seed, err2 := strconv.ParseUint(steps[0], 10, 64)
	if err1 != nil || err2 != nil {
		return mindforge.Task{}, notFound("this names no task: ", id)
	}
	t, err := w.Make(parts[1], int(level), seed)
	for _, s := range steps[1:] {
		way, digits, _ := strings.Cut(s, ".")
		seed, bad := strconv.ParseUint(digits, 10, 64)
		if err == nil && bad != nil {
			err = notFound("this names no task: ", id)
		}
		if err == nil {
			t, err = w.Harder(t, mindforge.Way(way), seed)
		}
	}
	if err == nil && t.ID != id {
		err = notFound("the task has another name than ", id)
	}
	return t, err
}

func (r recipe) check(families []string) error {
	switch {
	case !slices.Contains(families, r.family):
		return notFound("there is no family ", r.family)
	case r.level < 0 || r.level > MaxLevel:
		return bad(fmt.Sprintf("the level is %d", r.level), fmt.Sprintf("levels are 0 to %d", MaxLevel))
	case len(r.ways) > MaxWays:
		return bad(fmt.Sprintf("a task is made harder at most %d times", MaxWays), "")
	}
	for _, s := range r.ways {
		if !slices.Contains(mindforge.Ways, s.Way) {
			return notFound("there is no way ", string(s.Way))
		}
	}
	return nil
}

func (r recipe) count(w mindforge.Way) (n int) {
	for _, s := range r.ways {
		if s.Way == w {
			n++
		}
	}
	return n
}

// salt names the draws. Lifts are of it, the other ways are not: they change a task and do
// not draw it anew.
func (r recipe) salt(world string, try int) string {
	s := fmt.Sprintf("%s/%s/%d/%d/%d", world, r.family, r.level, r.seed, try)
	for _, w := range r.ways {
		if w.Way == mindforge.Lift {
			s += fmt.Sprintf("+%d", w.Seed)
		}
	}
	return s
}

// Restored is a task with its judge's half: made again from its name, or, of a task that
// somebody wrote, as it comes.
func Restored(all []World, t mindforge.Task) (mindforge.Task, error) {
	if len(t.Judged.Spec) > 0 {
		var v Verifier
		if err := strict(t.Judged.Spec, &v); err == nil && v.Free != nil {
			t.Judged.Stated = v.Free.Text != ""
			return t, nil
		}
	}
	return Again(all, t.ID)
}
