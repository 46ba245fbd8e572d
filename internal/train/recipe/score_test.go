package recipe_test

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"testing"

	"macaron/internal/clock"
	"macaron/internal/engine"
	"macaron/internal/engine/enginetest"
	"macaron/internal/train"
	"macaron/internal/train/recipe"
)

// The losses of rows, one by one, add up to what a run tells of its held-out rows.
func TestScore(t *testing.T) {
	ctx, dir := context.Background(), t.TempDir()
	e, err := engine.Open(ctx, engine.Options{Model: enginetest.Model(t, 1), Threads: 2, KVBytes: 16 << 20})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	m := recipe.Machine{Passes: train.NewGraph(e.Model(), e, train.Options{Mode: e.Mode()}), Base: e.Model().Shape("tiny"), Context: e.Info().Context, Clock: clock.System{}, Load: e.LoadAdapter}
	var rows [][]byte
	for i := range 5 {
		rows = append(rows, fmt.Appendf(nil, `{"tokens":[3,4,%d,%d],"weights":[0,0,1,0.5]}`, 10+i, 20+i))
	}
	if err := os.WriteFile(filepath.Join(dir, "rows.jsonl"), bytes.Join(rows, []byte("\n")), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "train.jsonl"), bytes.Join(rows[:2], []byte("\n")), 0o600); err != nil {
		t.Fatal(err)
	}
	r, err := recipe.Parse([]byte("method = \"sft\"\nout = \"out\"\n[adapter]\nrank = 2\n[data]\ntrain = \"train.jsonl\"\nheld_out = \"rows.jsonl\"\n[optimizer]\nlearning_rate = 0.01\n"), dir)
	if err != nil {
		t.Fatal(err)
	}
	made, err := r.Train(ctx, m, recipe.Options{})
	if err != nil {
		t.Fatal(err)
	}
	a, err := e.LoadAdapter(made.Dir)
	if err != nil {
		t.Fatal(err)
	}
	all, err := m.Score(ctx, a, rows)
	if err != nil {
		t.Fatal(err)
	}
	var loss, learned float64
	for _, s := range all {
		loss, learned = loss+s.Loss, learned+s.Learned
	}
	if want := made.Metrics["held_out_loss"]; len(all) != 5 || learned != 7.5 || math.Abs(loss/learned-want) > 1e-6 {
		t.Errorf("%v of %v tokens is %v, the run says %v", loss, learned, loss/learned, want)
	}
	if n, err := m.Length(rows[0]); n != 4 || err != nil {
		t.Errorf("%d tokens, %v", n, err)
	}
}
