package app

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"macaron/internal/config"
	"macaron/internal/testmodel"
	"macaron/internal/transcript"
)

// agentOf is how the smallest model acts: every answer is a call that its engine holds to
// the schemas, and a gate wants it to have looked.
const agentOf = `
[agent]
mode = "functions"
adapter = "L1"
max_turns = 6
step_tokens = 96
[agent.prompts]
system = """
{{specialist}}
Do the task with the tools. When you know the answer, call finish."""
gate = "You are not finished: {{reason}}."
[[tools]]
name = "read_file"
use = "builtin:files.read"
parameters = {type = "object", properties = {path = {enum = ["note.txt"]}}, required = ["path"], additionalProperties = false}
[[tools]]
name = "finish"
use = "builtin:run.finish"
[[hooks]]
name = "looked"
on = "stop"
check = "tools.called"
with = {tools = ["read_file"]}
max_rounds = 5
`

// The default model, in the whole program: it reads a file and says what is in it. It can
// do that under constrained decoding, and not much more.
func TestTheDefaultModelDoesATask(t *testing.T) {
	text, err := os.ReadFile("../../macaron.toml")
	if err != nil {
		t.Fatal(err)
	}
	adapters, err := filepath.Abs("../../adapters")
	if err != nil {
		t.Fatal(err)
	}
	talk, _, _ := strings.Cut(string(text), "[agent]")
	home := t.TempDir()
	path := filepath.Join(home, "agent.toml")
	if err := os.WriteFile(path, []byte(strings.ReplaceAll(talk, `"adapters/`, `"`+adapters+`/`)+agentOf), 0o600); err != nil {
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
