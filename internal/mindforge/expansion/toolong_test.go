package expansion

import (
	"strings"
	"testing"

	"macaron/internal/errs"
	"macaron/internal/mindforge"
	"macaron/internal/record"
	"macaron/internal/transcript"
)

// A contract that fills the context is at fault itself: made again, the attempt comes to the same,
// and a search that took it for a failure of the machinery would stop at it.
func TestWhatDoesNotFitIsNoFailureOfTheMachinery(t *testing.T) {
	for code, want := range map[errs.Code]mindforge.Failure{errs.ContextExceeded: mindforge.Budget, errs.UpstreamFailed: mindforge.Infrastructure} {
		r := &transcript.Run{Closed: &record.RunClosed{Status: record.RunFailed, Reason: string(code) + ": the prompt has 1031 tokens"},
			Failed: []*transcript.Turn{{Hop: record.Hop{Error: string(code)}}}}
		f := Classify(Attempt{Run: r})
		if f.Failure != want || len(f.Evidence) == 0 || !strings.Contains(f.Evidence[0], "1031") {
			t.Errorf("%s: %+v", code, f)
		}
	}
}
