package train

import (
	"path/filepath"
	"slices"
	"testing"

	"macaron/internal/engine/kernel"
)

// TestKeepingChangesNoBit: what is kept inside layers is what would be computed again, in
// blocks of any size and when a part of it has room.
func TestKeepingChangesNoBit(t *testing.T) {
	cases := readCases(t)
	for _, name := range archNames {
		m := loadModel(t, filepath.Join(archs, name))
		a := loadAdapter(t, filepath.Join("testdata/gradients", name), m, name)
		for _, o := range []Options{{Mode: kernel.Float32}, {}, {Least: 1, Rows: 16}, {Least: 1 << 20, Rows: 64}} {
			o.Inside = -1
			want := compute(t, m, a, cases, 2, o)
			for _, room := range []int64{0, int64(4 * 24 * m.InteriorLen())} {
				o.Inside = room
				got := compute(t, m, a, cases, 2, o)
				if !slices.Equal(got.grad, want.grad) {
					t.Errorf("%s: other gradients with %+v", name, o)
				}
			}
		}
	}
}
