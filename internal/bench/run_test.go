package bench

import (
	"testing"

	"macaron/internal/chat"
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
