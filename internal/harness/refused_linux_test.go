package harness

import (
	"slices"
	"testing"

	"macaron/internal/record"
)

// What the sandbox refused to a cell is on record behind it, and the model is not told.
func TestRefusedSystemCallsAreOnRecord(t *testing.T) {
	code := "import os, socket\nfor i in range(3):\n    try: socket.socket()\n    except OSError: pass\ntry: os.chroot('/tmp')\nexcept OSError: pass"
	r := setup(t, t.TempDir(), `mode = "repl"`, script(say("```python\n"+code+"\n```"), "```python\n1\n```", "ok"), true)
	got := r.run(t, Options{})
	done(t, got, "ok")
	run, err := r.Transcript(ctx, "o", got.RunID)
	if err != nil {
		t.Fatal(err)
	}
	cell := run.Cells()[0].Ran.Cell
	var told []record.RunNote
	for _, n := range run.Notes {
		if n.Note == record.NoteSandbox {
			told = append(told, n.RunNote)
		}
	}
	if len(told) != 1 || told[0].Call != cell || told[0].Text != "chroot 1, socket 3" {
		t.Errorf("%+v", told)
	}
	if shown := r.shown(t, got.RunID); !slices.Equal(shown, []string{"[no output]", "1"}) {
		t.Errorf("the model was told %q", shown)
	}
}
