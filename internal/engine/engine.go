package engine

import (
	"context"
	"runtime"
	"sync"
	"time"

	"macaron/internal/engine/grammar"
	"macaron/internal/engine/kernel"
	"macaron/internal/engine/kv"
	"macaron/internal/engine/lora"
	"macaron/internal/engine/model"
	"macaron/internal/engine/token"
	"macaron/internal/ids"
)

// Options says what to serve and with how much of the machine. Zero values choose.
type Options struct {
	Model        string      // GGUF file, or directory as Hugging Face lays it out
	Name         string      // how people call the base; adapters that name another base are refused
	Digest       ids.Digest  // of the model, when the caller has just verified it; else it is computed
	Threads      int         // workers; 0: one per CPU
	Context      int         // most positions of a sequence; 0 or more than the model's: the model's
	KVBytes      int64       // memory for keys and values; 0: 512 MiB
	AdapterBytes int64       // memory for loaded adapters; 0: 1 GiB
	MaxBatch     int         // sequences that run at once; 0: 16
	MaxQueue     int         // requests that wait; 0: 256
	Float32      bool        // exact activations: slow, for tests
	Packed       string      // directory that keeps packed weights for the next start; empty for none
	Notice       func(error) // told of what went wrong without harm; nil for nobody
}

// Engine is a loaded model and its loop. It is safe for concurrent use.
type Engine struct {
	opts  Options
	model *model.Model
	kept  bool           // the weights were packed already
	keep  sync.WaitGroup // they are being kept for the next start
	tok   *token.Tokenizer
	tmpl  string // the file's chat template, empty for none
	vocab func() (*grammar.Vocab, error)

	adapters *lora.Store

	mu       sync.Mutex
	incoming []*task
	jobs     []*job // in the order of their turns
	waiting  int    // requests accepted and not yet running, incoming included
	closing  bool
	wake     chan struct{}
	done     chan struct{}

	loop loop
}

// Open loads a model and starts serving it.
func Open(ctx context.Context, o Options) (*Engine, error) {
	e, err := prepare(ctx, o)
	if err != nil {
		return nil, err
	}
	e.keepWeights()
	go e.loop.run()
	return e, nil
}

// prepare is Open without its goroutine.
func prepare(ctx context.Context, o Options) (*Engine, error) {
	o.setDefaults()
	e := &Engine{opts: o, wake: make(chan struct{}, 1), done: make(chan struct{})}
	e.vocab = sync.OnceValues(func() (*grammar.Vocab, error) { return grammar.NewVocab(e.tok) })
	if err := e.load(ctx); err != nil {
		return nil, err
	}
	if o.Context == 0 || o.Context > e.model.Context {
		e.opts.Context = e.model.Context
	}
	e.adapters = lora.NewStore(e.model.Shape(o.Name), o.AdapterBytes)
	mode := kernel.Int8
	if o.Float32 {
		mode = kernel.Float32
	}
	pages := int(min(max(o.KVBytes/e.model.PageBytes(mode), 1), 1<<20))
	e.loop.init(e, mode, pages)
	return e, nil
}

func (o *Options) setDefaults() {
	if o.Threads <= 0 {
		o.Threads = runtime.NumCPU()
	}
	if o.KVBytes <= 0 {
		o.KVBytes = 512 << 20
	}
	if o.AdapterBytes <= 0 {
		o.AdapterBytes = 1 << 30
	}
	if o.MaxBatch <= 0 {
		o.MaxBatch = 16
	}
	if o.MaxQueue <= 0 {
		o.MaxQueue = 256
	}
}

// Close refuses new requests and those that still wait, lets the running ones finish,
// and releases the workers. It is idempotent.
func (e *Engine) Close() error {
	e.mu.Lock()
	e.closing = true
	e.mu.Unlock()
	e.nudge()
	<-e.done
	e.keep.Wait()
	return nil
}

// nudge wakes the loop.
func (e *Engine) nudge() {
	select {
	case e.wake <- struct{}{}:
	default:
	}
}

// Info describes the loaded model.
type Info struct {
	Name      string     // as the caller calls it, else as the file does
	Base      ids.Digest // of the file
	Tokenizer string     // digest of the vocabulary and its rules
	Template  string     // the chat template itself
	Params    int64
	Bytes     int64 // of the packed weights
	Context   int   // most positions of a sequence
	Layers    int
	Vocab     int
	Threads   int
	Batch     int // most sequences at once
	Mode      string
	ISA       string // of the kernels
}

// Info describes the loaded model.
func (e *Engine) Info() Info {
	name := e.opts.Name
	if name == "" {
		name = e.model.Name
	}
	return Info{Name: name, Base: e.model.Digest, Tokenizer: e.tok.Hash(), Template: e.tmpl, Params: e.model.Params(), Bytes: e.model.Bytes(),
		Context: e.opts.Context, Layers: e.model.Layers, Vocab: e.model.V, Threads: e.opts.Threads, Batch: e.opts.MaxBatch,
		Mode: e.loop.mode.String(), ISA: kernel.ISA()}
}

// Tokenizer is the model's own.
func (e *Engine) Tokenizer() *token.Tokenizer { return e.tok }

// Model is the loaded weights, and Mode how the engine computes with them: for who
// computes on them beside the engine, in turns of Background.
func (e *Engine) Model() *model.Model { return e.model }

// Mode is how products treat activations.
func (e *Engine) Mode() kernel.Mode { return e.loop.mode }

// LoadAdapter reads a PEFT directory or a GGUF file for this base. The caller keeps the handle as long
// as requests use it.
func (e *Engine) LoadAdapter(path string) (*lora.Adapter, error) {
	return lora.Load(path, e.model.Shape(e.opts.Name))
}

// Adapters holds the adapters that are registered by name of content and paged by bytes.
// A request takes one with Acquire, and passes what that gives as Adapter and Release.
func (e *Engine) Adapters() *lora.Store { return e.adapters }

// Stats is what the engine did since it was opened, and what it does now.
type Stats struct {
	Running, Waiting int
	Requests         int64 // accepted
	Steps            int64
	PromptTokens     int64         // computed as part of prompts, cached ones not counted
	OutputTokens     int64         // sampled
	Busy             time.Duration // spent in steps
	Chunks           int64         // of background work
	Background       time.Duration // spent in them
	KV               kv.Stats
	KVBytes          int64 // the bound on keys and values
	Adapters         lora.StoreStats
}

// Stats is a snapshot.
func (e *Engine) Stats() Stats {
	e.mu.Lock()
	defer e.mu.Unlock()
	s := e.loop.published
	s.Waiting = e.waiting
	s.Adapters = e.adapters.Stats()
	return s
}

// end is the token that ends an answer.
func (e *Engine) end() int32 { return e.tok.EOS() }

// Ready reports whether requests are taken.
func (e *Engine) Ready() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closing {
		return closingError()
	}
	return nil
}
