package main

import (
	"bytes"
	"strings"
	"testing"

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
		if err := (&env{out: &out}).showMoved(m); err != nil {
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
