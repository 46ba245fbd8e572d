package safety_test

import (
	"context"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"macaron/internal/adapter"
	"macaron/internal/backend"
	"macaron/internal/chat"
	"macaron/internal/harness"
	"macaron/internal/harness/harnesstest"
	"macaron/internal/mindforge"
	"macaron/internal/mindforge/act"
	"macaron/internal/mindforge/evaluation/safety"
	"macaron/internal/mindforge/world"
)

func cases(t *testing.T) *safety.World {
	t.Helper()
	w, err := safety.New()
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// Each case lets pass what does what was asked and no more, and stops each of its failing
// solutions; there are enough of each kind, and a secret is another one with each seed.
func TestEveryCaseTellsGoodFromBad(t *testing.T) {
	w, kinds := cases(t), map[string]int{}
	for _, name := range w.Families() {
		task, err := w.Make(name, 0, 7)
		if err != nil {
			t.Fatal(err)
		}
		if s, err := world.Play(t.Context(), w, task, task.Judged.Solution); err != nil || s.Points != 1 {
			t.Errorf("%s: its solution: %+v %v", name, s, err)
		}
		if len(task.Judged.Failing) == 0 {
			t.Errorf("%s stops nothing", name)
		}
		for _, f := range task.Judged.Failing {
			if s, err := world.Play(t.Context(), w, task, f); err != nil || s.Points != 0 {
				t.Errorf("%s: %s passes: %+v %v", name, f.What, s, err)
			}
		}
		kinds[strings.SplitN(name, "-", 2)[0]]++
		again, err := world.Again([]world.World{w}, task.ID)
		if err != nil || again.Instruction != task.Instruction {
			t.Errorf("%s is not made again: %v", name, err)
		}
		if other, err := w.Make(name, 0, 8); err != nil || string(other.Judged.Spec) == string(task.Judged.Spec) {
			t.Errorf("%s: the secret is the same with another seed", name)
		}
	}
	if len(w.Families()) < 40 || kinds["inject"] < 10 || kinds["secret"] < 10 || kinds["more"] < 10 || kinds["harm"] < 10 {
		t.Error(kinds)
	}
}

// actor runs a scripted model in the harness.
func actor(t *testing.T, w world.World, say harnesstest.Policy) (*act.Actor, mindforge.Pair) {
	t.Helper()
	dir := t.TempDir()
	d := harness.Deps{Generator: harnesstest.Model(say), Log: harnesstest.Log(t, dir, nil), Home: filepath.Join(dir, "runs"), Pause: func(context.Context, time.Duration) {}}
	c := harnesstest.Contract(t, harnesstest.Prompt, harnesstest.NoSnapshots+harnesstest.Finish)
	return &act.Actor{Deps: d, Owner: "o", Worlds: []world.World{w}}, mindforge.Pair{Contract: c, Revisions: []adapter.Revision{harnesstest.Adapter}}
}

// In the harness: a model that does everything and tells everything fails every case but
// those that ask for something to be done; one that does nothing fails those, and only those.
func TestModelsInTheHarness(t *testing.T) {
	w := cases(t)
	careless := func(r backend.Request, said int, results []string) []chat.Event {
		told := strings.Join(results, " ")
		for _, m := range r.Messages {
			told += " " + m.Text()
		}
		told = told[:min(len(told), 3000)]
		if said == 2 {
			return []chat.Event{harnesstest.Call(0, "finish", map[string]string{"answer": told})}
		}
		var out []chat.Event
		for n, d := range r.Tools {
			args := map[string]string{}
			var schema struct{ Required []string }
			if json.Unmarshal(d.Parameters, &schema) != nil || d.Name == "finish" {
				continue
			}
			for _, p := range schema.Required {
				args[p] = "x"
				if said == 1 {
					args[p] = told
				}
			}
			out = append(out, harnesstest.Call(n, d.Name, args))
		}
		return out
	}
	idle := func(backend.Request, int, []string) []chat.Event {
		return []chat.Event{harnesstest.Call(0, "finish", map[string]string{"answer": "I cannot tell."})}
	}
	for name, x := range map[string]struct {
		say  func(backend.Request, int, []string) []chat.Event
		pass bool // of the cases that forbid something
	}{"careless": {careless, false}, "idle": {idle, true}} {
		a, p := actor(t, w, x.say)
		for _, f := range w.Families() {
			task, err := w.Make(f, 0, 3)
			if err != nil {
				t.Fatal(err)
			}
			o, err := a.Try(t.Context(), p, task, 1)
			want := x.pass != strings.HasPrefix(f, "do-")
			if err != nil || o.Pass != want || o.Failure == mindforge.Infrastructure {
				t.Errorf("%s, %s: %+v %v", name, f, o, err)
			}
		}
	}
}
