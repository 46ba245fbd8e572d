package train

import (
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"testing"

	"macaron/internal/engine"
	"macaron/internal/engine/enginetest"
	"macaron/internal/engine/lora"
	"macaron/internal/engine/sample"
	"macaron/internal/testmodel"
)

func openEngine(t testing.TB, path string) *engine.Engine {
	t.Helper()
	e, err := engine.Open(context.Background(), engine.Options{Model: path, Threads: 2, KVBytes: 32 << 20})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	return e
}

func graphOf(e *engine.Engine) *Graph {
	return NewGraph(e.Model(), e, Options{Mode: e.Mode()})
}

// rollout samples an answer; its log probabilities are those of a sampler, rounded as
// the protocol does.
func rollout(t testing.TB, e *engine.Engine, a *lora.Adapter, prompt []int32, seed uint64, tokens int) (ids []int32, logprobs []float32) {
	t.Helper()
	s, err := e.Submit(context.Background(), engine.Request{Prompt: prompt, Adapter: a, MaxTokens: tokens, IgnoreEOS: true, Sampling: sample.Params{Temperature: 1, TopP: 1, Seed: seed}})
	if err != nil {
		t.Fatal(err)
	}
	for {
		tok, err := s.Next()
		if errors.Is(err, io.EOF) {
			return ids, logprobs
		}
		if err != nil {
			t.Fatal(err)
		}
		ids, logprobs = append(ids, tok.ID), append(logprobs, float32(tok.Logprob))
	}
}

// shifted is a sequence whose every position predicts the next token.
func shifted(tokens []int32) Sequence {
	n := len(tokens) - 1
	return Sequence{Tokens: tokens[:n], Targets: tokens[1:], K: 1}
}

// sameAsServed: log probabilities of samples and scores, by the engine and by the graph,
// are equal bit for bit.
func sameAsServed(t *testing.T, e *engine.Engine, a *lora.Adapter, prompts [][]int32, answers, tokens int) {
	t.Helper()
	var seqs []Sequence
	var starts []int
	var sampled [][]float32
	for _, prompt := range prompts {
		for i := range answers {
			ids, logprobs := rollout(t, e, a, prompt, uint64(i), tokens)
			seqs = append(seqs, shifted(append(append([]int32(nil), prompt...), ids...)))
			starts, sampled = append(starts, len(prompt)-1), append(sampled, logprobs)
		}
	}
	got, err := graphOf(e).Logprobs(context.Background(), a, seqs)
	if err != nil {
		t.Fatal(err)
	}
	for i, s := range seqs {
		for j, want := range sampled[i] {
			if p := got[i][starts[i]+j]; p != want {
				t.Errorf("answer %d, token %d: %v in training, %v when it was sampled", i, j, p, want)
			}
		}
		scores, err := e.Score(context.Background(), append(s.Tokens[:len(s.Tokens):len(s.Tokens)], s.Targets[len(s.Targets)-1]), a)
		if err != nil {
			t.Fatal(err)
		}
		for j, want := range scores {
			if got[i][j] != float32(want) {
				t.Errorf("answer %d, position %d: %v in training, %v when scored", i, j, got[i][j], want)
			}
		}
	}
}

func TestTrainedIsServed(t *testing.T) {
	e := openEngine(t, enginetest.Model(t, 1))
	r := rand.New(rand.NewPCG(1, 2))
	prompts := make([][]int32, 3)
	for i := range prompts {
		for range 30 + 50*i {
			prompts[i] = append(prompts[i], 3+r.Int32N(256))
		}
	}
	a, err := e.LoadAdapter(enginetest.Adapter(t, 4))
	if err != nil {
		t.Fatal(err)
	}
	sameAsServed(t, e, a, prompts, 4, 20)
	sameAsServed(t, e, nil, prompts[:1], 2, 5)
}

// TestRealTrainedIsServed: the default model with one of its adapters.
func TestRealTrainedIsServed(t *testing.T) {
	e := openEngine(t, testmodel.Path(t))
	a, err := e.LoadAdapter("../../adapters/L0")
	if err != nil {
		t.Fatal(err)
	}
	prompt := e.Tokenizer().Encode("<|im_start|>user\nWhen does the train leave, and from where?<|im_end|>\n<|im_start|>assistant\n", true)
	sameAsServed(t, e, a, [][]int32{prompt}, 2, 6)
}

// TestTrainerStepsOnTheEngine: all parts together. The loss falls, and what is sampled from
// the last revision, its head included, is what is trained on next.
func TestTrainerStepsOnTheEngine(t *testing.T) {
	e := openEngine(t, enginetest.Model(t, 1))
	tr, err := New(graphOf(e), e.Model().Shape(""), enginetest.Context, Spec{Rank: 4, Seed: 1, Attn: true, MLP: true, Unembed: true})
	if err != nil {
		t.Fatal(err)
	}
	tokens := []int64{70, 80, 90, 100, 110, 120}
	data := []Datum{{Tokens: []int32{60, 70, 80, 90, 100, 110}, Inputs: map[string]Tensor{"target_tokens": {Ints: tokens}, "weights": {Floats: []float32{1, 1, 1, 1, 1, 1}}}}}
	var losses []float64
	for range 12 {
		out, err := tr.ForwardBackward(context.Background(), data, Loss{Name: "cross_entropy"})
		if err != nil {
			t.Fatal(err)
		}
		losses = append(losses, out.Metrics["loss:sum"])
		if _, err := tr.OptimStep(context.Background(), Adam{LearningRate: 0.01, Beta1: 0.9, Beta2: 0.95, Eps: 1e-12}); err != nil {
			t.Fatal(err)
		}
	}
	if first, last := losses[0], losses[len(losses)-1]; !(last < first/4) {
		t.Errorf("losses %v", losses)
	}
	a, err := tr.Adapter()
	if err != nil {
		t.Fatal(err)
	}
	sameAsServed(t, e, a, [][]int32{{60, 70, 80}}, 3, 8)
}
