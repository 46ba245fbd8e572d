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
	"strings"
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

type member struct {
	Engine
	breaker breaker
	sick    atomic.Pointer[errs.Error] // what the last look found; nil: well
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

// watch looks at an engine again and again.
func (m *member) watch(ctx context.Context, o Options) {
	for {
		m.look(ctx, min(o.Every, 5*time.Second), o.Changed)
		again := time.NewTimer(o.Every)
		select {
		case <-again.C:
		case <-ctx.Done():
			again.Stop()
			return
		}
	}
}

// look asks an engine whether it is well and reports a change.
func (m *member) look(ctx context.Context, most time.Duration, changed func(string, error)) {
	within, stop := context.WithTimeout(ctx, most)
	defer stop()
	err := m.Gen.Ready(within)
	if ctx.Err() != nil {
		return
	}
	var now *errs.Error
	if err != nil {
		now = errs.As(err)
	}
	before := m.sick.Swap(now)
	if (before == nil) != (now == nil) && changed != nil {
		changed(m.Name, err)
	}
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

// Status is one engine's.
type Status struct {
	Name    string `json:"name"`
	Breaker State  `json:"breaker"`
	Error   string `json:"error,omitempty"` // of the last look
}

// Status tells how each engine is, in the order of the settings.
func (f *Fleet) Status() []Status {
	var out []Status
	for _, m := range f.members {
		s := Status{Name: m.Name, Breaker: m.breaker.state()}
		if e := m.sick.Load(); e != nil {
			s.Error = e.Message
		}
		out = append(out, s)
	}
	return out
}

// Ready implements backend.Generator: every adapter has an engine that is well.
func (f *Fleet) Ready(ctx context.Context) error {
	found := make([]error, len(f.members))
	var all sync.WaitGroup
	for i, m := range f.members {
		all.Go(func() { found[i] = m.Gen.Ready(ctx) })
	}
	all.Wait()
	well := map[string]bool{}
	for i, m := range f.members {
		if found[i] != nil {
			continue
		}
		if len(m.Adapters) == 0 {
			return nil
		}
		for _, a := range m.Adapters {
			well[a] = true
		}
	}
	for i, m := range f.members {
		if found[i] == nil {
			continue
		}
		if len(m.Adapters) == 0 || slices.ContainsFunc(m.Adapters, func(a string) bool { return !well[a] }) {
			return found[i]
		}
	}
	return nil
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
		can.Samplers = can.Samplers && c.Samplers
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

// broken reports whether an error tells of an engine that is not well, rather than of
// a request that it does not want or of settings that are wrong, which a pause does not mend.
func broken(err error) bool {
	var l interface{ Lasting() bool }
	if errors.As(err, &l) && l.Lasting() {
		return false
	}
	return faulty(err)
}

// faulty: the engine is at fault, or how it was set up.
func faulty(err error) bool {
	switch errs.CodeOf(err) {
	case errs.UpstreamUnavailable, errs.UpstreamFailed, errs.Internal:
		return true
	}
	return false
}

// elsewhere reports whether another engine may do better: the request itself was not at fault.
func elsewhere(err error) bool { return faulty(err) || errs.CodeOf(err) == errs.Overloaded }

// failures are what the engines said that were asked in vain.
type failures struct {
	last  error
	names []string
	wait  time.Duration // the shortest that was told
}

func (f *failures) add(err error) {
	f.last = err
	f.sooner(errs.As(err).RetryAfter)
}

// closed notes an engine whose breaker let nothing pass.
func (f *failures) closed(m *member, wait time.Duration) {
	f.names = append(f.names, m.Name)
	f.sooner(wait)
}

func (f *failures) sooner(wait time.Duration) {
	if wait > 0 && (f.wait == 0 || wait < f.wait) {
		f.wait = wait
	}
}

// result is the last error, with the shortest wait that any engine told.
func (f *failures) result() error {
	if f.last == nil {
		return &errs.Error{Code: errs.UpstreamUnavailable, Message: "the engine failed several times in a row and is left alone for a while: " + strings.Join(f.names, ", "),
			Next: "try again later", RetryAfter: f.wait}
	}
	e := *errs.As(f.last)
	if f.wait > 0 {
		e.RetryAfter = f.wait
	}
	return &e
}
