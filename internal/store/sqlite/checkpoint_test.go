package sqlite

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// What is written comes from the write-ahead log into the database while the store is open,
// long before the writer would copy it.
func TestTheWriteAheadLogIsCopied(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log.db")
	s := open(t, Options{Path: path})
	const writes, text = 2 * checkpointAfter, 2000
	for i := range writes {
		if err := s.Append(ctx, session(fmt.Sprint("s", i))); err != nil {
			t.Fatal(err)
		}
	}
	for range 6000 {
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if info.Size() > checkpointAfter*text/2 {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Error("the database did not grow")
}
