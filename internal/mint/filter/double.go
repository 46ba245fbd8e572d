package filter

import "math"

// MinHash (Broder 1997) with bands: rows whose shingles have the Jaccard similarity s share
// at least one of b bands of r hashes with probability 1 - (1 - s^r)^b: 0.65 for s = 0.5,
// 0.9998 for s = 0.8.
const (
	bands   = 16
	perBand = 4
	related = 0.5 // similarity from which two rows are of one family
)

// doubles remembers the rows of a window by bands and by content.
type doubles struct {
	window int
	byBand map[uint64]int32 // the last row that has the band
	byText map[uint64]int32 // the row with this text
	rows   []remembered     // a ring: row i is at i mod window
	n      int              // rows so far
}

type remembered struct {
	bands [bands]uint64
	text  uint64
}

func newDoubles(window int) *doubles {
	return &doubles{window: window, byBand: map[uint64]int32{}, byText: map[uint64]int32{}}
}

// signature gives the bands of a set of shingles.
func signature(shingles []uint64) (out [bands]uint64) {
	var low [bands * perBand]uint64
	for i := range low {
		low[i] = math.MaxUint64
	}
	for _, s := range shingles {
		for i := range low {
			low[i] = min(low[i], mix(s^mix(uint64(i)+1)))
		}
	}
	for b := range out {
		h := uint64(b)
		for _, v := range low[b*perBand : (b+1)*perBand] {
			h = mix(h ^ v)
		}
		out[b] = h
	}
	return out
}

// near lists the remembered rows that share a band, the latest of each, by number.
func (d *doubles) near(sig [bands]uint64) []int {
	var out []int
	seen := map[int32]bool{}
	for _, b := range sig {
		if i, ok := d.byBand[b]; ok && !seen[i] {
			seen[i] = true
			out = append(out, int(i))
		}
	}
	return out
}

// same gives the remembered row with the same text, -1 if there is none.
func (d *doubles) same(text uint64) int {
	if i, ok := d.byText[text]; ok {
		return int(i)
	}
	return -1
}

// add remembers a row, as number n, and forgets the one that leaves the window.
func (d *doubles) add(sig [bands]uint64, text uint64) {
	r := remembered{sig, text}
	if len(d.rows) < d.window {
		d.rows = append(d.rows, r)
	} else {
		d.forget(d.n - d.window)
		d.rows[d.n%d.window] = r
	}
	for _, b := range sig {
		d.byBand[b] = int32(d.n)
	}
	d.byText[text] = int32(d.n)
	d.n++
}

func (d *doubles) forget(i int) {
	old := d.rows[i%d.window]
	for _, b := range old.bands {
		if d.byBand[b] == int32(i) {
			delete(d.byBand, b)
		}
	}
	if d.byText[old.text] == int32(i) {
		delete(d.byText, old.text)
	}
}
