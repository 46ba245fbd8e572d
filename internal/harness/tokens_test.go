package harness

import (
	"slices"
	"testing"

	"macaron/internal/adapter"
	"macaron/internal/backend/local"
	"macaron/internal/engine"
	"macaron/internal/engine/enginetest"
	"macaron/internal/engine/lora"
	"macaron/internal/record"
	"macaron/internal/tool"
)

// The prompt of every model call begins with the tokens of the one before and those that
// it served, on the built-in engine with a model of random weights, whose text no tokeniser
// would cut as it was made; what the hops have on record puts every prompt together.
func TestPromptsBeginWithTheServedTokens(t *testing.T) {
	eng, err := engine.Open(ctx, engine.Options{Model: enginetest.Model(t, 1), Threads: 2, KVBytes: 8 << 20})
	if err != nil {
		t.Fatal(err)
	}
	dir := enginetest.Adapter(t, 1)
	rev, err := lora.Inspect(dir)
	if err != nil {
		t.Fatal(err)
	}
	rev.Name = "A"
	b, err := local.New(eng, func(adapter.Revision) (string, error) { return dir, nil })
	if err != nil {
		t.Fatal(err)
	}
	r := setup(t, t.TempDir(), "step_tokens = 60\nmax_turns = 5\n[[tools]]\nname = \"finish\"\nuse = \"builtin:run.finish\"\n[[hooks]]\nname = \"never\"\non = \"stop\"\ncheck = \"answer.matches\"\nwith = {pattern = \"never\"}\nmax_rounds = 3\n",
		script(), false, number("double", tool.Pure, double))
	t.Cleanup(func() {
		if err := eng.Close(); err != nil {
			t.Error(err)
		}
	})
	r.Generator, r.Contracts = b, fixed{r.Contracts.(fixed).c, rev}
	got := r.run(t, Options{})
	run, err := r.Transcript(ctx, "o", got.RunID)
	if err != nil {
		t.Fatal(err)
	}
	if len(run.Turns) < 3 {
		t.Fatalf("%d turns: %+v", len(run.Turns), got)
	}
	var prompt []int32
	for i, turn := range run.Turns {
		blob := turn.Head.Blob
		if blob == nil || len(blob.Tokens) == 0 || len(blob.Logps) != len(blob.Tokens) {
			t.Fatalf("turn %d has no tokens: %+v", i, turn.Hop)
		}
		if i == 0 {
			prompt = blob.Prompt
		} else {
			if turn.Hop.Continues != run.Turns[i-1].Hop.ID {
				t.Errorf("turn %d continues %q", i, turn.Hop.Continues)
			}
			prompt = slices.Concat(prompt, run.Turns[i-1].Head.Blob.Tokens, blob.Prompt)
		}
		if n := turn.Hop.Usage.PromptTokens; n != len(prompt) {
			t.Errorf("turn %d: the engine read %d tokens, the record has %d", i, n, len(prompt))
		}
		if len(turn.Acts) == 0 && turn.Hop.Finish != "length" {
			t.Errorf("turn %d is no call: %q", i, turn.Hop.Message.Text())
		}
	}
	if again := prompts(run); !slices.Equal(again, prompt) {
		t.Error("a process that resumes the run has another prompt")
	}
	if u := run.Turns[len(run.Turns)-1].Hop.Usage; u.CachedTokens < len(prompt)/2 {
		t.Errorf("%d of %d tokens were cached", u.CachedTokens, u.PromptTokens)
	}
	if got.Status != record.RunGated && got.Status != record.RunTurns {
		t.Errorf("%+v", got)
	}
}
