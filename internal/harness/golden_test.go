package harness

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"macaron/internal/chat"
	"macaron/internal/record"
	"macaron/internal/transcript"
)

var update = flag.Bool("update", false, "make the stored logs of runs anew; only ever add one: each build must read those before")

// filled is JSON without the fields that say nothing: a field that a later build adds and
// an earlier log does not fill changes nothing of what the log folds to.
func filled(t *testing.T, text []byte) any {
	t.Helper()
	var all any
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if err := d.Decode(&all); err != nil {
		t.Fatal(err)
	}
	return pruned(all)
}

func pruned(v any) any {
	switch v := v.(type) {
	case []any:
		for i := range v {
			v[i] = pruned(v[i])
		}
	case map[string]any:
		for k := range v {
			if v[k] = pruned(v[k]); empty(v[k]) {
				delete(v, k)
			}
		}
	}
	return v
}

func empty(v any) bool {
	switch v := v.(type) {
	case []any:
		return len(v) == 0
	case map[string]any:
		return len(v) == 0
	}
	return v == nil || v == "" || v == false || v == json.Number("0")
}

func TestEmptyFieldsAreNoDifference(t *testing.T) {
	const less, more = `{"a":[{"n":1},{}],"b":false}`, `{"a":[{"n":1,"x":""},{"y":{"z":[null],"w":0}}]}`
	if diff := cmp.Diff(filled(t, []byte(less)), filled(t, []byte(`{"a":[{"n":1,"x":""},{"y":{"z":[],"w":0}}],"c":null}`))); diff != "" {
		t.Error(diff)
	}
	if cmp.Equal(filled(t, []byte(less)), filled(t, []byte(more))) {
		t.Error("an element of a list counts")
	}
}

// A log that an earlier build wrote folds to the same run in every later one.
func TestStoredRunsFoldToTheSame(t *testing.T) {
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
		want, err := os.ReadFile(golden)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(filled(t, want), filled(t, got)); diff != "" {
			t.Errorf("%s folds to something else:\n%s", path, diff)
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
