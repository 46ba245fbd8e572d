package local

import (
	"context"
	"math"
	"slices"
	"testing"

	"macaron/internal/backend"
	"macaron/internal/chat"
	"macaron/internal/engine/sample"
	"macaron/internal/errs"
)

// TestPromptScores: the start tells the prompt and the probability of its tokens.
func TestPromptScores(t *testing.T) {
	b, revs := tiny(t)
	r := backend.Request{Messages: ask("hello"), Revision: revs["one"], MaxTokens: 2, Wanted: backend.Wanted{PromptLogprobs: ptr(2)}}
	got, err := generate(b, r)
	if err != nil {
		t.Fatal(err)
	}
	ids, err := b.Encode(r)
	if err != nil {
		t.Fatal(err)
	}
	mix, _, release, err := b.adapters.mix(context.Background(), &r)
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	want, err := b.eng.ScoreMix(context.Background(), ids, mix)
	if err != nil {
		t.Fatal(err)
	}
	if len(got.start.Prompt) != len(ids) {
		t.Fatalf("%d tokens of %d", len(got.start.Prompt), len(ids))
	}
	for i, p := range got.start.Prompt {
		if p.ID != ids[i] || i > 0 && (p.Logprob != want[i-1] || len(p.Top) != 2 || p.Rank < 1) {
			t.Errorf("token %d: %+v", i, p)
		}
	}
}

// TestDecoding: what the sampler is told is done, and the end says what it was.
func TestDecoding(t *testing.T) {
	b, _ := tiny(t)
	tok := b.eng.Tokenizer()
	x, eos := tok.Encode("x", false)[0], tok.EOS()
	always := map[int32]float32{x: 100}
	r := backend.Request{Tokens: []int32{5, 6}, MaxTokens: 4, Decoding: backend.Decoding{Bias: always}, Sampling: chat.Sampling{Logprobs: true}}
	run := func(change func(*backend.Request)) answer {
		q := r
		change(&q)
		got, err := generate(b, q)
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	if got := run(func(*backend.Request) {}); got.text != "xxxx" || got.finish.Reason != chat.FinishLength {
		t.Errorf("biased to x: %q, %+v", got.text, got.finish)
	}
	got := run(func(q *backend.Request) { q.Decoding.StopIDs = []int32{x} })
	if got.text != "" || got.finish.StopID == nil || *got.finish.StopID != x || len(got.finish.Tokens) != 1 || got.finish.Reason != chat.FinishStop {
		t.Errorf("stopped by token: %q, %+v", got.text, got.finish)
	}
	got = run(func(q *backend.Request) { q.Decoding.StopIDs, q.Decoding.MinTokens = []int32{x}, 2 })
	if got.text != "xx" {
		t.Errorf("stopped by token after two: %q", got.text)
	}
	got = run(func(q *backend.Request) { q.Sampling.Stop, q.Decoding.MinTokens = []string{"x"}, 2 })
	if got.text != "xx" || got.finish.Stop != "x" || len(got.finish.Tokens) != 1 {
		t.Errorf("stopped by text after two: %q, %+v", got.text, got.finish)
	}
	end := func(q *backend.Request) { q.Decoding.Bias = map[int32]float32{eos: 100} }
	if got := run(end); got.text != "" || len(got.finish.Tokens) != 1 || got.finish.Tokens[0].ID != eos || got.finish.Stop != "" {
		t.Errorf("the end of the turn: %q, %+v", got.text, got.finish)
	}
	got = run(func(q *backend.Request) {
		end(q)
		q.Decoding.IgnoreEOS, q.Decoding.KeepSpecial = true, true
	})
	if got.text != "<|im_end|><|im_end|><|im_end|><|im_end|>" || got.finish.Reason != chat.FinishLength {
		t.Errorf("the ends of turns as text: %q, %+v", got.text, got.finish)
	}
}

// TestDrawnChoice: labels are drawn at their probabilities, sharpened by the temperature.
func TestDrawnChoice(t *testing.T) {
	p := []float64{0.1, 0.6, 0.3}
	for _, temperature := range []float64{0.5, 1, 2} {
		var counts [3]float64
		const n = 20000
		for seed := range uint64(n) {
			counts[drawn(p, sample.Params{Temperature: temperature, Seed: seed})]++
		}
		total := 0.0
		for _, x := range p {
			total += math.Pow(x, 1/temperature)
		}
		for i, x := range p {
			if want := n * math.Pow(x, 1/temperature) / total; math.Abs(counts[i]-want) > 6*math.Sqrt(want) {
				t.Errorf("temperature %v: label %d came %v times, not %.0f", temperature, i, counts[i], want)
			}
		}
	}
	if got := drawn([]float64{0.4, 0.4, 0.2}, sample.Params{}); got != 0 {
		t.Error(got)
	}
}

// TestBarePrompt: without the beginning of an answer the prompt is a prefix of itself.
func TestBarePrompt(t *testing.T) {
	b, _ := tiny(t)
	r := backend.Request{Messages: ask("hi")}
	full, err := b.Encode(r)
	if err != nil {
		t.Fatal(err)
	}
	r.Decoding.Bare = true
	bare, err := b.Encode(r)
	if err != nil || len(bare) >= len(full) || !slices.Equal(full[:len(bare)], bare) {
		t.Errorf("%v, %v, %v", bare, full, err)
	}
}

// A stop at a token that the model does not have is refused, not passed over.
func TestStopAtNoToken(t *testing.T) {
	b, _ := tiny(t)
	for _, id := range []int32{-1, int32(b.eng.Info().Vocab)} {
		_, err := generate(b, backend.Request{Messages: ask("x"), MaxTokens: 1, Decoding: backend.Decoding{StopIDs: []int32{id}}})
		if errs.As(err).Field != "stop_token_ids" {
			t.Errorf("token %d: %v", id, err)
		}
	}
}
