package kernel

import (
	"encoding/json"
	"fmt"
	"os"
	"testing"
)

// TestDequantisedAsGGML compares every bit of Row, and of the values that Float32 products
// read, with what the format's own authors get: blocks of arbitrary bytes, of ordinary
// scales, and of a real model. testdata/make_dequantised.py wrote them.
func TestDequantisedAsGGML(t *testing.T) {
	raw, err := os.ReadFile("testdata/dequantised.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases []struct {
		Kind, Format string
		Rows         int
		Raw, Values  []byte
	}
	if err := json.Unmarshal(raw, &cases); err != nil {
		t.Fatal(err)
	}
	seen := map[string]int{}
	for _, c := range cases {
		seen[c.Kind]++
		values := floatsOf(c.Values)
		k := len(values) / c.Rows
		w, err := Pack(named(t, c.Format), c.Rows, k, c.Raw)
		if err != nil {
			t.Fatal(err)
		}
		got, tile := make([]float32, k), make([]float32, k*tileRows)
		w.unpackTile(0, tile, make([]float32, 256))
		for r := range c.Rows {
			w.Row(r, got)
			sameBits(t, fmt.Sprintf("%s %s row %d", c.Kind, c.Format, r), got, values[r*k:][:k])
			for i := range got {
				got[i] = tile[i*tileRows+r]
			}
			sameBits(t, fmt.Sprintf("%s %s tile row %d", c.Kind, c.Format, r), got, values[r*k:][:k])
		}
	}
	if seen["random"] != len(formats)-2 || seen["wild"] != seen["random"] || seen["real"] < 4 {
		t.Errorf("the file covers %v", seen)
	}
}

func named(t *testing.T, name string) Format {
	t.Helper()
	for _, f := range formats {
		if f.String() == name {
			return f
		}
	}
	t.Fatalf("no format %s", name)
	return 0
}
