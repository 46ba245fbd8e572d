package engine

import (
	"context"
	"testing"

	"macaron/internal/engine/enginetest"
	"macaron/internal/engine/lora"
	"macaron/internal/errs"
)

// TestBenchNamesItsTests, computes what it says, and leaves no context to be read again
// when it counts what comes after it.
func TestBenchNamesItsTests(t *testing.T) {
	e := open(t, enginetest.Model(t, 1), nil)
	o := BenchOptions{Prompt: 20, Decode: 6, Depths: []int{0, 70}, Sequences: 3, Adapters: []*lora.Adapter{load(t, e, 1), load(t, e, 2)}, Repeat: 2}
	tests, err := e.Bench(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, b := range tests {
		names = append(names, b.Name)
		if b.Speed.Median <= 0 || len(b.Speed.Runs) != o.Repeat {
			t.Errorf("%s: %+v", b.Name, b.Speed)
		}
	}
	if len(names) != 3 || names[0] != "pp20" || names[1] != "tg6" || names[2] != "tg6@d70" {
		t.Errorf("tests: %v", names)
	}
	// a round: 20 tokens; 3 times 1; 3 times 71, and their last one again
	if got := e.Stats().PromptTokens; got != 3*(20+3+3*71+3) {
		t.Errorf("%d tokens of prompts were computed", got)
	}
	if _, err := e.Bench(context.Background(), BenchOptions{Depths: []int{-1}}); errs.CodeOf(err) != errs.InvalidRequest {
		t.Errorf("a negative depth: %v", err)
	}
}
