package app

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"macaron/internal/adapter"
	"macaron/internal/backend"
	"macaron/internal/backend/local"
	"macaron/internal/chat"
	"macaron/internal/clock"
	"macaron/internal/engine"
	"macaron/internal/engine/lora"
	"macaron/internal/engine/model"
	revisions "macaron/internal/mint/catalogue"
	mintlocal "macaron/internal/mint/local"
	"macaron/internal/store/sqlite"
	"macaron/internal/testmodel"
	"macaron/internal/train"
)

var handoffs = flag.Int("handoffs", 0, "rounds of BenchmarkHandoff; 0: none")

// handoff is one trainer on the engine that serves.
type handoff struct {
	*testing.B
	base     string
	engine   *engine.Engine
	serving  *local.Backend
	trainer  *train.Trainer
	revs     *revisions.Catalogue
	resident *model.Model
	source   model.Source
}

// BenchmarkHandoff measures from an optimizer's step to the first token of the new revision:
// by the catalogue on the resident base, and by a merged model that is written and loaded.
func BenchmarkHandoff(b *testing.B) {
	if *handoffs == 0 {
		return // `make bench-handoff` says how many
	}
	h := openHandoff(b)
	ways := map[string]func(context.Context, *lora.Content) (time.Duration, error){"adapter": h.byAdapter, "merged": h.byMerged}
	took := map[string][]time.Duration{}
	for range *handoffs {
		for name, way := range ways {
			h.learn()
			began := time.Now()
			if _, err := h.trainer.OptimStep(b.Context(), train.Adam{LearningRate: 1e-4, Beta1: 0.9, Beta2: 0.95, Eps: 1e-12}); err != nil {
				b.Fatal(err)
			}
			stepped := time.Since(began)
			c, err := h.trainer.Content()
			if err != nil {
				b.Fatal(err)
			}
			first, err := way(b.Context(), c)
			if err != nil {
				b.Fatal(err)
			}
			whole := time.Since(began)
			fmt.Printf("%s: step %v, to the first token %v, of these its own request %v\n", name, stepped, whole, first)
			took[name] = append(took[name], whole)
		}
	}
	for name, all := range took {
		slices.Sort(all)
		fmt.Printf("%s: n %d, median %v, %v to %v\n", name, len(all), all[len(all)/2], all[0], all[len(all)-1])
	}
}

func openHandoff(b *testing.B) *handoff {
	h := &handoff{B: b, base: testmodel.Path(b)}
	closing := func(f func() error) {
		b.Cleanup(func() {
			if err := f(); err != nil {
				b.Error(err)
			}
		})
	}
	must := func(err error) {
		if err != nil {
			b.Fatal(err)
		}
	}
	var err error
	h.engine, err = engine.Open(b.Context(), engine.Options{Model: h.base})
	must(err)
	home := b.TempDir()
	store, err := sqlite.Open(b.Context(), sqlite.Options{Path: filepath.Join(home, "log.db")})
	must(err)
	closing(store.Close)
	h.revs, err = revisions.Open(revisions.Options{Home: home, Store: store, Clock: clock.System{}, Parents: revisions.DefaultParents})
	must(err)
	closing(h.revs.Close)
	closing(h.engine.Close)
	h.serving, err = local.New(h.engine, func(r adapter.Revision) (string, error) { return h.revs.Dir(context.Background(), "o", r.Hash) })
	must(err)
	worker := mintlocal.New(h.engine, mintlocal.Options{Name: "base"})
	h.trainer, err = train.New(worker.Passes(), worker.Shape(), worker.Base().MaxContext, train.Spec{Rank: 16, Attn: true, MLP: true, Seed: 1})
	must(err)
	b.Cleanup(h.trainer.Close)
	h.source, err = model.Open(h.base)
	must(err)
	closing(h.source.Close)
	h.resident, err = model.Load(h.source, 2, nil)
	must(err)
	return h
}

// learn computes gradients of one short sequence.
func (h *handoff) learn() {
	tokens := make([]int32, 32)
	targets := make([]int64, 32)
	weights := make([]float32, 32)
	for i := range tokens {
		tokens[i], targets[i], weights[i] = int32(500+i), int64(501+i), 1
	}
	data := []train.Datum{{Tokens: tokens, Inputs: map[string]train.Tensor{"target_tokens": {Ints: targets}, "weights": {Floats: weights}}}}
	if _, err := h.trainer.ForwardBackward(h.Context(), data, train.Loss{Name: "cross_entropy"}); err != nil {
		h.Fatal(err)
	}
}

func (h *handoff) byAdapter(ctx context.Context, c *lora.Content) (time.Duration, error) {
	config, tensors, err := c.PEFT()
	if err != nil {
		return 0, err
	}
	p, err := h.revs.Publish(ctx, "o", revisions.Draft{Files: revisions.Files{Config: config, Tensors: tensors}, Name: "a"})
	if err != nil {
		return 0, err
	}
	if _, err := h.revs.Promote(ctx, "o", revisions.Move{Name: "a", Revision: p.Hash, Version: -1}); err != nil {
		return 0, err
	}
	all, err := h.revs.Champions(ctx, "o")
	if err != nil {
		return 0, err
	}
	return firstToken(ctx, h.serving, served(adapter.Revision{Name: "a"}, all))
}

func (h *handoff) byMerged(ctx context.Context, c *lora.Content) (first time.Duration, err error) {
	a, err := c.Adapter(h.resident.Shape(""))
	if err != nil {
		return 0, err
	}
	path := filepath.Join(h.TempDir(), "merged.gguf")
	file, ok := h.source.(*model.GGUF)
	if !ok {
		return 0, errors.New("the default model is no GGUF file")
	}
	if err := model.WriteMerged(path, file, h.resident, a); err != nil {
		return 0, err
	}
	e, err := engine.Open(ctx, engine.Options{Model: path})
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, e.Close(), os.Remove(path)) }()
	whole, err := local.New(e, func(adapter.Revision) (string, error) { return "", errors.New("it has no adapters") })
	if err != nil {
		return 0, err
	}
	return firstToken(ctx, whole, adapter.Revision{})
}

// firstToken asks for one token of a short prompt.
func firstToken(ctx context.Context, g backend.Generator, rev adapter.Revision) (time.Duration, error) {
	began := time.Now()
	r := backend.Request{Messages: []chat.Message{chat.Text(chat.User, "What is the capital of France?")}, Revision: rev, MaxTokens: 1}
	for _, err := range g.Generate(ctx, r) {
		if err != nil {
			return 0, err
		}
	}
	return time.Since(began), nil
}
