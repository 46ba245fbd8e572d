package loop

import (
	"os"
	"path/filepath"
	"testing"

	"macaron/internal/ids"
	"macaron/internal/mindforge/expansion"
)

// Which run an attempt was outlives a process that was killed in the middle of a line; an attempt
// that is made again has its latest.
func TestRunsOutliveAProcess(t *testing.T) {
	at := filepath.Join(t.TempDir(), "forge", "runs.jsonl")
	key := expansion.Key{Pair: ids.DigestOf([]byte("p")), Task: "w/f/0/1", Seed: 7}
	first := &RunsFile{Path: at}
	if _, ok, err := first.Of(key); ok || err != nil {
		t.Fatal(ok, err)
	}
	for _, run := range []string{"one", "two"} {
		must(t, first.Note(key, run))
	}
	must(t, first.Close())
	f, err := os.OpenFile(at, os.O_APPEND|os.O_WRONLY, 0o600)
	must(t, err)
	_, err = f.WriteString(`{"key":{"pair":"sha256:`)
	must(t, err)
	must(t, f.Close())
	next := &RunsFile{Path: at}
	other := expansion.Key{Task: "other"}
	must(t, next.Note(other, "three"))
	must(t, next.Close())
	for k, want := range map[expansion.Key]string{key: "two", other: "three"} {
		if run, ok, err := next.Of(k); run != want || !ok || err != nil {
			t.Errorf("%q %v %v, want %q", run, ok, err, want)
		}
		must(t, next.Close())
	}
}
