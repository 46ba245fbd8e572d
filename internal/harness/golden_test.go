package harness

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"macaron/internal/chat"
	"macaron/internal/record"
	"macaron/internal/transcript"
)

var update = flag.Bool("update", false, "make the stored logs of runs anew; only ever add one: each build must read those before")

// A log that an earlier build wrote folds to the same run in every later one.
func TestStoredRunsFoldToTheSameBytes(t *testing.T) {
	if *update {
		for name, s := range stories {
			store(t, filepath.Join("testdata", "runs", name+".jsonl"), s)
		}
	}
	logs, err := filepath.Glob("testdata/runs/*.jsonl")
	if err != nil || len(logs) < 2 {
		t.Fatalf("%v %v", logs, err)
	}
	for _, path := range logs {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		var all []record.Record
		for line := range bytes.Lines(text) {
			r, err := record.DecodeLine(bytes.TrimSpace(line))
			if err != nil {
				t.Fatalf("%s: %v", path, err)
			}
			all = append(all, r)
		}
		run := transcript.Fold(all)
		got, err := json.MarshalIndent(struct {
			Run      *transcript.Run
			Messages []chat.Message
		}{run, run.Messages()}, "", " ")
		if err != nil {
			t.Fatal(err)
		}
		golden := path[:len(path)-1]
		if *update {
			if err := os.WriteFile(golden, got, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if want, err := os.ReadFile(golden); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s folds to something else (%v):\n%s", path, err, got)
		}
	}
}

func store(t *testing.T, path string, s story) {
	r := setup(t, t.TempDir(), s.agent, script(s.answers...), s.code, countingTools(t.TempDir())...)
	got := r.run(t, Options{})
	done(t, got, s.answer)
	all, err := r.Records(ctx, "o", got.RunID, 0)
	if err != nil {
		t.Fatal(err)
	}
	var text []byte
	for _, rec := range all {
		line, err := record.EncodeLine(rec)
		if err != nil {
			t.Fatal(err)
		}
		text = append(append(text, line...), '\n')
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
}
