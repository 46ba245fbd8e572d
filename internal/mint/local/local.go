// Package local is the worker of the training service on the engine that serves: both use
// the same weights, the same threads and the same adapter bytes.
package local

import (
	"sync"

	"golang.org/x/sync/semaphore"

	"macaron/internal/engine"
	"macaron/internal/engine/lora"
	"macaron/internal/errs"
	"macaron/internal/mint"
	"macaron/internal/train"
)

// Worker trains and samples on one engine.
type Worker struct {
	e       *engine.Engine
	base    mint.Base
	shape   lora.Shape
	passes  train.Passes
	batch   int                 // sequences that the engine computes at once
	running *semaphore.Weighted // a place for each sequence that waits there or runs

	mu       sync.Mutex
	adapters *recent
}

var _ mint.Worker = (*Worker)(nil)

// Options set up a Worker.
type Options struct {
	Name         string      // public name of the base
	Also         []string    // other names of it
	Tokenizer    string      // what clients' tokenizer loaders are given
	Sequences    int         // that wait at the engine or run, of all requests; 0: 128
	Spill        train.Spill // of training passes
	AdapterBytes int64       // memory for adapters that are sampled from; 0: 512 MiB
}

// New makes a worker of an open engine, which stays the caller's to close.
func New(e *engine.Engine, o Options) *Worker {
	if o.Sequences <= 0 {
		o.Sequences = 128
	}
	if o.AdapterBytes <= 0 {
		o.AdapterBytes = 512 << 20
	}
	info := e.Info()
	return &Worker{
		e:      e,
		base:   mint.Base{Name: o.Name, Also: o.Also, Tokenizer: o.Tokenizer, MaxContext: info.Context, Trainable: true, Sampleable: true},
		shape:  e.Model().Shape(info.Name),
		passes: train.NewGraph(e.Model(), e, train.Options{Mode: e.Mode(), Passes: mint.Trainers, Spill: o.Spill}),
		batch:  info.Batch, running: semaphore.NewWeighted(int64(max(o.Sequences, info.Batch))), adapters: newRecent(o.AdapterBytes),
	}
}

// Base describes the base.
func (w *Worker) Base() mint.Base { return w.base }

// Shape is what an adapter of the base has to fit.
func (w *Worker) Shape() lora.Shape { return w.shape }

// Passes computes for trainers.
func (w *Worker) Passes() train.Passes { return w.passes }

// Check refuses a request that Sample would refuse.
func (w *Worker) Check(r mint.Sample) error {
	switch {
	case len(r.Prompt) == 0:
		return errs.New(errs.InvalidRequest, "the prompt is empty", "give at least one token").In("prompt")
	case len(r.Prompt) >= w.base.MaxContext:
		return errs.Newf(errs.ContextExceeded, "the prompt has %d tokens and needs room for one more; the context holds %d", len(r.Prompt), w.base.MaxContext)
	case r.MaxTokens < 0:
		return errs.Newf(errs.InvalidRequest, "max_tokens is %d", r.MaxTokens).In("max_tokens")
	case r.PromptLast < 0:
		return errs.Newf(errs.InvalidRequest, "prompt_logprobs_last_n is %d", r.PromptLast).In("prompt_logprobs_last_n")
	}
	for i, t := range r.Prompt {
		if t < 0 || int(t) >= w.shape.Vocab {
			return errs.Newf(errs.InvalidRequest, "token %d at position %d is not in the vocabulary of %d", t, i, w.shape.Vocab).In("prompt")
		}
	}
	for name, n := range map[string]int{"topk_sample_logprobs": r.SampleTop, "topk_prompt_logprobs": r.PromptTop} {
		if n < 0 || n > engine.MaxTopLogprobs {
			return errs.Newf(errs.InvalidRequest, "%s is %d, not between 0 and %d", name, n, engine.MaxTopLogprobs).In(name)
		}
	}
	q, err := request(r, 0)
	if err != nil {
		return err
	}
	return q.Sampling.Check()
}
