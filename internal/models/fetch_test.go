package models

import (
	"context"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"macaron/internal/errs"
	"macaron/internal/ids"
)

func TestFileSourceIsCopiedOnceAndThenNotNeeded(t *testing.T) {
	f := newFetcher(t)
	b, m := content(t, 1<<20+7)
	p := file(t, b)
	m.Sources = []string{"file:" + p}
	stored := fetched(t, f, m, b)
	if err := os.Remove(p); err != nil {
		t.Fatal(err)
	}
	if again := fetched(t, f, m, b); again != stored {
		t.Errorf("%s became %s", stored, again)
	}
	if info, err := os.Stat(stored); err != nil || info.Mode().Perm()&0o222 != 0 {
		t.Errorf("a stored file can be written: %v %v", info.Mode(), err)
	}
}

func TestLaterSourcesAreTried(t *testing.T) {
	f := newFetcher(t)
	b, m := content(t, 1000)
	wrong := append([]byte("x"), b[1:]...)
	m.Sources = []string{"file:/does/not/exist", "file:" + file(t, wrong), "file:" + file(t, b)}
	fetched(t, f, m, b)
}

func TestEachUnreachableSourceIsToldWithItsReason(t *testing.T) {
	f := newFetcher(t)
	f.Python = "python-that-is-not-there"
	_, m := content(t, 10, "file:/does/not/exist", "pip:nothing==1#a/b")
	e := refused(t, f, m, errs.SourceUnreachable)
	for _, want := range []string{"file:/does/not/exist: ", "pip:nothing==1#a/b: python-that-is-not-there is not installed", m.Name} {
		if !strings.Contains(e.Message, want) {
			t.Errorf("%q is missing in %q", want, e.Message)
		}
	}
	if !strings.Contains(e.Next, "macaron model pull test-model --source file:PATH") || !strings.Contains(e.Next, m.Digest.Hex()) {
		t.Errorf("advice %q", e.Next)
	}
}

func TestWrongBytesAreThrownAway(t *testing.T) {
	b, m := content(t, 5000)
	for name, wrong := range map[string][]byte{"changed": append([]byte("x"), b[1:]...), "short": b[:4999], "long": append(b, 0), "empty": nil} {
		t.Run(name, func(t *testing.T) {
			f := newFetcher(t)
			m.Sources = []string{"file:" + file(t, wrong)}
			e := errs.As(func() error { _, _, err := f.Fetch(context.Background(), m); return err }())
			if e == nil || e.Code != errs.ChecksumMismatch {
				t.Fatalf("got %v", e)
			}
			if _, err := f.Store.Has(m.Digest); errs.CodeOf(err) != errs.NotFound {
				t.Errorf("stored: %v", err)
			}
			m.Sources = []string{"file:" + file(t, b)}
			fetched(t, f, m, b)
		})
	}
}

func TestConcurrentFetchesOfOneFile(t *testing.T) {
	f := newFetcher(t)
	b, m := content(t, 1<<20)
	m.Sources = []string{"file:" + file(t, b)}
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			other, err := Open(strings.TrimSuffix(f.Store.Dir(), "/blobs")) // as another process would
			if err != nil {
				t.Error(err)
				return
			}
			defer other.Close()
			if _, d, err := (&Fetcher{Store: other}).Fetch(context.Background(), m); err != nil || d != m.Digest {
				t.Errorf("%s %v", d, err)
			}
		})
	}
	all.Wait()
	fetched(t, f, m, b)
}

func TestStoredFileThatChangedIsRefused(t *testing.T) {
	f := newFetcher(t)
	b, m := content(t, 100)
	m.Sources = []string{"file:" + file(t, b)}
	p := fetched(t, f, m, b)
	if err := os.Chmod(p, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(p, append([]byte("x"), b[1:]...), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(p, time.Time{}, time.Now().Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	_, _, err := f.Fetch(context.Background(), m)
	if e := errs.As(err); e == nil || e.Code != errs.ChecksumMismatch || !strings.Contains(e.Next, "remove") {
		t.Errorf("got %v", err)
	}
}

func TestFullDiskIsToldBeforeTheTransfer(t *testing.T) {
	f := newFetcher(t)
	f.Store.free = func(string) (uint64, error) { return 4000, nil }
	b, m := content(t, 5000)
	m.Sources = []string{"file:" + file(t, b)}
	e := refused(t, f, m, errs.StorageFull)
	if !strings.Contains(e.Message, "5 kB") || !strings.Contains(e.Message, "4 kB") || !strings.Contains(e.Next, "MACARON_HOME") {
		t.Errorf("got %+v", e)
	}
	clean(t, f)
	f.Store.free = func(string) (uint64, error) { return 6000, nil }
	fetched(t, f, m, b) // goes on when there is room again
}

func TestStoppedWhileAnotherHasTheLock(t *testing.T) {
	f := newFetcher(t)
	b, m := content(t, 100)
	m.Sources = []string{"file:" + file(t, b)}
	first := &transfer{ctx: context.Background(), store: f.Store, model: m, scratch: partial + "/" + m.Digest.Hex()}
	if err := first.open(); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	stop()
	if _, _, err := f.Fetch(ctx, m); errs.CodeOf(err) != errs.Canceled {
		t.Errorf("got %v", err)
	}
	if err := first.file.Close(); err != nil {
		t.Fatal(err)
	}
	fetched(t, f, m, b)
}

func TestDigestIsNeverAPath(t *testing.T) {
	f := newFetcher(t)
	for _, d := range []ids.Digest{"sha256:../../etc/passwd", "../x", "sha256:", "sha256:AA"} {
		if _, err := f.Store.Has(d); errs.CodeOf(err) != errs.InvalidRequest {
			t.Errorf("%s: %v", d, err)
		}
	}
}

func TestProgressIsToldAndEnds(t *testing.T) {
	f := newFetcher(t)
	var last [2]int64
	calls := 0
	f.Progress = func(what string, done, total int64) { calls++; last = [2]int64{done, total} }
	b, m := content(t, 1<<20)
	m.Sources = []string{"file:" + file(t, b)}
	fetched(t, f, m, b)
	if calls < 3 || last != [2]int64{1 << 20, 1 << 20} {
		t.Errorf("%d calls, last %v", calls, last)
	}
}

func TestSize(t *testing.T) {
	for n, want := range map[int64]string{0: "0 B", 999: "999 B", 1000: "1 kB", 98_362_432: "98.4 MB", 999_949: "999.9 kB", 999_999: "1 MB", 2_976_000_000_000: "3 TB"} {
		if got := Size(n); got != want {
			t.Errorf("%d is %q, want %q", n, got, want)
		}
	}
}
