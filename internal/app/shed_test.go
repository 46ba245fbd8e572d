package app

import (
	"context"
	"os"
	"strconv"
	"strings"
	"testing"

	"macaron/internal/backend"
	"macaron/internal/backend/backendtest"
	"macaron/internal/chat"
	"macaron/internal/record"
	"macaron/internal/toolshed"
)

// counter is a tool that reads a file through a tool of its contract; it fails where there is none.
const counter = "def words_of(path: str):\n    n = 0\n    for w in read_notes(path=path)['text'].split():\n        n += 1\n    return n\n"

// A tool of the shed in a run: saved, judged, called by a model under a contract, counted;
// its own call goes through the gate as a child of its call; and when it begins to fail it
// is taken out of use, on record.
func TestAToolOfTheShedInRuns(t *testing.T) {
	cfg := settings(t, t.TempDir())
	calls := &backendtest.Scripted{On: func(_ context.Context, r backend.Request, emit func(chat.Event) bool) (bool, error) {
		last := r.Messages[len(r.Messages)-1]
		switch {
		case len(r.Tools) == 0:
			return false, nil
		case last.Role == chat.Tool:
			backendtest.Emit(emit, chat.Event{Text: "it says: " + last.Text()})
		default:
			backendtest.Emit(emit, backendtest.Call(0, "", "words_of", `{"path":"notes.txt"}`))
		}
		return true, nil
	}}
	first := start(t, cfg, calls)
	saved := promotedCounter(t, first.tools.Shed)
	if err := first.stop(); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(cfg.Contract)
	if err != nil {
		t.Fatal(err)
	}
	text = append(text, "\n[[tools]]\nname = \"read_notes\"\nuse = \"builtin:files.read\"\n[[tools]]\nname = \"words_of\"\nuse = \"shed:"+string(saved.Tool)+"\"\n"...)
	if err := os.WriteFile(cfg.Contract, text, 0o600); err != nil {
		t.Fatal(err)
	}
	s := start(t, cfg, calls)
	run := func(files object) runJSON {
		var r runJSON
		if code := s.api("POST", "", object{"instruction": "count", "files": files, "limits": object{"turns": 5}}, &r); code != 200 {
			t.Fatalf("%d %+v", code, r)
		}
		return s.still(r.ID)
	}
	done := run(object{"notes.txt": "one two three"})
	if done.Status != "done" || done.Answer != "it says: 3" || done.Totals.ToolCalls != 2 {
		t.Fatalf("%+v", done)
	}
	var lines []byte
	s.api("GET", "/"+done.ID+"/records", nil, &lines)
	var outer string
	for line := range strings.Lines(string(lines)) {
		rec, err := record.DecodeLine([]byte(line))
		if err != nil {
			t.Fatal(err)
		}
		c, ok := rec.Body.(record.ToolCalled)
		switch {
		case !ok:
		case c.Name == "words_of":
			outer = c.Call
		case c.Parent != outer || c.Call != outer+"/1" || c.Effect != "read":
			t.Errorf("%+v", c)
		}
	}
	for range 3 { // three in a row are enough
		if done = run(object{}); done.Status != "done" || !strings.Contains(done.Answer, "there is no notes.txt") {
			t.Fatalf("%+v", done)
		}
	}
	entry, err := s.tools.Shed.Show(t.Context(), "local", saved.Tool)
	if err != nil || entry.Status != toolshed.Demoted || entry.Uses != 4 || entry.Successes != 1 {
		t.Errorf("%+v %v", entry, err)
	}
	var refused runJSON
	if code := s.api("POST", "", object{"instruction": "count"}, &refused); code == 200 || !strings.Contains(refused.Error.Message, "words_of") {
		t.Errorf("a run with a demoted tool: %d %+v", code, refused)
	}
}

// promotedCounter saves the counter and has it judged.
func promotedCounter(t *testing.T, shed *toolshed.Shed) toolshed.Entry {
	t.Helper()
	saved, err := shed.Save(t.Context(), "local", record.ToolSaved{Name: "words_of", Source: counter, Effect: "read", Uses: []string{"read_notes"}})
	if err != nil {
		t.Fatal(err)
	}
	var set toolshed.Set
	for i := range 10 {
		path := `{"path":"f` + strconv.Itoa(i) + `"}`
		text := `{"text":"` + strings.Repeat("w ", i+1) + `"}`
		set.Cases = append(set.Cases, toolshed.Case{Args: []byte(path), Want: []byte(strconv.Itoa(i + 1)), Calls: []toolshed.Fixture{{Name: "read_notes", Args: []byte(path), Value: []byte(text)}}})
	}
	entry, err := shed.Promote(t.Context(), "local", saved.Tool, set, []string{"read_notes", "write_file"})
	if err != nil || entry.Status != toolshed.Promoted {
		t.Fatalf("%+v %v", entry, err)
	}
	return entry
}
