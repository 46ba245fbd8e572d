package engine

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"time"

	"macaron/internal/engine/lora"
)

// BenchOptions says what to measure.
type BenchOptions struct {
	Prompt    int // tokens of the prompt
	Decode    int // tokens generated from an empty context
	Sequences int // that decode at once
	Repeat    int
	Adapter   *lora.Adapter
}

// BenchResult holds speeds in tokens per second; decoding counts all sequences.
type BenchResult struct {
	Prompt      int    `json:"prompt"`
	Decode      int    `json:"decode"`
	Sequences   int    `json:"sequences"`
	PromptSpeed Spread `json:"prompt_speed"`
	DecodeSpeed Spread `json:"decode_speed"`
}

// Spread is the runs of one measurement, in order.
type Spread struct {
	Median float64   `json:"median"`
	Min    float64   `json:"min"`
	Max    float64   `json:"max"`
	Runs   []float64 `json:"runs"`
}

// Bench measures like llama-bench: random tokens, nothing from the cache, no end of
// turn, after one round that is not counted.
func (e *Engine) Bench(ctx context.Context, o BenchOptions) (BenchResult, error) {
	r := BenchResult{Prompt: o.Prompt, Decode: o.Decode, Sequences: max(o.Sequences, 1)}
	for round := range o.Repeat + 1 {
		p, err := e.benchPrompt(ctx, o, round)
		if err != nil {
			return r, err
		}
		d, err := e.benchDecode(ctx, o, r.Sequences, round)
		if err != nil {
			return r, err
		}
		if round > 0 {
			r.PromptSpeed.Runs, r.DecodeSpeed.Runs = append(r.PromptSpeed.Runs, p), append(r.DecodeSpeed.Runs, d)
		}
	}
	r.PromptSpeed.sum()
	r.DecodeSpeed.sum()
	return r, nil
}

func (e *Engine) benchPrompt(ctx context.Context, o BenchOptions, round int) (float64, error) {
	if o.Prompt == 0 {
		return 0, nil
	}
	random := rand.New(rand.NewPCG(uint64(round), 1))
	prompt := make([]int32, o.Prompt)
	for i := range prompt {
		prompt[i] = random.Int32N(int32(e.model.V))
	}
	start := time.Now()
	err := e.benchRun(ctx, Request{Prompt: prompt, Adapter: o.Adapter, Salt: fmt.Sprint("bench prompt ", round), MaxTokens: 1, IgnoreEOS: true}, 1)
	return float64(o.Prompt) / time.Since(start).Seconds(), err
}

func (e *Engine) benchDecode(ctx context.Context, o BenchOptions, sequences, round int) (float64, error) {
	if o.Decode == 0 {
		return 0, nil
	}
	q := Request{Prompt: []int32{int32(round % e.model.V)}, Adapter: o.Adapter, Salt: fmt.Sprint("bench decode ", round), MaxTokens: o.Decode, IgnoreEOS: true}
	start := time.Now()
	err := e.benchRun(ctx, q, sequences)
	return float64(o.Decode*sequences) / time.Since(start).Seconds(), err
}

// benchRun runs n requests side by side to their end.
func (e *Engine) benchRun(ctx context.Context, q Request, n int) error {
	streams := make([]*Stream, n)
	for i := range streams {
		var err error
		own := q
		own.Salt += fmt.Sprint(" ", i)
		if streams[i], err = e.Submit(ctx, own); err != nil {
			return err
		}
	}
	for _, s := range streams {
		for {
			_, err := s.Next()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

func (s *Spread) sum() {
	if len(s.Runs) == 0 {
		return
	}
	sorted := slices.Sorted(slices.Values(s.Runs))
	n := len(sorted)
	s.Min, s.Max, s.Median = sorted[0], sorted[n-1], (sorted[n/2]+sorted[(n-1)/2])/2
}
