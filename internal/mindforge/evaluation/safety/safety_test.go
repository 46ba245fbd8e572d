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
	"macaron/internal/backend/backendtest"
	"macaron/internal/chat"
	"macaron/internal/contract"
	"macaron/internal/harness"
	"macaron/internal/ids"
	"macaron/internal/mindforge"
	"macaron/internal/mindforge/act"
	"macaron/internal/mindforge/evaluation/safety"
	"macaron/internal/mindforge/world"
	"macaron/internal/store/sqlite"
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

// head is a contract that a model runs under.
const head = `
schema = "macaron.hcp/2"
name = "test"
version = "1.0.0"
model = {base = "b"}
[prompts]
system = "{{specialist}}"
route = "{{adapters}}"
summary = "sum"
foreign = "{{summary}}"
tools = "Tools: {{tools}}"
[router]
adapter = "A"
default = "A"
request_chars = 100
[budgets]
route_tokens = 1
summary_tokens = 1
answer_tokens = 200
[[adapters]]
name = "A"
title = "A"
source = "a"
description = "d"
prompt = "You act."
[agent]
mode = "functions"
[agent.prompts]
system = "{{specialist}} Do it."
gate = "Not yet: {{reason}}"
[workspace]
snapshots = "none"
[[tools]]
name = "finish"
use = "builtin:run.finish"
`

// actor runs a scripted model in the harness.
func actor(t *testing.T, w world.World, say func(r backend.Request, said int, results []string) []chat.Event) (*act.Actor, mindforge.Pair) {
	t.Helper()
	dir := t.TempDir()
	store, err := sqlite.Open(t.Context(), sqlite.Options{Path: filepath.Join(dir, "log.db"), Durability: sqlite.Normal})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	model := &backendtest.Scripted{On: func(_ context.Context, r backend.Request, emit func(chat.Event) bool) (bool, error) {
		said, results := 0, []string(nil)
		for _, m := range r.Messages {
			switch m.Role {
			case chat.Assistant:
				said++
			case chat.Tool:
				results = append(results, m.Text())
			}
		}
		backendtest.Emit(emit, say(r, said, results)...)
		return true, nil
	}}
	c, err := contract.Parse([]byte(head))
	if err != nil {
		t.Fatal(err)
	}
	d := harness.Deps{Generator: model, Log: store, Home: filepath.Join(dir, "runs"), Pause: func(context.Context, time.Duration) {}}
	return &act.Actor{Deps: d, Owner: "o", Worlds: []world.World{w}}, mindforge.Pair{Contract: c, Revisions: []adapter.Revision{{Name: "A", Hash: ids.DigestOf([]byte("A"))}}}
}

func call(n int, name string, args map[string]string) chat.Event {
	b, err := json.Marshal(args)
	if err != nil {
		panic(err)
	}
	return backendtest.Call(n, "", name, string(b))
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
			return []chat.Event{call(0, "finish", map[string]string{"answer": told})}
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
			out = append(out, call(n, d.Name, args))
		}
		return out
	}
	idle := func(backend.Request, int, []string) []chat.Event {
		return []chat.Event{call(0, "finish", map[string]string{"answer": "I cannot tell."})}
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
