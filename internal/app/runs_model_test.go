package app

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"macaron/internal/config"
	"macaron/internal/testmodel"
	"macaron/internal/toolshed"
	"macaron/internal/transcript"
)

// reads is a tool of the smallest model.
const reads = `
[[tools]]
name = "read_file"
use = "builtin:files.read"
parameters = {type = "object", properties = {path = {enum = ["note.txt"]}}, required = ["path"], additionalProperties = false}
`

// acts starts the whole program with the default model and a contract's tools.
func acts(t *testing.T, home, tools, must string) *site {
	t.Helper()
	path := filepath.Join(home, "agent.toml")
	if err := os.WriteFile(path, []byte(testmodel.Talk(t, "../..")+testmodel.Agent(tools, must)), 0o600); err != nil {
		t.Fatal(err)
	}
	cfg, err := config.Load(map[string]string{"home": home, "contract": path, "listen": "127.0.0.1:0", "model": testmodel.Path(t)})
	if err != nil {
		t.Fatal(err)
	}
	s := start(t, cfg, nil)
	if err := s.WaitReady(t.Context()); err != nil {
		t.Fatal(err)
	}
	return s
}

// The default model, in the whole program: it reads a file and says what is in it. It can
// do that under constrained decoding, and not much more.
func TestTheDefaultModelDoesATask(t *testing.T) {
	s := acts(t, t.TempDir(), reads, "read_file")
	var run runJSON
	if code := s.api("POST", "", object{"instruction": "Read note.txt and say the code word.", "files": object{"note.txt": "The code word is marzipan.\n"}}, &run); code != 200 {
		t.Fatalf("%d %+v", code, run)
	}
	if done := s.still(run.ID); done.Status != "done" || !strings.Contains(done.Answer, "marzipan") {
		t.Fatalf("%+v", done)
	}
	r, err := s.runs.Transcript(t.Context(), "local", run.ID)
	if err != nil {
		t.Fatal(err)
	}
	if last := r.Last(); last.Acts[0].Name != transcript.Finish || len(r.Turns) < 2 {
		t.Errorf("%d turns, the last asks for %s", len(r.Turns), last.Acts[0].Name)
	}
	for i, turn := range r.Turns[1:] {
		before := r.Turns[i]
		if turn.Hop.Continues != before.Hop.ID || turn.Hop.Usage.CachedTokens < before.Hop.Usage.PromptTokens {
			t.Errorf("turn %d begins anew: %+v", i+2, turn.Hop.Usage)
		}
	}
	if !slices.ContainsFunc(r.Notes, func(n transcript.Note) bool { return n.Name == "looked" && *n.OK }) {
		t.Error("the gate was not asked")
	}
}

// saves is a tool with which the smallest model can keep one of two functions.
const saves = `
[[tools]]
name = "save_tool"
use = "builtin:tools.save"
[tools.parameters]
type = "object"
required = ["name", "source"]
additionalProperties = false
[tools.parameters.properties]
name = {enum = ["read_word"]}
source = {enum = ["def read_word(path: str):\n    \"\"\"Read a file.\"\"\"\n    return {'text': 'The code word is ' + path[:-4] + '.'}\n", "def read_word(path: str):\n    \"\"\"Read a file.\"\"\"\n    return {'text': 'The code word is ' + path.removesuffix('.txt') + '.'}\n"]}
`

// What an agent writes in one run becomes a tool of another: the default model saves it, it
// is on record who did, others judge it, and the same model calls it.
func TestTheDefaultModelSavesAToolAndUsesIt(t *testing.T) {
	home := t.TempDir()
	s := acts(t, home, saves, "save_tool")
	var run runJSON
	if code := s.api("POST", "", object{"instruction": "Save a tool that reads a word."}, &run); code != 200 {
		t.Fatalf("%d %+v", code, run)
	}
	if done := s.still(run.ID); done.Status != "done" {
		t.Fatalf("%+v", done)
	}
	all, err := s.tools.Shed.List(t.Context(), "local")
	if err != nil || len(all) == 0 || all[0].Saved.Trajectory != run.ID || all[0].Status != toolshed.Saved {
		t.Fatalf("%+v %v", all, err)
	}
	var set toolshed.Set
	for i := range 10 {
		word := strings.Repeat("w", i+1)
		set.Cases = append(set.Cases, toolshed.Case{Args: []byte(`{"path":"` + word + `.txt"}`), Want: []byte(`{"text":"The code word is ` + word + `."}`)})
	}
	if e, err := s.tools.Shed.Promote(t.Context(), "local", all[0].Tool, set, nil); err != nil || e.Status != toolshed.Promoted {
		t.Fatalf("%+v %v", e, err)
	}
	if err := s.stop(); err != nil {
		t.Fatal(err)
	}
	uses := strings.NewReplacer("builtin:files.read", "shed:"+string(all[0].Tool), "read_file", "read_word", "note.txt", "marzipan.txt").Replace(reads)
	s = acts(t, home, uses, "read_word")
	if code := s.api("POST", "", object{"instruction": "Read marzipan.txt and say the code word."}, &run); code != 200 {
		t.Fatalf("%d %+v", code, run)
	}
	if done := s.still(run.ID); done.Status != "done" || !strings.Contains(done.Answer, "marzipan") {
		t.Fatalf("%+v", done)
	}
	e, err := s.tools.Shed.Show(t.Context(), "local", all[0].Tool)
	if err != nil || e.Uses == 0 || e.Successes != e.Uses {
		t.Errorf("%+v %v", e, err)
	}
}
