package kernel

import (
	"fmt"
	"math"
	"sync"
	"sync/atomic"
)

// RopeTable holds the sines and cosines of rotary position embedding. It grows with
// the largest position seen and is safe for concurrent use.
type RopeTable struct {
	dim   int
	freqs []float64
	mu    sync.Mutex
	table atomic.Pointer[[]float32] // per position: dim cosines, dim sines, each pair's twice
}

// NewRope makes a table for heads of dim values (even), angle pos * base^(-2i/dim)
// for pair i. maxPos positions are computed at once, more when they are needed.
func NewRope(dim int, base float32, maxPos int) *RopeTable {
	if dim <= 0 || dim%2 != 0 || !(base > 0) {
		panic(fmt.Sprintf("kernel: rotary embedding of %d values with base %g", dim, base))
	}
	freqs := make([]float64, dim/2)
	for i := range freqs {
		freqs[i] = math.Pow(float64(base), -2*float64(i)/float64(dim))
	}
	return NewRopeOf(freqs, maxPos)
}

// NewRopeOf makes a table for heads of 2*len(freqs) values, angle pos * freqs[i] for
// pair i.
func NewRopeOf(freqs []float64, maxPos int) *RopeTable {
	t := &RopeTable{dim: 2 * len(freqs), freqs: freqs}
	t.table.Store(&[]float32{})
	t.grow(maxPos)
	return t
}

// PairOrder is the order of the rows of q and k that Apply needs, for heads of dim
// values: unpermuted checkpoints turn values i and i+dim/2 of a head together, Apply has
// the two side by side. Row r of the result is row PairOrder[r] of the checkpoint.
func PairOrder(rows, dim int) []int {
	order := make([]int, rows)
	for r := range order {
		head, i := r/dim*dim, r%dim
		order[r] = head + i%2*(dim/2) + i/2
	}
	return order
}

func (t *RopeTable) grow(positions int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	old := *t.table.Load()
	have := len(old) / (2 * t.dim)
	if positions <= have {
		return
	}
	positions = max(positions, have*3/2, 64)
	next := make([]float32, positions*2*t.dim)
	copy(next, old)
	for pos := have; pos < positions; pos++ {
		row := next[pos*2*t.dim:][:2*t.dim]
		for i, f := range t.freqs {
			sin, cos := math.Sincos(float64(pos) * f)
			row[2*i], row[2*i+1] = float32(cos), float32(cos)
			row[t.dim+2*i], row[t.dim+2*i+1] = float32(sin), float32(sin)
		}
	}
	t.table.Store(&next)
}

// row gives the cosines and sines of one position.
func (t *RopeTable) row(pos int) []float32 {
	if pos < 0 {
		panic(fmt.Sprintf("kernel: position %d", pos))
	}
	at := pos * 2 * t.dim
	table := *t.table.Load()
	if at+2*t.dim > len(table) {
		t.grow(pos + 1)
		table = *t.table.Load()
	}
	return table[at : at+2*t.dim]
}

// Apply rotates x[heads, dim] in place, pairing values 2i and 2i+1: the order that
// GGUF files of the llama architecture are permuted for.
func (t *RopeTable) Apply(x []float32, heads, pos int) {
	t.check(x, heads)
	rope(x[:heads*t.dim], t.row(pos), t.dim)
}

// ApplyNeox rotates x[heads, dim] in place, pairing values i and i+dim/2: the order
// of unpermuted checkpoints and of most other architectures.
func (t *RopeTable) ApplyNeox(x []float32, heads, pos int) {
	t.check(x, heads)
	row, half := t.row(pos), t.dim/2
	for h := range heads {
		a, b := x[h*t.dim:][:half], x[h*t.dim+half:][:half]
		for i := range a {
			cos, sin := row[2*i], row[t.dim+2*i]
			u, v := a[i], b[i]
			a[i] = fma32(u, cos, -float32(v*sin))
			b[i] = fma32(v, cos, float32(u*sin))
		}
	}
}

// Undo rotates x[heads, dim] in place by the opposite of Apply's angles: the transpose,
// and but for rounding the inverse, of Apply.
func (t *RopeTable) Undo(x []float32, heads, pos int) {
	t.check(x, heads)
	var turn [512]float32
	row := t.row(pos)
	back := append(turn[:0], row...)
	for i, sin := range row[t.dim:] {
		back[t.dim+i] = -sin
	}
	rope(x[:heads*t.dim], back, t.dim)
}

func (t *RopeTable) check(x []float32, heads int) {
	if heads < 0 || len(x) < heads*t.dim {
		panic(fmt.Sprintf("kernel: %d heads of %d in %d values", heads, t.dim, len(x)))
	}
}

// ropeRef rotates pairs; row is the table's row for the position.
func ropeRef(x, row []float32, dim int) {
	for ; len(x) >= dim; x = x[dim:] {
		for i := 0; i < dim; i += 2 {
			u, v := x[i], x[i+1]
			x[i] = fma32(u, row[i], -float32(v*row[dim+i]))
			x[i+1] = fma32(v, row[i], float32(u*row[dim+i]))
		}
	}
}
