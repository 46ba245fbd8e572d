package repl

import (
	"bytes"
	"io"
	"strings"
	"testing"
)

// sheet is an artifact in memory.
type sheet struct{ bytes.Buffer }

func (*sheet) Close() error { return nil }

// An artifact has the output from its first byte, and no more of it than it may, however the
// output comes in pieces.
func TestAnArtifactIsBounded(t *testing.T) {
	text := strings.Repeat("0123456789", 30)
	for _, piece := range []int{1, 7, 10, 11, 99, 100, 101, 300} {
		for most, want := range map[int64]int{100: 100, 299: 299, 300: 300, 1000: 300} {
			var made *sheet
			o := newOutput()
			o.begin(10, most, func() (io.WriteCloser, error) { made = &sheet{}; return made, nil })
			for rest := text; rest != ""; {
				n := min(piece, len(rest))
				o.add([]byte(rest[:n]))
				rest = rest[n:]
			}
			if made == nil || made.String() != text[:want] || string(o.head) != text[:10] || o.total != 300 || o.failed {
				t.Errorf("pieces of %d, at most %d: %+v", piece, most, made)
			}
		}
	}
}
