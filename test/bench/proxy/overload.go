package main

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"time"
)

// overloaded are turns of an open loop: those that were answered, and those that were refused.
type overloaded struct {
	mu       sync.Mutex
	taken    []time.Duration
	refused  map[string]int
	refusing []time.Duration
	failed   error
}

func (o *overloaded) line(name string, d time.Duration) string {
	at := func(all []time.Duration, q float64) float64 {
		if len(all) == 0 {
			return 0
		}
		slices.Sort(all)
		return ms(all[int(q*float64(len(all)-1))])
	}
	return fmt.Sprintf("%-28s answered %6.1f/s, p50 %7.1f ms, p99 %7.1f ms; refused %6.1f/s, p99 %6.1f ms %v",
		name, float64(len(o.taken))/d.Seconds(), at(o.taken, .5), at(o.taken, .99), float64(len(o.refusing))/d.Seconds(), at(o.refusing, .99), o.refused)
}

// flood sends so many turns a second, whatever becomes of earlier ones.
func (c *client) flood(rate float64, d time.Duration) *overloaded {
	all := &overloaded{refused: map[string]int{}}
	var turns sync.WaitGroup
	begun := time.Now()
	for i := range int(d.Seconds() * rate) {
		due := begun.Add(time.Duration(float64(i) * float64(time.Second) / rate))
		time.Sleep(time.Until(due))
		turns.Go(func() {
			said, err := c.try(begin(false), i%2 == 0)
			took := time.Since(due)
			all.mu.Lock()
			defer all.mu.Unlock()
			switch {
			case err != nil:
				all.failed = errors.Join(all.failed, err)
			case said != "":
				all.refused[said]++
				all.refusing = append(all.refusing, took)
			default:
				all.taken = append(all.taken, took)
			}
		})
	}
	turns.Wait()
	return all
}

// overload finds how many turns a second a proxy of 32 places answers with an engine that takes a
// word every 20 ms, and sends half, twice and five times as many, and half again: what is taken is
// answered as fast as the places allow, the rest is told when to come back, nothing collapses.
func overload(o options, window time.Duration) (err error) {
	if o.work, err = os.MkdirTemp("", "overload-proxy"); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(o.work)) }()
	o.word, o.running, o.waiting = 20*time.Millisecond, 32, 32
	b := &bench{options: o}
	defer b.stop()
	if b.upstream, err = b.self("upstream", "/health", "-word", o.word.String()); err != nil {
		return err
	}
	s, err := b.startMacaron()
	if err != nil {
		return err
	}
	b.subjects = []*subject{s}
	full := s.client.closed(32, shape{Stream: true}, window)
	if full.failed != nil {
		return full.failed
	}
	capacity := float64(len(full.latencies)) / full.took.Seconds()
	fmt.Printf("closed loop, 32 at once: %.1f turns/s, p99 %.1f ms\n", capacity, ms(full.quantile(.99)))
	var good []float64
	for _, times := range []float64{.5, 2, 5, .5} {
		all := s.client.flood(times*capacity, window)
		if all.failed != nil {
			return all.failed
		}
		fmt.Println(all.line(fmt.Sprintf("open loop, %.1f x, %.0f/s:", times, times*capacity), window))
		for said := range all.refused {
			if !strings.HasPrefix(said, "429 ") && !strings.HasPrefix(said, "503 ") || !strings.HasSuffix(said, comeBack) {
				return fmt.Errorf("refused with %q", said)
			}
		}
		good = append(good, float64(len(all.taken))/window.Seconds())
	}
	switch {
	case good[2] < .8*capacity:
		return fmt.Errorf("under five times the load only %.1f turns/s are answered, of %.1f", good[2], capacity)
	case good[3] < .9*good[0]:
		return fmt.Errorf("after the overload %.1f turns/s are answered, before %.1f", good[3], good[0])
	}
	return s.summarised()
}
