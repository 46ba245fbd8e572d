package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"macaron/internal/jobs"
)

// The time that is left of a run is told as soon as each stage to come was done once, and before
// that it says so: as null, and in words.
func TestStatusTellsWhatIsLeftOfTheRun(t *testing.T) {
	for generation, want := range map[int]struct{ number, words string }{1: {"null", "not known yet"}, 2: {"40000", "40s"}} {
		var list []jobs.Status
		for g := 1; g <= generation; g++ {
			for _, stage := range []string{"begin", "discovery", "expansion", "update", "gate", "close"} {
				args := fmt.Sprintf(`{"run":"r","generation":%d,"stage":%q,"of":2}`, g, stage)
				list = append(list, jobs.Status{Job: jobs.Job{Args: json.RawMessage(args)}, State: jobs.Done, Worked: 10 * time.Second})
			}
		}
		at := len(list) - 4 // expansion
		list = list[:at+1]
		list[at].State, list[at].Worked, list[at].Progress = jobs.Running, 0, jobs.Progress{Note: "expansion: search", Done: 3, Total: 9}
		s, err := forgeState("r", nil, list, false)
		if err != nil {
			t.Fatal(err)
		}
		for asked, has := range map[bool]string{true: `"run_left_ms": ` + want.number, false: want.words} {
			var out bytes.Buffer
			if err := (&env{out: &out, json: asked}).showForge(s); err != nil || !strings.Contains(out.String(), has) || !asked && !strings.Contains(out.String(), "3/9") {
				t.Errorf("generation %d: %v, %s", generation, err, &out)
			}
		}
	}
}
