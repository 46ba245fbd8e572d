package bench

import (
	"context"
	"path/filepath"
	"testing"

	"macaron/internal/chat"
	"macaron/internal/clock"
	"macaron/internal/contract"
	"macaron/internal/errs"
	"macaron/internal/harness"
	"macaron/internal/record"
)

// A run whose model never answered says nothing of the model; one that was slow does.
func TestARunWithoutAnAnswerIsNoOutcome(t *testing.T) {
	said := func(n int) record.RunTotals { return record.RunTotals{Usage: chat.Usage{OutputTokens: n}} }
	if !silent(harness.Report{Status: record.RunTime, Totals: said(0)}) {
		t.Error("an engine that is not there is scored")
	}
	if silent(harness.Report{Status: record.RunTime, Totals: said(5)}) || silent(harness.Report{Status: record.RunDone}) {
		t.Error("an outcome is taken for a failure of the machinery")
	}
}

// stopped is a suite during whose first task the measurement is told to stop.
type stopped struct{ stop context.CancelFunc }

func (stopped) Name() string  { return "stopped" }
func (stopped) Items() []Item { return []Item{{ID: "a"}, {ID: "b"}} }

func (s stopped) Open(ctx context.Context, _ string) (Case, error) {
	s.stop()
	return nil, ctx.Err()
}

// Whoever stops a measurement is told that it goes on, and it has no outcome of what was cut.
func TestAMeasurementIsStopped(t *testing.T) {
	l, err := OpenLog(filepath.Join(t.TempDir(), "out.jsonl"), Pins{})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	ctx, cancel := context.WithCancel(t.Context())
	err = Measure(ctx, Runner{}, Plan{Suites: []Suite{stopped{cancel}}, Modes: []contract.Mode{contract.Functions}, Clock: clock.System{}}, l)
	if errs.CodeOf(err) != errs.Canceled || errs.As(err).Next == "" || l.Done("stopped", "a", contract.Functions) {
		t.Errorf("%v", err)
	}
}
