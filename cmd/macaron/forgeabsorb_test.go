package main

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"strings"
	"testing"

	"macaron/cmd/macaron/cli"
	"macaron/cmd/macaron/forge"
	"macaron/internal/mindforge/loop"
	"macaron/internal/mindforge/stat"
	"macaron/internal/mindforge/update"
)

// All three measurements are shown, whatever came of them; a release only where there is one.
func TestWhatWasMovedIsShown(t *testing.T) {
	at := func(mean, prompt float64) update.Measured {
		return update.Measured{Pass: stat.Estimate{Mean: mean, Low: mean - 0.1, High: mean + 0.1, N: 12}, Prompt: prompt}
	}
	for kept, says := range map[bool]string{true: "macaron forge promote sha256:fe --reason", false: "not kept: it passes less often"} {
		m := loop.Moved{Entry: "skills.plan", Attempts: 9, Passes: 4, Replayed: 3, Long: at(0.5, 812), Before: at(0.2, 700), After: at(0.4, 701), Revision: "sha256:ad", Kept: kept, Why: "it passes less often"}
		if kept {
			m.Release = "sha256:fe"
		}
		var out bytes.Buffer
		if err := forge.ShowMoved(&cli.Env{Out: &out}, m); err != nil {
			t.Fatal(err)
		}
		for _, has := range []string{says, "4 of 9", "0.500 [0.400, 0.600]", "0.200 [", "0.400 [", "812", "700", "701"} {
			if !strings.Contains(out.String(), has) {
				t.Errorf("%q lacks %q", out.String(), has)
			}
		}
		if strings.Contains(out.String(), "promote") != kept {
			t.Errorf("kept %v: %s", kept, &out)
		}
	}
}

// A line of the contract in force is moved into the adapter on a real engine: what a model did by luck
// with it is trained on without it, and the shorter contract, whose prompt has fewer tokens, becomes a
// release that can be promoted.
func TestTheHarnessAbsorbs(t *testing.T) {
	program, err := exec.LookPath("macaron")
	if err != nil {
		t.Fatal(err)
	}
	flags := tiny(t)
	text, err := os.ReadFile(flags[3])
	if err != nil {
		t.Fatal(err)
	}
	s := smithy{t, t.TempDir(), program, flags[5]}
	s.lay(string(text))
	s.write("macaron.toml", strings.Replace(s.read("macaron.toml"), `system = "Call."`, `system = "Call.\n- twice: Call it twice."`, 1))
	s.write("forge.toml", strings.Replace(forgeTiny, "rows = 1\n", "rows = 1\nheld = 3\nmargin = 1.0\n", 1))
	var start struct{ Hash string }
	if err := json.Unmarshal([]byte(s.do(0, "forge", "release", "--json")), &start); err != nil {
		t.Fatal(err)
	}
	var m loop.Moved
	if err := json.Unmarshal([]byte(s.do(0, "forge", "absorb", "forge.toml", "agent.prompts.system#twice", "--json")), &m); err != nil {
		t.Fatal(err)
	}
	if !m.Kept || m.Passes == 0 || m.Replayed == 0 || m.Revision == "" || m.Long.Pass.N != 3 || m.Long.Prompt <= m.Before.Prompt || m.Before.Prompt != m.After.Prompt {
		t.Errorf("%+v", m)
	}
	s.do(0, "forge", "promote", string(m.Release), "--reason", "twice is learned")
	s.do(2, "forge", "absorb", "forge.toml", "agent.prompts.system#twice") // the champion has no such line

	// The release that it began with has the line, and comes to the same.
	var again loop.Moved
	if err := json.Unmarshal([]byte(s.do(0, "forge", "absorb", "forge.toml", "agent.prompts.system#twice", "--release", start.Hash, "--json")), &again); err != nil {
		t.Fatal(err)
	}
	if !again.Kept || again.Contract != m.Contract || again.Revision != m.Revision || again.Release != m.Release {
		t.Errorf("%+v, and in force it was %+v", again, m)
	}
	s.do(4, "forge", "absorb", "forge.toml", "agent.prompts.system#twice", "--release", "sha256:"+strings.Repeat("0", 64))
	s.do(2, "forge", "absorb", "forge.toml", "agent.prompts.system#twice", "--release", "first")
}
