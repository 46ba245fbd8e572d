package train

import "macaron/internal/engine/kernel"

// fileTape is a tape in a scratch file, entry after entry. It reads a stretch of rows at a
// time, in the direction in which it is read: forward passes go up, backward passes down.
type fileTape struct {
	f       scratch
	rows, d int

	entry, lo, hi int // rows [lo, hi) of an entry are in ahead
	ahead         []float32
	last          int // row that was asked for last
}

// aheadBytes is read at once.
const aheadBytes = 1 << 20

func newFileTape(f scratch, rows, d int) *fileTape {
	return &fileTape{f: f, rows: rows, d: d, entry: -1}
}

func (t *fileTape) at(entry, row int) int64 {
	return 4 * int64(t.d) * (int64(entry)*int64(t.rows) + int64(row))
}

func (t *fileTape) Put(entry, row int, x []float32) error {
	if n := len(x) / t.d; entry == t.entry && row < t.hi && row+n > t.lo {
		copy(t.ahead[max(row-t.lo, 0)*t.d:], x[max(t.lo-row, 0)*t.d:])
	}
	_, err := t.f.WriteAt(kernel.FloatBytes(x), t.at(entry, row))
	return spilled(err)
}

func (t *fileTape) Get(entry, row int, x []float32) error {
	n := len(x) / t.d
	if entry != t.entry || row < t.lo || row+n > t.hi {
		if err := t.fetch(entry, row, n); err != nil {
			return err
		}
	}
	t.last = row
	copy(x, t.ahead[(row-t.lo)*t.d:])
	return nil
}

// fetch reads n rows and those that are likely to be asked for next.
func (t *fileTape) fetch(entry, row, n int) error {
	most := max(n, aheadBytes/(4*t.d))
	t.lo, t.hi = row, min(row+most, t.rows)
	if entry == t.entry && row < t.last || entry != t.entry && row > 0 {
		t.lo, t.hi = max(0, row+n-most), row+n
	}
	t.entry = entry
	t.ahead = sized(t.ahead, (t.hi-t.lo)*t.d)
	_, err := t.f.ReadAt(kernel.FloatBytes(t.ahead), t.at(entry, t.lo))
	if err != nil {
		t.entry = -1
	}
	return spilled(err)
}

func (t *fileTape) Close() error { return t.f.Close() }
