package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

// soaking says what a soak holds open and for how long.
type soaking struct {
	sessions, streams int
	minutes           float64
	outages           time.Duration // the upstream is killed so often; 0: never
}

// sample is what is looked at now and then.
type sample struct {
	at          time.Duration
	turns       int64
	heap, store float64 // MB; heap is what the last collection found alive
	rss, cpu    float64 // MB, s
}

// soak keeps so many streams going over so many sessions and judges what it sees.
func soak(o options, k soaking) (err error) {
	if o.work, err = os.MkdirTemp("", "soak-proxy"); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(o.work)) }()
	b := &bench{options: o}
	defer b.stop()
	out, err := b.startOutages(k.outages)
	if err != nil {
		return err
	}
	s, err := b.startMacaron()
	if err != nil {
		return err
	}
	b.subjects = []*subject{s}
	if err := chains(s); err != nil {
		return err
	}
	rest, err := s.atRest()
	if err != nil {
		return err
	}
	samples, turns, err := b.load(s, k, out)
	if err != nil {
		return err
	}
	if err := s.summarised(); err != nil {
		return err
	}
	if k.outages > 0 {
		return out.judge(s, rest, turns, samples)
	}
	return judge(samples, k, o)
}

// load keeps the streams going, and the outages coming, until the time is over.
func (b *bench) load(s *subject, k soaking, out *outages) (samples []sample, held int64, err error) {
	ctx, stop := context.WithTimeout(context.Background(), time.Duration(k.minutes*float64(time.Minute)))
	defer stop()
	var turns atomic.Int64
	failed := make(chan error, 1)
	fail := func(err error) {
		if err == nil || errors.Is(err, errEnded) {
			return
		}
		select {
		case failed <- err:
		default:
		}
		stop()
	}
	var clients sync.WaitGroup
	pool := newPool(k.sessions)
	for range k.streams {
		clients.Go(func() {
			for ctx.Err() == nil {
				t := pool.take()
				if err := out.hold(ctx, s.client, t); err != nil {
					fail(err)
					return
				}
				turns.Add(1)
				pool.put(t)
			}
		})
	}
	if k.outages > 0 {
		clients.Go(func() { fail(out.happen(ctx)) })
	}
	samples, err = b.watch(ctx, s, &turns, max(time.Duration(k.minutes*float64(time.Minute))/60, time.Second))
	clients.Wait()
	select {
	case broke := <-failed:
		err = errors.Join(err, broke)
	default:
	}
	return samples, turns.Load(), err
}

// watch samples until ctx ends.
func (b *bench) watch(ctx context.Context, s *subject, turns *atomic.Int64, every time.Duration) (all []sample, err error) {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for begun := time.Now(); ; {
		select {
		case <-ctx.Done():
			return all, nil
		case <-tick.C:
		}
		next, err := s.metric("go_memstats_next_gc_bytes", "")
		if err != nil {
			return all, err
		}
		size, err := b.stored()
		if err != nil {
			return all, err
		}
		rss, err := s.rss()
		if err != nil {
			return all, err
		}
		cpu, err := s.cpu()
		if err != nil {
			return all, err
		}
		// GOGC is 100 here, so the next collection comes at twice what the last one found.
		all = append(all, sample{time.Since(begun), turns.Load(), next / 2 / (1 << 20), float64(size) / (1 << 20), rss, cpu.Seconds()})
		last := all[len(all)-1]
		fmt.Printf("%6.1f min  %8d turns  live heap %6.1f MB  store %8.1f MB  rss %6.1f MB  cpu %7.1f s\n", last.at.Minutes(), last.turns, last.heap, last.store, last.rss, last.cpu)
	}
}

// settled gives the samples to judge: of the last three quarters, those from when every session
// has had two turns. By then the caches of the log are at their bounds, 24 MB of records and
// 32 MiB of conversations, since two turns of each of 10,000 sessions are more than that.
func settled(all []sample, sessions int) []sample {
	from := len(all) / 4
	for from < len(all) && all[from].turns < 2*int64(sessions) {
		from++
	}
	return all[from:]
}

// judge holds the samples from when the caches are full against what must hold.
func judge(all []sample, k soaking, o options) error {
	late := settled(all, k.sessions)
	if len(late) < 8 {
		return fmt.Errorf("too short to judge: %d samples, not 8, come after two turns of each of %d sessions", len(late), k.sessions)
	}
	heap := slope(late, func(s sample) float64 { return s.at.Hours() }, func(s sample) float64 { return s.heap })
	third := len(late) / 3
	perTurn := func(a, b sample) float64 { return (b.store - a.store) * 1024 / float64(b.turns-a.turns) }
	first, last := perTurn(late[0], late[third]), perTurn(late[2*third], late[len(late)-1])
	end := all[len(all)-1]
	fmt.Printf("%d sessions, %d streams at once, %.1f min, a word every %v: %d turns, no error, no answer to another's question\n", k.sessions, k.streams, k.minutes, o.word, end.turns)
	fmt.Printf("live heap: %+.1f MB an hour from %.1f min on, when the caches are full, at the end %.1f MB\n", heap, late[0].at.Minutes(), end.heap)
	fmt.Printf("store: %.2f kB a turn early, %.2f kB late; CPU %.2f ms a turn\n", first, last, 1000*(end.cpu-all[0].cpu)/float64(end.turns-all[0].turns))
	switch {
	case heap > 5:
		return fmt.Errorf("the live heap grows by %.1f MB an hour, more than 5", heap)
	case last > 1.15*first:
		return fmt.Errorf("the store grows faster at the end: %.2f kB a turn after %.2f", last, first)
	}
	return nil
}

// slope is that of the least squares line.
func slope(all []sample, x, y func(sample) float64) float64 {
	var mx, my, xy, xx float64
	for _, s := range all {
		mx, my = mx+x(s)/float64(len(all)), my+y(s)/float64(len(all))
	}
	for _, s := range all {
		xy, xx = xy+(x(s)-mx)*(y(s)-my), xx+(x(s)-mx)*(x(s)-mx)
	}
	return xy / xx
}

// pool is the open sessions; one that is taken has a turn in flight.
type pool struct {
	mu   sync.Mutex
	free []*talk
}

func newPool(n int) *pool {
	p := &pool{}
	for range n {
		p.free = append(p.free, begin(false))
	}
	return p
}

func (p *pool) take() *talk {
	p.mu.Lock()
	defer p.mu.Unlock()
	i, last := rand.IntN(len(p.free)), len(p.free)-1
	t := p.free[i]
	p.free[i] = p.free[last]
	p.free = p.free[:last]
	return t
}

func (p *pool) put(t *talk) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.free = append(p.free, t)
}
