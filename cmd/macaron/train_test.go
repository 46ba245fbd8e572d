package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"macaron/cmd/macaron/mint"
	"macaron/internal/config"
	"macaron/internal/engine"
	"macaron/internal/engine/enginetest"
	"macaron/internal/engine/lora"
	"macaron/internal/errs"
	"macaron/internal/train/recipe"
)

// conversations are rows that every method can train on.
func conversations(t *testing.T, dir string) {
	t.Helper()
	var out strings.Builder
	for i := range 6 {
		fmt.Fprintf(&out, `{"messages":[{"role":"user","content":"say %d"}],"chosen":"%d","rejected":"no","answer":"%d"}`+"\n", i, i, i)
	}
	if err := os.WriteFile(filepath.Join(dir, "prompts.jsonl"), []byte(out.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	answered := strings.ReplaceAll(out.String(), `"}],`, `"},{"role":"assistant","content":"yes"}],`)
	if err := os.WriteFile(filepath.Join(dir, "talk.jsonl"), []byte(answered), 0o600); err != nil {
		t.Fatal(err)
	}
}

func recipeOf(t *testing.T, dir, name, method, data, more string) string {
	t.Helper()
	path := filepath.Join(dir, name+".toml")
	text := fmt.Sprintf("method = %q\nseed = 5\nout = %q\n%s\n[adapter]\nrank = 2\n[data]\ntrain = %q\nheld_out_fraction = 0.2\n[optimizer]\nlearning_rate = 0.01\n[run]\nbatch = 2\nepochs = 2\ncheckpoint_every = 2\nchunk_rows = 1\n",
		method, name+".out", "", data) + more
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// trained runs a recipe and gives its provenance.
func trained(t *testing.T, flags []string, args ...string) map[string]any {
	t.Helper()
	code, out, failed := invoke(t, "", append(append(append([]string{}, flags...), "--json", "train"), args...)...)
	if code != 0 {
		t.Fatalf("exit %d: %s %s", code, out, failed)
	}
	var got struct {
		Done       bool
		Dir        string
		Provenance map[string]any
	}
	if err := json.Unmarshal([]byte(out), &got); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if got.Done {
		if rev, err := lora.Inspect(got.Dir); err != nil || string(rev.Hash) != got.Provenance["revision"] {
			t.Errorf("%s holds %s, %v, told was %v", got.Dir, rev.Hash, err, got.Provenance)
		}
	}
	return got.Provenance
}

// TestEveryMethodTrains a tiny model on the real engine, to an adapter that loads; stopped
// and gone on with, to the same one.
func TestEveryMethodTrains(t *testing.T) {
	flags, dir := tiny(t), t.TempDir()
	conversations(t, dir)
	rl := "[rl]\ngroup = 3\nmax_tokens = 4\n[rl.reward]\nkind = \"regex\"\npattern = \"[a-m]\"\n"
	for name, c := range map[string]struct{ method, data, more string }{
		"sft":        {"sft", "talk.jsonl", ""},
		"dpo":        {"dpo", "prompts.jsonl", ""},
		"grpo":       {"grpo", "prompts.jsonl", rl},
		"ppo":        {"ppo", "prompts.jsonl", strings.Replace(rl, "[rl]", "[rl]\nupdates = 2", 1)},
		"own words":  {"distill", "prompts.jsonl", "[rl]\ngroup = 2\nmax_tokens = 4\n[distill]\nsystem = \"be brief\"\n"},
		"soft words": {"distill", "talk.jsonl", "[distill]\ntop = 3\nsystem = \"be brief\"\n"},
	} {
		whole := trained(t, flags, recipeOf(t, dir, name, c.method, c.data, c.more))
		parts := recipeOf(t, filepath.Join(dir), name, c.method, c.data, c.more)
		if err := os.Rename(filepath.Join(dir, name+".out"), filepath.Join(dir, name+".first")); err != nil {
			t.Fatal(err)
		}
		trained(t, flags, parts, "--fresh", "--stop-after", "3")
		if again := trained(t, flags, parts); again["revision"] != whole["revision"] || again["tokens"] != whole["tokens"] || whole["steps"].(float64) < 4 {
			t.Errorf("%s: stopped and gone on with %v, in one %v", name, again, whole)
		}
	}
}

func TestATrainingThatCannotGoOn(t *testing.T) {
	flags, dir := tiny(t), t.TempDir()
	conversations(t, dir)
	path := recipeOf(t, dir, "sft", "sft", "talk.jsonl", "")
	trained(t, flags, path, "--stop-after", "1")
	recipeOf(t, dir, "sft", "sft", "talk.jsonl", "steps = 9\n")
	if code, _, failed := invoke(t, "", append(flags, "train", path)...); code != 2 || !strings.Contains(failed, "--fresh") {
		t.Errorf("exit %d: %s", code, failed)
	}
	trained(t, flags, path, "--fresh")
	if code, _, failed := invoke(t, "", append(flags, "train", path)...); code != 2 || !strings.Contains(failed, "is there already") {
		t.Errorf("exit %d: %s", code, failed)
	}
}

// TestAnInterruptedTrainingGoesOn: one that is told to stop in the middle of a step keeps
// the steps before, and ends as an undisturbed one.
func TestAnInterruptedTrainingGoesOn(t *testing.T) {
	dir := t.TempDir()
	conversations(t, dir)
	eng, err := engine.Open(t.Context(), engine.Options{Model: enginetest.Model(t, 1), Threads: 1, KVBytes: 4 << 20})
	if err != nil {
		t.Fatal(err)
	}
	defer eng.Close() // nothing runs any more
	m, closeMachine, err := mint.Machine(eng, config.Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer closeMachine()
	train := func(name string, stopAt int) (recipe.Result, error) {
		path := recipeOf(t, dir, name, "sft", "talk.jsonl", "")
		raw, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		raw = []byte(strings.Replace(string(raw), "checkpoint_every = 2", "checkpoint_every = 0", 1))
		r, err := recipe.Parse(raw, dir)
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		return r.Train(ctx, m, recipe.Options{Tell: func(step, _ int, _ map[string]float64) {
			if step == stopAt {
				cancel()
			}
		}})
	}
	whole, err := train("whole", 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := train("cut", 3); errs.CodeOf(err) != errs.Canceled {
		t.Fatalf("a run that was told to stop: %v", err)
	}
	again, err := train("cut", 0)
	if err != nil || again.Revision != whole.Revision || again.Tokens != whole.Tokens {
		t.Errorf("gone on with %+v, %v; in one %+v", again, err, whole)
	}
}
