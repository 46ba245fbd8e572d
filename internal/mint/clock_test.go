package mint_test

import (
	"testing"
	"time"

	"macaron/internal/errs"
	"macaron/internal/mint"
)

// TestAClockThatLeaps: one that is years ahead for a while ends no session and removes nothing
// that cannot be had again, and is over when it is set back; one that went back stops nothing.
func TestAClockThatLeaps(t *testing.T) {
	r := open(t, openEngine(t), t.TempDir(), mint.Limits{})
	session := r.session(t, "o")
	model := r.model(t, "o", session)
	r.result(t, "o", must[mint.Promise](t)(r.send("o", model, 1, op{seed: 1})))
	kept := r.result(t, "o", must[mint.Promise](t)(r.Save(ctx, "o", mint.Save{Model: model, Seq: 2, Kind: mint.Training, Name: "kept", TTL: time.Hour}))).Path
	unsaved := r.result(t, "o", must[mint.Promise](t)(r.SaveSampler(ctx, "o", mint.SaveSampler{Model: model, Seq: 3, SamplerSeq: 1}))).Sampler
	alive := func(when string) {
		t.Helper()
		if _, err := r.Checkpoint(ctx, "o", kept); err != nil {
			t.Errorf("%s: the checkpoint: %v", when, err)
		}
		r.result(t, "o", must[mint.Promise](t)(r.Sample(ctx, "o", mint.Sample{Sampler: unsaved, Seq: mint.NoSeq, N: 1, Prompt: []int32{5}, MaxTokens: 1})))
		r.result(t, "o", must[mint.Promise](t)(r.send("o", model, mint.NoSeq, op{seed: 2})))
	}
	for _, leap := range []time.Duration{3 * 365 * 24 * time.Hour, -5 * 365 * 24 * time.Hour} {
		r.clock.pass(leap)
		r.Wake()
		r.age(t)
		for _, collect := range []bool{false, true} {
			if err := r.Tend(ctx, collect); err != nil {
				t.Fatal(err)
			}
		}
		if leap > 0 { // while it is ahead, what has a time to live cannot be read
			if _, err := r.Checkpoint(ctx, "o", kept); errs.CodeOf(err) != errs.NotFound {
				t.Errorf("by the clock its time is over: %v", err)
			}
		} else {
			alive("behind")
		}
		r.clock.pass(-leap)
		alive("set right")
	}
	if err := r.Heartbeat(ctx, "o", session); err != nil {
		t.Error(err)
	}
}
