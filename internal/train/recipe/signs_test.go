package recipe_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"macaron/internal/clock"
	"macaron/internal/engine"
	"macaron/internal/engine/enginetest"
	"macaron/internal/train"
	"macaron/internal/train/curve"
	"macaron/internal/train/recipe"
)

// machine is the tiny model, for rows of tokens.
func machine(t *testing.T) recipe.Machine {
	t.Helper()
	e, err := engine.Open(context.Background(), engine.Options{Model: enginetest.Model(t, 1), Threads: 2, KVBytes: 16 << 20})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = e.Close() })
	return recipe.Machine{Passes: train.NewGraph(e.Model(), e, train.Options{Mode: e.Mode()}), Base: e.Model().Shape("tiny"), Context: e.Info().Context, Clock: clock.System{}, Load: e.LoadAdapter}
}

// tokens is a recipe for rows of tokens in a directory, with settings of its run.
func tokens(t *testing.T, dir, rows string, rate float64, run string) *recipe.Recipe {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, "rows.jsonl"), []byte(rows), 0o600); err != nil {
		t.Fatal(err)
	}
	r, err := recipe.Parse(fmt.Appendf(nil, "method = \"sft\"\nout = \"out\"\n[adapter]\nrank = 2\n[data]\ntrain = \"rows.jsonl\"\n[optimizer]\nlearning_rate = %v\n[run]\n%s", rate, run), dir)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// A token of negative weight is learned away from, also where no weight of a batch is positive,
// and a row whose weights add up to nothing is a row.
func TestNegativeWeightsAreLearnedAwayFrom(t *testing.T) {
	m := machine(t)
	for _, c := range []struct{ name, rows, away, toward string }{
		{"alone", `{"tokens":[3,4,10,20],"weights":[0,-1,-1,-1]}`, `{"tokens":[3,4,10,20],"weights":[0,1,1,1]}`, ""},
		{"balanced", `{"tokens":[3,4,10,20],"weights":[0,0,1,-1]}`, `{"tokens":[3,4,10,20],"weights":[0,0,0,1]}`, `{"tokens":[3,4,10,20],"weights":[0,0,1,0]}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			made, err := tokens(t, dir, c.rows, 0.02, "steps = 5\n").Train(t.Context(), m, recipe.Options{})
			if err != nil {
				t.Fatal(err)
			}
			lines, _, err := curve.Read(filepath.Join(dir, "out.work", curve.File), 0, 100)
			if err != nil || lines[0]["learned_tokens"] <= 0 {
				t.Errorf("%v %v", lines[0], err)
			}
			if before, after := loss(t, m, "", c.away), loss(t, m, made.Dir, c.away); after <= before {
				t.Errorf("what was to be unlearned costs %v nats, before %v", after, before)
			}
			if c.toward == "" {
				return
			}
			if before, after := loss(t, m, "", c.toward), loss(t, m, made.Dir, c.toward); after >= before {
				t.Errorf("what was to be learned costs %v nats, before %v", after, before)
			}
		})
	}
}

// loss of a row by an adapter; without a directory by one that changes nothing.
func loss(t *testing.T, m recipe.Machine, dir, row string) float64 {
	t.Helper()
	if dir == "" {
		at := t.TempDir()
		made, err := tokens(t, at, row, 0, "steps = 1\n").Train(t.Context(), m, recipe.Options{})
		if err != nil {
			t.Fatal(err)
		}
		dir = made.Dir
	}
	a, err := m.Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	got, err := m.Score(t.Context(), a, [][]byte{[]byte(row)})
	if err != nil {
		t.Fatal(err)
	}
	return got[0].Loss
}
