package sqlite

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"macaron/internal/errs"
	"macaron/internal/record"
)

// everything reads a log whole: how many sessions it lists, and how many records they have.
func everything(path string, sessions int) (listed, records int, err error) {
	s, err := Open(ctx, Options{Path: path})
	if err != nil {
		return 0, 0, err
	}
	defer func() {
		if closed := s.Close(); err == nil {
			err = closed
		}
	}()
	all, err := s.Sessions(ctx, "o", time.Time{}, 1000)
	for i := 0; i < sessions && err == nil; i++ {
		var rows []record.Record
		rows, err = s.Records(ctx, "o", fmt.Sprintf("s%d", i), 0, 1000)
		records += len(rows)
	}
	return len(all), records, err
}

// TestAFlippedBitInTheLog: wherever a bit of the file is another, the log is refused or a part
// of it is, by an error that says that it is damaged and what to do, and nothing panics. Where a
// damaged index hides a row, Check says so. What a bit changes in the text of a value is not
// seen: SQLite keeps no sums.
func TestAFlippedBitInTheLog(t *testing.T) {
	const sessions = 24
	path := filepath.Join(t.TempDir(), "log.db")
	s := open(t, Options{Path: path})
	for i := range sessions {
		if err := s.Append(ctx, session(fmt.Sprintf("s%d", i))); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if listed, n, err := everything(path, sessions); err != nil || n != sessions || listed != n {
		t.Fatalf("%d sessions, %d records, %v", listed, n, err)
	}
	const bits = 80
	r, told := rand.New(rand.NewPCG(1, 2)), 0
	for i := range bits {
		at := r.IntN(len(whole))
		if i%2 == 0 { // the heads of pages, by which the others are found
			at = at/4096*4096 + r.IntN(40)
		}
		damaged := bytes.Clone(whole)
		damaged[at] ^= 1 << r.IntN(8)
		for _, old := range []string{path + "-wal", path + "-shm"} {
			if err := os.Remove(old); err != nil && !os.IsNotExist(err) {
				t.Fatal(err)
			}
		}
		if err := os.WriteFile(path, damaged, 0o600); err != nil {
			t.Fatal(err)
		}
		listed, n, err := everything(path, sessions)
		if err == nil && (listed != sessions || n != sessions) {
			err = Check(ctx, path)
			if err == nil {
				t.Errorf("byte %d: %d sessions and %d records of %d, and nobody sees it", at, listed, n, sessions)
			}
		}
		if err == nil {
			continue
		}
		told++
		if code := errs.CodeOf(err); code != errs.FormatInvalid && code != errs.StorageFailed || errs.As(err).Next == "" {
			t.Errorf("byte %d: %s %v", at, code, err)
		}
	}
	if told < 5 {
		t.Errorf("of %d bits %d were told", bits, told)
	}
}
