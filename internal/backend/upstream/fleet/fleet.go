// Package fleet is the Generator on several engines, any of which may have all adapters
// or some. A session stays on the engine that has its prefix cached; one that fails is
// left out until it is well, and a request that it failed before the first byte goes to
// the next.
package fleet

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"macaron/internal/backend"
	"macaron/internal/chat"
	"macaron/internal/clock"
	"macaron/internal/errs"
)

// Engine is one server below.
type Engine struct {
	Name     string
	Gen      backend.Generator
	Adapters []string // labels of the adapters it has; none: all
	Weight   float64  // its share of the sessions; 0 means 1
}

// Options are the surroundings.
type Options struct {
	Clock   clock.Clock
	Every   time.Duration // between two looks at the health of each engine; 0: none are made
	Changed func(engine string, err error)
}

// Fleet implements backend.Generator.
type Fleet struct {
	members []*member
	turn    atomic.Uint64 // spreads requests of no session
	clock   clock.Clock
	stop    context.CancelFunc
	done    sync.WaitGroup
}

var _ backend.Generator = (*Fleet)(nil)

// New makes a Fleet of at least one engine and begins to look after their health.
func New(engines []Engine, o Options) *Fleet {
	if o.Clock == nil {
		o.Clock = clock.System{}
	}
	ctx, stop := context.WithCancel(context.Background())
	f := &Fleet{clock: o.Clock, stop: stop}
	for _, e := range engines {
		if e.Weight == 0 {
			e.Weight = 1
		}
		m := &member{Engine: e, breaker: breaker{clock: o.Clock}}
		f.members = append(f.members, m)
		if o.Every > 0 {
			f.done.Go(func() { m.watch(ctx, o) })
		}
	}
	return f
}

// Close ends the looking and frees the engines.
func (f *Fleet) Close() error {
	f.stop()
	f.done.Wait()
	var all []error
	for _, m := range f.members {
		if c, ok := m.Gen.(io.Closer); ok {
			all = append(all, c.Close())
		}
	}
	return errors.Join(all...)
}

// Capabilities implements backend.Generator: what all engines can.
func (f *Fleet) Capabilities() backend.Capabilities { return common(f.members) }

// CapabilitiesOf implements backend.Divided: what all engines can that have the adapter.
func (f *Fleet) CapabilitiesOf(adapter string) backend.Capabilities {
	var have []*member
	for _, m := range f.members {
		if len(m.Adapters) == 0 || slices.Contains(m.Adapters, adapter) {
			have = append(have, m)
		}
	}
	if len(have) == 0 {
		return common(f.members) // it will be told that no engine has it
	}
	return common(have)
}

// common is what each of the engines can.
func common(members []*member) backend.Capabilities {
	can := members[0].Gen.Capabilities()
	for _, m := range members[1:] {
		c := m.Gen.Capabilities()
		can.Adapters, can.Choices, can.Logprobs = can.Adapters && c.Adapters, can.Choices && c.Choices, can.Logprobs && c.Logprobs
		can.TokenIDs, can.Tools, can.ForcedTools = can.TokenIDs && c.TokenIDs, can.Tools && c.Tools, can.ForcedTools && c.ForcedTools
		can.Images, can.JSONSchema, can.Reasoning = can.Images && c.Images, can.JSONSchema && c.JSONSchema, can.Reasoning && c.Reasoning
		can.Samplers, can.Grammars = can.Samplers && c.Samplers, can.Grammars && c.Grammars
		can.CachedTokens, can.Context = can.CachedTokens && c.CachedTokens, min(can.Context, c.Context)
	}
	return can
}

// Generate implements backend.Generator.
func (f *Fleet) Generate(ctx context.Context, r backend.Request) iter.Seq2[chat.Event, error] {
	return func(yield func(chat.Event, error) bool) {
		list, err := f.order(r)
		if err != nil {
			yield(chat.Event{}, err)
			return
		}
		var last failures
		for _, m := range list {
			ok, wait := m.breaker.allow()
			if !ok {
				last.closed(m, wait)
				continue
			}
			begun, err := m.run(ctx, r, yield)
			if err == nil {
				return
			}
			if begun || ctx.Err() != nil || !elsewhere(err) {
				yield(chat.Event{}, err)
				return
			}
			last.add(err)
		}
		yield(chat.Event{}, last.result())
	}
}

// order lists the engines that have the adapter, the session's own first and those
// that are not well last.
func (f *Fleet) order(r backend.Request) ([]*member, error) {
	var list []*member
	for _, m := range f.members {
		if len(m.Adapters) == 0 || slices.Contains(m.Adapters, r.Revision.Name) {
			list = append(list, m)
		}
	}
	if len(list) == 0 {
		return nil, errs.New(errs.UpstreamFailed, fmt.Sprintf("no engine has the adapter %q", errs.Clip(r.Revision.Name)), "the operator adds it to the adapters of one of engines")
	}
	key := r.Salt + "\x00" + r.Session
	if r.Session == "" {
		key = fmt.Sprint(f.turn.Add(1))
	}
	list = ranked(list, key)
	slices.SortStableFunc(list, func(a, b *member) int { return rank(a) - rank(b) })
	return list, nil
}

func rank(m *member) int {
	if m.sick.Load() != nil || m.breaker.state() == Open {
		return 1
	}
	return 0
}

// run generates on one engine. begun: the caller has seen an event.
func (m *member) run(ctx context.Context, r backend.Request, yield func(chat.Event, error) bool) (begun bool, err error) {
	reported := false
	defer func() {
		if !reported { // the consumer stopped, or a panic passes
			m.breaker.forget()
		}
	}()
	for e, err := range m.Gen.Generate(ctx, r) {
		if err != nil {
			reported = ctx.Err() == nil
			if reported {
				m.breaker.report(broken(err))
			}
			return begun, err
		}
		if e.Finish != nil {
			reported = true
			m.breaker.report(false)
		}
		begun = true
		if !yield(e, nil) {
			return true, nil
		}
	}
	return begun, nil
}
