package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strings"

	"macaron/internal/engine"
	"macaron/internal/engine/lora"
	"macaron/internal/engine/sample"
	"macaron/internal/train"
)

// compare prints the cosine of the gradient that ends at the prompt with the exact one: of
// the whole gradient and the least and median of its tensors, by where the adapter is. The
// group is sampled from the model: eight answers of 32 tokens to a text of so many tokens,
// rewarded for different words.
func compare(path, text, adapter string, lengths []int) error {
	e, err := engine.Open(context.Background(), engine.Options{Model: path, Threads: 2, KVBytes: 256 << 20})
	if err != nil {
		return err
	}
	defer e.Close()
	a, err := e.LoadAdapter(adapter)
	if err != nil {
		return err
	}
	raw, err := os.ReadFile(text)
	if err != nil {
		return err
	}
	words := e.Tokenizer().Encode(string(raw), false)
	fmt.Println("| prompt | adapter on | cosine of the whole gradient | of a tensor: least | median | norm, response-only to exact |\n|---|---|---|---|---|---|")
	for _, n := range lengths {
		if n > len(words) {
			return fmt.Errorf("%s has %d tokens, not %d", text, len(words), n)
		}
		if err := row(e, a, words[:n]); err != nil {
			return err
		}
	}
	return nil
}

// row compares at one length.
func row(e *engine.Engine, a *lora.Adapter, prompt []int32) error {
	data, err := rollouts(e, a, prompt)
	if err != nil {
		return err
	}
	p := &passes{Graph: train.NewGraph(e.Model(), e, train.Options{Mode: e.Mode()})}
	t, err := train.From(p, e.Model().Shape(e.Info().Name), e.Info().Context, a)
	if err != nil {
		return err
	}
	defer t.Close()
	var grads [2][]float32
	var layout *train.Layout
	for i, way := range []train.Way{train.Exact, train.ResponseOnly} {
		loss := train.Loss{Name: "importance_sampling", Config: map[string]float64{"prefix_mode": float64(way)}}
		if _, err := t.ForwardBackward(context.Background(), data, loss); err != nil {
			return err
		}
		layout, grads[i] = p.last.Layout, slices.Clone(p.last.Grad)
		if _, err := t.OptimStep(context.Background(), train.Adam{Beta1: 0.9, Beta2: 0.95, Eps: 1e-12}); err != nil { // a rate of 0: for a new gradient
			return err
		}
	}
	for _, at := range placements(layout.Modules[len(layout.Modules)-1].Layer + 1) {
		tell(len(prompt), at, layout, grads)
	}
	return nil
}

// rollouts are answers with advantages over the mean of their group.
func rollouts(e *engine.Engine, a *lora.Adapter, prompt []int32) (data []train.Datum, err error) {
	const answers, tokens = 8, 32
	var rewards [answers]float64
	mean := 0.0
	for j := range answers {
		s, err := e.Submit(context.Background(), engine.Request{Prompt: prompt, Adapter: a, MaxTokens: tokens, IgnoreEOS: true, Sampling: sample.Params{Temperature: 1, Seed: uint64(j + 1)}})
		if err != nil {
			return nil, err
		}
		all := append([]int32(nil), prompt...)
		n := len(prompt) + tokens - 1
		targets, q, different := make([]int64, n), make([]float32, n), map[int32]bool{}
		for i := range targets {
			targets[i] = -1
		}
		for at := len(prompt) - 1; ; at++ {
			t, err := s.Next()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				return nil, err
			}
			all, targets[at], q[at], different[t.ID] = append(all, t.ID), int64(t.ID), float32(t.Logprob), true
		}
		rewards[j] = float64(len(different)) / tokens
		mean += rewards[j] / answers
		data = append(data, train.Datum{Tokens: all[:n], Inputs: map[string]train.Tensor{"target_tokens": {Ints: targets}, "logprobs": {Floats: q}}})
	}
	for j := range data {
		adv := make([]float32, len(data[j].Tokens))
		for at := len(prompt) - 1; at < len(adv); at++ {
			adv[at] = float32(rewards[j] - mean)
		}
		data[j].Inputs["advantages"] = train.Tensor{Floats: adv}
	}
	return data, nil
}

// placement is a part of the modules. A gradient of a module does not depend on which
// others are trained.
type placement struct {
	name string
	has  func(train.Module) bool
}

func placements(layers int) []placement {
	of := func(targets ...lora.Target) func(train.Module) bool {
		return func(m train.Module) bool {
			for _, t := range targets {
				if m.Target == t {
					return true
				}
			}
			return false
		}
	}
	return []placement{
		{"all linear layers", func(train.Module) bool { return true }},
		{"q, k, v, o", of(lora.Q, lora.K, lora.V, lora.O)},
		{"k, v", of(lora.K, lora.V)},
		{"q, o", of(lora.Q, lora.O)},
		{"gate, up, down", of(lora.Gate, lora.Up, lora.Down)},
		{"all, last quarter of the layers", func(m train.Module) bool { return m.Layer >= layers*3/4 }},
		{"all, first quarter of the layers", func(m train.Module) bool { return m.Layer < layers/4 }},
	}
}

// tell prints a row of the table.
func tell(prompt int, p placement, l *train.Layout, grads [2][]float32) {
	var whole [2][]float32
	var each []float64
	for _, m := range l.Modules {
		if !p.has(m) {
			continue
		}
		a0, b0 := l.Parts(m, grads[0])
		a1, b1 := l.Parts(m, grads[1])
		whole[0], whole[1] = append(append(whole[0], a0...), b0...), append(append(whole[1], a1...), b1...)
		each = append(each, cosine(a0, a1), cosine(b0, b1))
	}
	slices.Sort(each)
	fmt.Printf("| %d | %s | %.4f | %.4f | %.4f | %.3f |\n", prompt, p.name, cosine(whole[0], whole[1]), each[0], each[len(each)/2], norm(whole[1])/norm(whole[0]))
}

func norm(x []float32) float64 { return math.Sqrt(product(x, x)) }

func cosine(x, y []float32) float64 { return product(x, y) / (norm(x) * norm(y)) }

func product(x, y []float32) (sum float64) {
	for i, f := range x {
		sum += float64(f) * float64(y[i])
	}
	return sum
}

// numbers reads a list such as 64,256.
func numbers(list string) (out []int, err error) {
	for _, s := range strings.Split(list, ",") {
		var n int
		if _, err := fmt.Sscan(s, &n); err != nil {
			return nil, err
		}
		out = append(out, n)
	}
	return out, nil
}
