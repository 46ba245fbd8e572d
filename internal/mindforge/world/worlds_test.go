package world_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"macaron/internal/ids"
	"macaron/internal/mindforge"
	"macaron/internal/mindforge/world"
	"macaron/internal/mindforge/world/compose"
	"macaron/internal/mindforge/world/terminal"
	"macaron/internal/mindforge/world/text"
)

var worlds = []world.World{compose.New(), terminal.New(), text.New()}

// each runs a test for every family, at once for the worlds.
func each(t *testing.T, do func(t *testing.T, w world.World, family string)) {
	for _, w := range worlds {
		t.Run(w.Name(), func(t *testing.T) {
			t.Parallel()
			for _, f := range w.Families() {
				t.Run(f, func(t *testing.T) { do(t, w, f) })
			}
		})
	}
}

// whole is a task with its judge's half, as bytes.
func whole(t *testing.T, task mindforge.Task) string {
	t.Helper()
	raw, err := json.Marshal([]any{task, task.Judged})
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// sound plays everything that a task says of itself.
func sound(t *testing.T, w world.World, task mindforge.Task) {
	t.Helper()
	if len(task.Judged.Failing) < 3 {
		t.Errorf("%s: %d failing solutions", task.ID, len(task.Judged.Failing))
	}
	for i, s := range append([]mindforge.Solution{task.Judged.Solution}, task.Judged.Failing...) {
		score, err := world.Play(t.Context(), w, task, s)
		if err != nil {
			t.Fatalf("%s: %v", task.ID, err)
		}
		if pass := score.Points == 1; pass != (i == 0) {
			t.Errorf("%s: %s passes: %v (%s)\n%s\n%+v", task.ID, s.What, pass, score.Note, world.Prompt(task), s)
		}
	}
}

func make1(t *testing.T, w world.World, family string, level int, seed uint64) mindforge.Task {
	t.Helper()
	task, err := w.Make(family, level, seed)
	if err != nil {
		t.Fatal(err)
	}
	return task
}

// Every family, at the low levels: the solution passes through the tools of a run, the failing
// ones fail, and a task is the same whenever and behind whatever it is made.
func TestTasksAreSound(t *testing.T) {
	each(t, func(t *testing.T, w world.World, family string) {
		first := map[string]string{}
		for level := range 4 {
			for seed := range uint64(20) {
				task := make1(t, w, family, level, seed)
				sound(t, w, task)
				first[task.ID] = whole(t, task)
			}
		}
		for level := 3; level >= 0; level-- {
			for seed := uint64(20); seed > 0; seed-- {
				if task := make1(t, w, family, level, seed-1); first[task.ID] != whole(t, task) {
					t.Errorf("%s is not the same twice", task.ID)
				}
			}
		}
	})
}

// Each way, and all of them one behind the other, twice over.
func TestHarderTasksAreSound(t *testing.T) {
	long := []mindforge.Way{mindforge.Chain, mindforge.Contradict, mindforge.Prefer, mindforge.Lift, mindforge.Contradict, mindforge.Chain, mindforge.Chain, mindforge.Prefer}
	each(t, func(t *testing.T, w world.World, family string) {
		for seed := range uint64(3) {
			for _, ways := range [][]mindforge.Way{long[:1], long[1:2], long[2:3], long[3:4], long} {
				task := make1(t, w, family, 0, seed)
				was := task
				for i, way := range ways {
					harder, err := w.Harder(task, way, seed+uint64(i))
					if slot(err) {
						continue
					}
					if err != nil {
						t.Fatal(err)
					}
					if harder.Canary == task.Canary || world.Prompt(harder) == world.Prompt(task) {
						t.Errorf("%s: nothing changed by %s", task.ID, way)
					}
					task = harder
				}
				if task.ID == was.ID {
					continue
				}
				sound(t, w, task)
				again, err := world.Again(worlds, task.ID)
				if err != nil || whole(t, again) != whole(t, task) {
					t.Errorf("%s is not made again from its name: %v", task.ID, err)
				}
			}
		}
	})
}

// slot: a family whose request names nothing that could be another has no contradiction.
func slot(err error) bool {
	return err != nil && strings.Contains(err.Error(), "nothing can be contradicted")
}

// Unseen families are new problems: no two have one form, in no world and at no level.
func TestFamiliesHaveStructuresOfTheirOwn(t *testing.T) {
	n := 0
	for level := range 2 {
		forms := map[ids.Digest]string{}
		for _, w := range worlds {
			for _, f := range w.Families() {
				n++
				form, err := make1(t, w, f, level, 1).Judged.Solution.Form()
				if err != nil {
					t.Fatal(err)
				}
				if other, twice := forms[form]; twice {
					t.Errorf("%s/%s and %s have one form", w.Name(), f, other)
				}
				forms[form] = w.Name() + "/" + f
			}
		}
	}
	if n/2 < 36 {
		t.Errorf("there are %d families", n/2)
	}
}

// Names of tools are what contracts declare them with: each is of one world.
func TestToolsOfWorldsHaveOneNameEach(t *testing.T) {
	seen := map[string]string{}
	for _, w := range worlds {
		for _, d := range w.Tools() {
			if other, twice := seen[d.Name]; twice {
				t.Errorf("%s is a tool of %s and of %s", d.Name, other, w.Name())
			}
			if seen[d.Name] = w.Name(); d.About == "" {
				t.Errorf("%s says nothing of itself", d.Name)
			}
		}
	}
}

// A request of level 0 is short enough for the smallest model, and has neither its answer nor
// the canary of another.
func TestRequests(t *testing.T) {
	canaries := map[string]string{}
	each(t, func(t *testing.T, w world.World, family string) {
		for seed := range uint64(10) {
			task := make1(t, w, family, 0, seed)
			if n := len(strings.Fields(world.Prompt(task))); n > 60 {
				t.Errorf("%s has %d words", task.ID, n)
			}
			if task.Shape.Calls < 1 || task.Shape.Depth > 5 || !strings.Contains(world.Prompt(task), task.Canary) {
				t.Errorf("%s: %+v", task.ID, task.Shape)
			}
		}
	})
	for _, w := range worlds {
		for _, f := range w.Families() {
			for seed := range uint64(50) {
				task := make1(t, w, f, 0, seed)
				if other, twice := canaries[task.Canary]; twice {
					t.Errorf("%s and %s have one canary", task.ID, other)
				}
				canaries[task.Canary] = task.ID
			}
		}
	}
}

// What is allowed beside the exact answer: white space at its ends, and the form of line
// ends. Units, signs, zeros, case, quotation marks and words around it are another answer.
func TestNearAnswers(t *testing.T) {
	each(t, func(t *testing.T, w world.World, family string) {
		task := make1(t, w, family, 0, 3)
		s := task.Judged.Solution
		if !asked(t, task) {
			return
		}
		for near, pass := range map[string]bool{
			" %s": true, "%s\n": true, "\t%s \r\n": true, "%s.": false, "0%s": false, "+%s": false, "%s EUR": false, "\"%s\"": false, "The answer is %s": false, "%s\n%[1]s": false, "%s\x00": false,
		} {
			s.Answer = fmt.Sprintf(near, task.Judged.Solution.Answer)
			score, err := world.Play(t.Context(), w, task, s)
			if err != nil || (score.Points == 1) != pass {
				t.Errorf("%s: %q passes: %v (%v)", task.ID, s.Answer, score.Points, err)
			}
		}
		for _, other := range []string{strings.ToUpper(task.Judged.Solution.Answer), strings.ToLower(task.Judged.Solution.Answer)} {
			s.Answer = other
			if score, err := world.Play(t.Context(), w, task, s); err != nil || (score.Points == 1) != (other == task.Judged.Solution.Answer) {
				t.Errorf("%s: %q: %v %v", task.ID, other, score, err)
			}
		}
	})
}

func asked(t *testing.T, task mindforge.Task) bool {
	t.Helper()
	var v world.Verifier
	if err := json.Unmarshal(task.Judged.Spec, &v); err != nil {
		t.Fatal(err)
	}
	return v.Goal.Asked
}

func FuzzJudge(f *testing.F) {
	for _, s := range []string{"42", " 42\r\n", "42.0", "4２", "", "\u00a042", "42\u200b", "4 2"} {
		f.Add("42", s)
	}
	f.Add("a\nb", "a\r\nb\r\n")
	f.Fuzz(func(t *testing.T, want, got string) {
		pass := world.Goal{Asked: true, Answer: want}.Judge(got, nil).Points == 1
		norm := func(s string) string { return strings.TrimSpace(strings.ReplaceAll(s, "\r\n", "\n")) }
		if pass && norm(want) != norm(got) || pass && norm(got) == "" {
			t.Errorf("%q passes for %q", got, want)
		}
		if !pass && want == got && norm(want) != "" && len(want) < 1<<16 {
			t.Errorf("%q does not pass for itself", got)
		}
	})
}

// A random walk over ways stays sound: there is no end to harder.
func TestALongWalk(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 7))
	for _, w := range worlds {
		for range 6 {
			task := make1(t, w, w.Families()[r.IntN(len(w.Families()))], 0, r.Uint64())
			for range 12 {
				next, err := w.Harder(task, mindforge.Ways[r.IntN(4)], r.Uint64())
				if slot(err) {
					continue
				}
				if err != nil {
					t.Fatal(task.ID, err)
				}
				task = next
			}
			sound(t, w, task)
		}
	}
}
