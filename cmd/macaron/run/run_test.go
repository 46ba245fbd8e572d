package run

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"macaron/cmd/macaron/cli"
	"macaron/internal/record"
)

// The command that is printed for a run that waits is about the same home and contract.
func TestTheNextCommandIsAboutTheSameRun(t *testing.T) {
	var told bytes.Buffer
	e := &cli.Env{Err: &told, Flags: map[string]string{"contract": "it's.toml", "home": "h", "log.level": "error"}}
	for status, want := range map[record.RunStatus]string{
		record.RunWaiting: "macaron run approve run_1 call_1 [--no] --home 'h' --contract 'it'\\''s.toml'\n",
		record.RunInDoubt: "macaron run resume run_1 --home 'h' --contract 'it'\\''s.toml' --assume-done call_1   or   --retry call_1\n",
	} {
		told.Reset()
		r := &taskRun{ID: "run_1", Status: status}
		if err := json.Unmarshal([]byte(`{"waits": {"call": "call_1", "name": "f"}}`), r); err != nil {
			t.Fatal(err)
		}
		if err := printRun(e, r); err != nil || !strings.HasSuffix(told.String(), want) {
			t.Errorf("%s: %v %q", status, err, told.String())
		}
	}
}
