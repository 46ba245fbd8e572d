package mint_test

import (
	"testing"
	"time"

	"macaron/internal/mint"
)

// TestLongPassesLetOthersIn: long passes of one tenant, on two models, neither keep another
// tenant out nor cost it a bit: what it asks for is done while they are under way.
func TestLongPassesLetOthersIn(t *testing.T) {
	r := open(t, openEngine(t), t.TempDir(), mint.Limits{})
	session := r.session(t, "long")
	var long []mint.Promise
	for n := range int64(2) {
		p := must[mint.Promise](t)(r.CreateModel(ctx, "long", mint.CreateModel{Session: session, Seq: n, Base: tiny, Spec: shape}))
		id := r.result(t, "long", p).Model
		for seq := range int64(3) {
			long = append(long, must[mint.Promise](t)(r.Forward(ctx, "long", mint.Forward{Model: id, Seq: seq + 1, Data: data(uint64(n), 200, 200), Loss: crossEntropy})))
		}
	}
	wait(t, func() bool { // both have begun
		n := 0
		for _, p := range long {
			if o := must[mint.Outcome](t)(r.Retrieve(ctx, "long", p.Request, 0)); o.State == mint.Pending && o.Queue == mint.Active && o.Reason == "" {
				n++
			}
		}
		return n >= 2
	})
	model := r.model(t, "short", r.session(t, "short"))
	ops := schedule(6)
	for i, o := range ops {
		r.result(t, "short", must[mint.Promise](t)(r.send("short", model, int64(i+1), o)))
	}
	pending := 0
	for _, p := range long {
		if o := must[mint.Outcome](t)(r.Retrieve(ctx, "long", p.Request, time.Nanosecond)); o.State == mint.Pending {
			pending++
		}
	}
	if pending < 4 {
		t.Errorf("%d of 6 long passes are pending when the other tenant has all that it asked for", pending)
	}
	if got, want := r.state(t, "short", model, "end"), alone(t, r.worker, ops); got != want {
		t.Errorf("the state is %s, undisturbed %s", got, want)
	}
}
