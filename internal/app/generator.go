package app

import (
	"context"
	"slices"
	"time"

	"macaron/internal/backend"
	"macaron/internal/backend/upstream"
	"macaron/internal/backend/upstream/fleet"
	"macaron/internal/config"
	"macaron/internal/obs"
)

// lookEvery is the time between two looks at the health of an engine.
const lookEvery = 5 * time.Second

// openGenerator starts what answers: the one that was given, the configured
// engines below, or the embedded engine, which loads in the background.
func (a *App) openGenerator(opts Options) error {
	a.generator = newLate()
	switch {
	case opts.Generator != nil:
		a.generator.set(opts.Generator, nil)
	case len(a.cfg.Below()) > 0:
		spendHeap()
		a.generator.set(a.openFleet(a.cfg.Below()), nil)
		a.onClose(a.generator.Close)
		a.metrics.Upstreams(a.upstreams)
	default:
		a.loadEngine()
	}
	return nil
}

// openFleet speaks to the engines below. A request is sent again to the same engine only
// where there is no other to try.
func (a *App) openFleet(list []config.Server) *fleet.Fleet {
	var engines []fleet.Engine
	for i, s := range list {
		c := EngineConfig(s)
		c.Instance, c.Mark = a.instance, a.mark()
		if slices.ContainsFunc(slices.Concat(list[:i], list[i+1:]), func(o config.Server) bool { return overlap(s, o) }) {
			c.Tries = 1
		}
		engines = append(engines, fleet.Engine{Name: s.Name, Gen: upstream.New(c), Adapters: s.Labels(), Weight: s.Weight})
	}
	return fleet.New(engines, fleet.Options{Clock: a.clock, Every: lookEvery, Changed: func(name string, err error) {
		if err != nil {
			a.log.Warn("an engine is not well", "engine", name, "err", err)
			return
		}
		a.log.Info("an engine is well again", "engine", name)
	}})
}

// upstreams tells the metrics how the engines below are.
func (a *App) upstreams() []obs.Upstream {
	f, ok := a.generator.gen().(*fleet.Fleet)
	if !ok {
		return nil
	}
	var out []obs.Upstream
	for _, s := range f.Status() {
		out = append(out, obs.Upstream{Name: s.Name, Well: s.Error == "", Breaker: string(s.Breaker)})
	}
	return out
}

// EngineConfig gives the settings of a server to the room that speaks to it.
func EngineConfig(s config.Server) upstream.Config {
	return upstream.Config{Name: s.Name, URL: s.URL, Key: s.Key.Reveal(), Dialect: s.Dialect, Models: s.Adapters, Timeout: s.Timeout, Longest: s.Longest, Conns: s.Conns}
}

// overlap reports whether two servers have an adapter in common.
func overlap(a, b config.Server) bool {
	if !a.Only || !b.Only {
		return true
	}
	for name := range a.Adapters {
		if _, ok := b.Adapters[name]; ok {
			return true
		}
	}
	return false
}

// loadEngine loads the model in the background; Close waits for the load to end and
// then frees the engine.
func (a *App) loadEngine() {
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		g, err := a.embedded(ctx)
		settleHeap()
		a.noteLoad(ctx, err)
		a.generator.set(g, err)
	}()
	a.onClose(func() error {
		cancel()
		<-a.generator.done
		return a.generator.Close()
	})
	a.metrics.Engine(a.engineState)
}

// noteLoad tells the operator why there is no model. A load that Close cut short is no
// fault: then something else is told already.
func (a *App) noteLoad(ctx context.Context, err error) {
	if err != nil && ctx.Err() == nil {
		a.log.Error("the model cannot be loaded", "model", a.cfg.Model, "err", err)
	}
}

var _ backend.Generator = (*late)(nil)
