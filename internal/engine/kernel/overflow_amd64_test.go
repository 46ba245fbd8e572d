package kernel

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"testing"
)

// TestSumsDoNotOverflow: the largest and smallest codes and sub-scales of every format
// against activations of ±127, where a word or a saturating sum that is too short would
// show. The references count in 32 bits.
func TestSumsDoNotOverflow(t *testing.T) {
	p := NewPool(1)
	defer p.Close()
	signs := map[string]func(i int) float32{
		"all +":      func(int) float32 { return 127 },
		"all -":      func(int) float32 { return -127 },
		"pairs":      func(i int) float32 { return 127 - 254*float32(i/2%2) },
		"halves":     func(i int) float32 { return 127 - 254*float32(i/16%2) },
		"alternates": func(i int) float32 { return 127 - 254*float32(i%2) },
	}
	for _, f := range formats {
		for _, fill := range []byte{0xff, 0x00, 0x80, 0x7f, 0xf0, 0x0f} {
			for name, sign := range signs {
				if f.quantised() {
					extremes(t, p, f, fill, name, sign)
				}
			}
		}
	}
}

// scaleAt is where d stands, if not in front.
var scaleAt = map[Format]int{Q6_K: 208}

// extremes compares the products of one matrix whose bytes are all fill, but for scales
// of 1, with all widths of panels.
func extremes(t *testing.T, p *Pool, f Format, fill byte, name string, sign func(int) float32) {
	const rows, n = 16, 4*7 + 2
	k := 2 * f.BlockLen()
	raw := bytes.Repeat([]byte{fill}, rows*f.RowBytes(k))
	for at := 0; at < len(raw); at += f.BlockBytes() {
		binary.LittleEndian.PutUint16(raw[at+scaleAt[f]:], 0x3c00)
		if layouts[f].offset && f != Q4_0 && f != Q5_0 {
			binary.LittleEndian.PutUint16(raw[at+2:], 0x3c00)
		}
	}
	w, err := Pack(f, rows, k, raw)
	if err != nil {
		t.Fatal(err)
	}
	x := make([]float32, n*k)
	for i := range x {
		x[i] = sign(i)
	}
	for _, cols := range []int{1, 2, 4, 5, n} {
		both(t, fmt.Sprintf("%v %#x %s", f, fill, name), func() []float32 {
			var a Acts
			a.Set(p, x, cols, k, Int8)
			d := make([]float32, cols*rows)
			MatMul(p, d, w, &a)
			return d
		})
	}
}
