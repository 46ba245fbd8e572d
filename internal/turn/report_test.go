package turn_test

import (
	"testing"

	"macaron/internal/record"
	"macaron/internal/route"
	"macaron/internal/session"
	"macaron/internal/turn"
)

// What the log tells of a step has a reason only where somebody decided, or where tool results
// went on with an earlier decision.
func TestReasonsThatTheLogTells(t *testing.T) {
	routed := session.Step{Hops: []record.Hop{{Hop: record.HopRoute, Route: &record.RouteDecision{Label: "L2", Reason: route.Forced}}}}
	for _, c := range []struct {
		n    int
		step session.Step
		want string
	}{{0, session.Step{}, ""}, {0, routed, route.Forced}, {1, session.Step{}, route.Sticky}} {
		if got := turn.Reported(session.Turn{}, c.n, c.step).Reason; got != c.want {
			t.Errorf("step %d, %d hops: %q, not %q", c.n, len(c.step.Hops), got, c.want)
		}
	}
}
