package kernel

import (
	"fmt"
	"math"
	"strings"

	"macaron/internal/errs"
)

// packing counts the orders that tiles have had. Whoever changes what a pack function
// writes adds one, so that stored matrices of the old order are not taken for new ones.
const packing = 3

// Layout names everything that the bytes of Data depend on besides the weights: the
// order of tiles and the tile sizes of all formats.
func Layout() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d rows, order %d", tileRows, packing)
	for f, l := range layouts {
		fmt.Fprintf(&b, ", %d %s %d", f, l.name, l.tile)
	}
	return b.String()
}

// Data is the packed form, not to be changed.
func (m *Matrix) Data() []byte { return m.data }

// Packed makes a matrix of bytes that Data gave under the same Layout, without copying
// them: they must stay as they are, and begin on a cache line. It fails with FormatInvalid
// when they do not fit.
func Packed(f Format, rows, k int, data []byte) (*Matrix, error) {
	if !f.known() {
		return nil, errs.Newf(errs.FormatInvalid, "weight format %d is not known", uint8(f))
	}
	l := &layouts[f]
	if rows <= 0 || k <= 0 || k%l.block != 0 || rows > math.MaxInt/2/l.tile/(k/l.block) {
		return nil, errs.Newf(errs.FormatInvalid, "a packed %s matrix cannot have %d rows of %d values", l.name, rows, k)
	}
	m := &Matrix{format: f, rows: rows, k: k, blocks: k / l.block, data: data}
	if len(data) != m.tiles()*m.tileBytes() {
		return nil, errs.Newf(errs.FormatInvalid, "a packed %s matrix of %d rows and %d columns does not take %d bytes", l.name, rows, k, len(data))
	}
	return m, nil
}
