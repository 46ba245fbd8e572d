package compat

import (
	"path/filepath"
	"testing"
)

func TestResponsesByTheSDK(t *testing.T) {
	s := serve(t, build(t))
	for _, scenario := range []string{"plain", "streamed", "five_turns", "background", "structured", "conversation", "errors"} {
		t.Run(scenario, func(t *testing.T) { s.python(t, "responses.py", scenario) })
	}
}

// A process that is killed in the middle of a conversation, with another answer under way:
// the next one tells what was answered and goes on with it.
func TestResponsesOutliveTheProcess(t *testing.T) {
	program, home, state := build(t), t.TempDir(), filepath.Join(t.TempDir(), "state.json")
	first := serveIn(t, home, program)
	first.python(t, "responses.py", "before", state)
	first.kill(t)
	serveIn(t, home, program).python(t, "responses.py", "after", state)
}
