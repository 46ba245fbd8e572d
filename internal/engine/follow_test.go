package engine

import (
	"context"
	"math/rand/v2"
	"testing"

	"macaron/internal/engine/enginetest"
)

// Requests that begin alike and come at once compute their beginning once; those that
// begin otherwise, or run under another adapter, do not wait for them.
func TestASharedBeginningIsComputedOnce(t *testing.T) {
	e, err := prepare(context.Background(), Options{Model: enginetest.Model(t, 3), Threads: 1, MaxBatch: 8})
	if err != nil {
		t.Fatal(err)
	}
	begin := prompt(rand.New(rand.NewPCG(1, 1)), 300)
	other := prompt(rand.New(rand.NewPCG(2, 2)), 300)
	var streams []*Stream
	for i := range int32(6) {
		for _, p := range [][]int32{begin, other} {
			s, err := e.Submit(context.Background(), Request{Prompt: append(p[:300:300], 7, i), MaxTokens: 2, IgnoreEOS: true})
			if err != nil {
				t.Fatal(err)
			}
			streams = append(streams, s)
		}
	}
	l := &e.loop
	l.take()
	l.admit()
	if len(l.running) != 2 {
		t.Errorf("%d requests began at once, not one of each beginning", len(l.running))
	}
	go l.run()
	for _, s := range streams {
		if out, err := collect(s); err != nil || len(out) != 2 {
			t.Fatal(out, err)
		}
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	// Twice the whole, and ten times what follows the last page that is shared.
	if got, most := e.Stats().PromptTokens, int64(2*302+10*(302-256)); got > most {
		t.Errorf("%d tokens of prompts were computed, at most %d are needed", got, most)
	}
}
