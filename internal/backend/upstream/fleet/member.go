package fleet

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"macaron/internal/errs"
)

type member struct {
	Engine
	breaker breaker
	sick    atomic.Pointer[errs.Error] // what the last look found; nil: well
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
	if before != nil && now == nil {
		m.breaker.relent()
	}
	if (before == nil) != (now == nil) && changed != nil {
		changed(m.Name, err)
	}
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
