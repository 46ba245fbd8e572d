package train

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
	d       int
	entries [][]float32 // [rows, d]
}

func newMemoryTape(entries, rows, d int) (Tape, error) {
	t := &memoryTape{d: d, entries: make([][]float32, entries)}
	all := make([]float32, entries*rows*d)
	for i := range t.entries {
		t.entries[i], all = all[:rows*d], all[rows*d:]
	}
	return t, nil
}

func (t *memoryTape) Put(entry, row int, x []float32) error {
	copy(t.entries[entry][row*t.d:], x)
	return nil
}

func (t *memoryTape) Get(entry, row int, x []float32) error {
	copy(x, t.entries[entry][row*t.d:])
	return nil
}

func (t *memoryTape) Close() error {
	t.entries = nil
	return nil
}
