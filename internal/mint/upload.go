package mint

import (
	"io"
	"sync/atomic"
)

// uploading is what the uploads of all owners that are under way have unpacked. Adapters are read
// whole, so this is what they take of memory.
type uploading struct{ bytes atomic.Int64 }

// taking reads an archive for as long as all uploads together are within a limit; what it read
// counts until done.
type taking struct {
	from io.Reader
	all  *uploading
	most int64
	n    int64
}

// of gives what reads from r.
func (t *taking) of(r io.Reader) io.Reader {
	t.from = r
	return t
}

// Read implements io.Reader. One upload alone is left to its own limit.
func (t *taking) Read(p []byte) (int, error) {
	n, err := t.from.Read(p)
	t.n += int64(n)
	if t.all.bytes.Add(int64(n)) > t.most && t.all.bytes.Load() > t.n {
		return 0, full("other uploads are under way, and together they have too many bytes", t.most, "send it again when they are over")
	}
	return n, err
}

func (t *taking) done() { t.all.bytes.Add(-t.n) }
