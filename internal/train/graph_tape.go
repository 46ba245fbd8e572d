package train

import "macaron/internal/engine/kernel"

// Tape keeps, for the rows of a pack, the input of every layer, entry i for layer i, and
// one more for the last normalisation. Put and Get give rows from row on, [n, d]. It may
// lie elsewhere than in memory.
type Tape interface {
	Put(entry, row int, x []float32) error
	Get(entry, row int, x []float32) error
	Close() error
}

// memoryTape is a tape in memory.
type memoryTape struct {
	rows, d int
	all     []float32 // [entries, rows, d]
	free    func()
}

func newMemoryTape(entries, rows, d int) (Tape, error) {
	t := &memoryTape{rows: rows, d: d}
	t.all, t.free = kernel.Borrow(entries * rows * d)
	return t, nil
}

func (t *memoryTape) Put(entry, row int, x []float32) error {
	copy(t.all[(entry*t.rows+row)*t.d:], x)
	return nil
}

func (t *memoryTape) Get(entry, row int, x []float32) error {
	copy(x, t.all[(entry*t.rows+row)*t.d:])
	return nil
}

func (t *memoryTape) Close() error {
	t.free()
	t.all = nil
	return nil
}
