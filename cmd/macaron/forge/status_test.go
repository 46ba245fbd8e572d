package forge

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"macaron/cmd/macaron/cli"
	"macaron/internal/errs"
	"macaron/internal/ids"
	"macaron/internal/jobs"
	"macaron/internal/mindforge"
	"macaron/internal/mindforge/ledger"
)

// A run that has ended has nothing to do any more, whatever its last job told.
func TestWhatHasEndedHasNoProgress(t *testing.T) {
	raw, err := json.Marshal(ledger.Step{Generation: 2, Name: "run", State: "ended", Note: "all generations are done"})
	if err != nil {
		t.Fatal(err)
	}
	s, err := forgeState("r", []ledger.Entry{{Seq: 1, Run: "r", Key: "end", Kind: ledger.KindStep, Body: raw}}, queued{jobs: []jobs.Status{{State: jobs.Done, Progress: jobs.Progress{Note: "close", Total: 1}}}})
	if err != nil || s.State != "ended" || s.done() != "" {
		t.Errorf("%+v, %v", s, err)
	}
}

// The time that is left of a run is told as an estimate as soon as attempts were made, and before
// that it says so: as null, and in words.
func TestStatusTellsWhatIsLeftOfTheRun(t *testing.T) {
	type want struct{ number, by, words string }
	made := ledger.Made{What: "outcomes", Name: "search", Hash: ids.DigestOf(nil), Cost: mindforge.Cost{Attempts: 20, Output: 200}}
	for _, c := range []struct {
		generation int
		entries    []ledger.Body
		want       want
	}{
		{1, nil, want{"null", "", "not known yet"}},
		{1, []ledger.Body{made}, want{"108000", "plan", "about 1m48s, by what is planned"}}, // a second an attempt, 100 ms a token
		{2, nil, want{"40000", "stages", "about 40s"}},
	} {
		generation := c.generation
		var entries []ledger.Entry
		for i, b := range c.entries {
			raw, err := json.Marshal(b)
			if err != nil {
				t.Fatal(err)
			}
			entries = append(entries, ledger.Entry{Seq: int64(i + 1), Run: "r", Key: "g001/search/0000", Kind: b.Kind(), Body: raw})
		}
		var list []jobs.Status
		for g := 1; g <= generation; g++ {
			for _, stage := range []string{"begin", "discovery", "expansion", "update", "gate", "close"} {
				args := fmt.Sprintf(`{"run":"r","generation":%d,"stage":%q,"of":2,"planned":{"attempts":{"discovery":10,"expansion":9,"gate":30},"trained":50}}`, g, stage)
				list = append(list, jobs.Status{Job: jobs.Job{Args: json.RawMessage(args)}, State: jobs.Done, Worked: 10 * time.Second})
			}
		}
		at := len(list) - 4 // expansion
		list = list[:at+1]
		list[at].State, list[at].Worked, list[at].Progress = jobs.Running, 0, jobs.Progress{Note: "expansion: search", Done: 3, Total: 9}
		s, err := forgeState("r", entries, queued{jobs: list, worked: true})
		if err != nil {
			t.Fatal(err)
		}
		for asked, has := range map[bool]string{true: `"run_left_ms": ` + c.want.number, false: c.want.words} {
			var out bytes.Buffer
			if err := showForge(&cli.Env{Out: &out, JSON: asked}, s); err != nil || !strings.Contains(out.String(), has) || !asked && !strings.Contains(out.String(), "3/9") || asked && s.RunLeftBy != c.want.by {
				t.Errorf("generation %d: %v, %s", generation, err, &out)
			}
		}
	}
}

// Of a run that nobody works on it is not said that it runs; one that somebody paused, or whose job waits
// for its next try, is not taken for that.
func TestWhatNobodyWorksOnIsStopped(t *testing.T) {
	failure := &jobs.Failure{Code: errs.StorageFailed}
	for _, c := range []struct {
		at   queued
		job  jobs.Status
		want string
	}{
		{queued{worked: true}, jobs.Status{State: jobs.Running}, "running"},
		{queued{}, jobs.Status{State: jobs.Running}, "stopped"},
		{queued{}, jobs.Status{State: jobs.Waiting}, "stopped"},
		{queued{}, jobs.Status{State: jobs.Waiting, Last: failure}, "running"},
		{queued{}, jobs.Status{State: jobs.Running, Last: failure}, "stopped"},
		{queued{}, jobs.Status{State: jobs.Done}, "stopped"},
		{queued{paused: true}, jobs.Status{State: jobs.Waiting}, "paused"},
	} {
		c.at.jobs = []jobs.Status{c.job}
		s, err := forgeState("r", nil, c.at)
		if err != nil || s.State != c.want {
			t.Errorf("%+v: %s, %v; want %s", c.at, s.State, err, c.want)
		}
	}
}
