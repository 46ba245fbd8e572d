package train

import (
	"context"
	"path/filepath"
	"testing"

	"macaron/internal/engine/kernel"
	"macaron/internal/errs"
)

// countedTape counts the tapes that are open, and fails at some Put.
type countedTape struct {
	Tape
	open, most, puts *int
	failAt           int
}

func (c countedTape) Put(entry, row int, x []float32) error {
	if *c.puts++; *c.puts == c.failAt {
		return errs.New(errs.StorageFull, "the disk is full", "make room")
	}
	return c.Tape.Put(entry, row, x)
}

func (c countedTape) Close() error {
	*c.open--
	return c.Tape.Close()
}

// TestTapesEnd: with every path, and after an error, which comes to the caller. No more are
// open than the longest path has stretches.
func TestTapesEnd(t *testing.T) {
	cases := readCases(t)
	m := loadModel(t, filepath.Join(archs, "llama"))
	a := loadAdapter(t, "testdata/gradients/llama", m, "llama")
	pool := kernel.NewPool(1)
	defer pool.Close()
	for _, failAt := range []int{0, 1, 7} {
		open, most, puts := 0, 0, 0
		g := NewGraph(m, Alone{pool}, Options{Least: 1, Tape: func(entries, rows, d int) (Tape, error) {
			open++
			most = max(most, open)
			inner, err := newMemoryTape(entries, rows, d)
			return countedTape{inner, &open, &most, &puts, failAt}, err
		}})
		l := layoutOf(m, a)
		_, err := g.Gradients(context.Background(), Backward{Adapter: a, Layout: l, Seqs: sequences(cases), Grad: make([]float32, l.Size),
			Slope: func(i int, _ []float32) []float32 { return cases[i].Slopes }})
		if want := map[bool]errs.Code{true: errs.StorageFull}[failAt > 0]; errs.CodeOf(err) != want {
			t.Errorf("failing at %d: %v", failAt, err)
		}
		if open != 0 || most > 3 {
			t.Errorf("failing at %d: %d tapes left open, %d at most", failAt, open, most)
		}
	}
}
