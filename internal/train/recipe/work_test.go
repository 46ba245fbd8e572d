package recipe_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"macaron/internal/errs"
	"macaron/internal/train/curve"
	"macaron/internal/train/recipe"
)

const sevenRows = `{"tokens":[3,4,10,20],"weights":[0,1,1,1]}`

// Beginning anew removes what a run left and keeps what else is in the work directory, which may
// be the recipe's own.
func TestFreshKeepsForeignFiles(t *testing.T) {
	m, dir := machine(t), t.TempDir()
	r := tokens(t, dir, sevenRows, 0.02, "steps = 2\n")
	r.Work = "."
	if err := os.MkdirAll(filepath.Join(dir, "mine"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"notes.txt", "model.safetensors", "mine/latest"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("kept"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := r.Train(t.Context(), m, recipe.Options{Stop: 1}); err != nil || got.Done {
		t.Fatalf("%+v %v", got, err)
	}
	made, err := r.Train(t.Context(), m, recipe.Options{Fresh: true})
	if err != nil || made.Tokens != 8 {
		t.Errorf("it did not begin anew: %+v %v", made, err)
	}
	for _, name := range []string{"rows.jsonl", "notes.txt", "model.safetensors", "mine/latest"} {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			t.Errorf("%s is gone: %v", name, err)
		}
	}
}

// A run whose checkpoint is gone does not begin anew unless it is told to.
func TestTheCheckpointIsGone(t *testing.T) {
	m, dir := machine(t), t.TempDir()
	r := tokens(t, dir, sevenRows, 0.02, "steps = 2\n")
	if _, err := r.Train(t.Context(), m, recipe.Options{Stop: -3}); errs.CodeOf(err) != errs.InvalidRequest {
		t.Errorf("stopped after -3 steps: %v", err)
	}
	if _, err := r.Train(t.Context(), m, recipe.Options{Stop: 1}); err != nil {
		t.Fatal(err)
	}
	kept, err := filepath.Glob(filepath.Join(dir, r.Work, "*.safetensors"))
	if err != nil || len(kept) != 1 {
		t.Fatal(kept, err)
	}
	if err := os.Remove(kept[0]); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Train(t.Context(), m, recipe.Options{}); errs.CodeOf(err) != errs.ChecksumMismatch || !strings.Contains(errs.As(err).Next, "--fresh") {
		t.Errorf("it goes on: %v", err)
	}
	if made, err := r.Train(t.Context(), m, recipe.Options{Fresh: true}); err != nil || made.Tokens != 8 {
		t.Errorf("it did not begin anew: %+v %v", made, err)
	}
}

// A copy of what is trained on is not held out either.
func TestACopyIsNotHeldOut(t *testing.T) {
	dir := t.TempDir()
	r := tokens(t, dir, sevenRows, 0.02, "steps = 2\n")
	r.Data.HeldOut = "copy.jsonl"
	if err := os.WriteFile(filepath.Join(dir, "copy.jsonl"), []byte(sevenRows), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Train(t.Context(), machine(t), recipe.Options{}); errs.CodeOf(err) != errs.FormatInvalid || !strings.Contains(err.Error(), "data.held_out") {
		t.Errorf("it trains: %v", err)
	}
}

// A token that the model does not have is refused before a step, by the file and the line.
func TestTokensBeyondTheVocabulary(t *testing.T) {
	m, dir := machine(t), t.TempDir()
	for _, token := range []int{-1, m.Base.Vocab} {
		rows := fmt.Sprintf("%s\n\n{\"tokens\":[3,%d],\"weights\":[0,1]}\n", sevenRows, token)
		made, err := tokens(t, dir, rows, 0.02, "steps = 1\nbatch = 1\n").Train(t.Context(), m, recipe.Options{})
		if errs.CodeOf(err) != errs.FormatInvalid || !strings.Contains(err.Error(), fmt.Sprintf("line 3 of %s: the token %d at position 1", filepath.Join(dir, "rows.jsonl"), token)) {
			t.Errorf("%d: %+v %v", token, made, err)
		}
	}
}

// One process at a time trains in a work directory.
func TestTwoRunsOfOneRecipe(t *testing.T) {
	m, dir := machine(t), t.TempDir()
	r := tokens(t, dir, sevenRows, 0.02, "steps = 3\n")
	work := filepath.Join(dir, r.Work)
	_, err := r.Train(t.Context(), m, recipe.Options{Tell: func(step, _ int, _ map[string]float64) {
		if !recipe.Trains(work) {
			t.Errorf("nobody trains at step %d", step)
		}
		if _, err := r.Train(t.Context(), m, recipe.Options{}); errs.CodeOf(err) != errs.InvalidRequest || !strings.Contains(err.Error(), "another process") {
			t.Errorf("a second run at step %d: %v", step, err)
		}
	}})
	if err != nil || recipe.Trains(work) || recipe.Trains(dir) {
		t.Error("somebody trains behind the end", err)
	}
}

// A run that began from an adapter does not go on as if it had begun from another one.
func TestTheAdapterItBeganFromHasChanged(t *testing.T) {
	m, dir := machine(t), t.TempDir()
	first := func(rate float64) {
		t.Helper()
		at := t.TempDir()
		made, err := tokens(t, at, sevenRows, rate, "steps = 1\n").Train(t.Context(), m, recipe.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if err := os.RemoveAll(filepath.Join(dir, "first")); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(made.Dir, filepath.Join(dir, "first")); err != nil {
			t.Fatal(err)
		}
	}
	first(0.01)
	r := tokens(t, dir, sevenRows, 0.02, "steps = 3\n")
	r.Adapter.Init = "first"
	if _, err := r.Train(t.Context(), m, recipe.Options{Stop: 1}); err != nil {
		t.Fatal(err)
	}
	first(0.03)
	if _, err := r.Train(t.Context(), m, recipe.Options{}); errs.CodeOf(err) != errs.InvalidRequest || !strings.Contains(err.Error(), "adapter.init") {
		t.Errorf("it goes on: %v", err)
	}
	first(0.01)
	if _, err := r.Train(t.Context(), m, recipe.Options{}); err != nil {
		t.Error(err)
	}
}

// Every line of the metrics says how many steps the run will have, and those of a process that went
// on from where.
func TestLinesSayHowFarTheEndIs(t *testing.T) {
	m, dir := machine(t), t.TempDir()
	r := tokens(t, dir, sevenRows, 0.02, "steps = 4\n")
	for _, o := range []recipe.Options{{Stop: 2}, {}} {
		if _, err := r.Train(t.Context(), m, o); err != nil {
			t.Fatal(err)
		}
	}
	lines, _, err := curve.Read(r.Metrics(), 0, 10)
	if err != nil || len(lines) != 5 {
		t.Fatal(lines, err)
	}
	for i, l := range lines {
		step, resumed := min(i+1, 4), 0
		if step > 2 {
			resumed = 2
		}
		if l["step"] != float64(step) || l["planned"] != 4 || l["resumed"] != float64(resumed) {
			t.Errorf("line %d: %v", i, l)
		}
	}
}
