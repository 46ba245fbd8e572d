package kernel

import (
	"encoding/binary"
	"math"
	"testing"
)

// TestAppendHalves: what lies between two halves goes to the nearer one, what lies in the
// middle to the even one, and nothing becomes infinite.
func TestAppendHalves(t *testing.T) {
	half := func(f float32) uint16 { return binary.LittleEndian.Uint16(AppendHalves(nil, []float32{f})) }
	last := uint16(0)
	for h := uint16(1); h < 0x7c00; h++ {
		mid := (half16(h) + half16(last)) / 2
		if got := half(mid); got != last+last&1 || half(math.Nextafter32(mid, 1e9)) != h || half(math.Nextafter32(mid, 0)) != last || half(-half16(h)) != h|0x8000 {
			t.Fatalf("%v between %#x and %#x becomes %#x", mid, last, h, got)
		}
		last = h
	}
	if half(1e9) != 0x7bff || half(-65520) != 0xfbff || half(float32(math.Inf(1))) != 0x7bff {
		t.Error("no saturation")
	}
}
