package expansion

import (
	"context"
	"hash/fnv"
	"slices"
	"sync"

	"macaron/internal/errs"
	"macaron/internal/ids"
	"macaron/internal/mindforge"
	"macaron/internal/mindforge/batch"
)

// Key names an attempt: a pair, a task, a seed.
type Key struct {
	Pair ids.Digest `json:"pair"`
	Task string     `json:"task"`
	Seed uint64     `json:"seed"`
}

// Cache keeps outcomes of attempts. What is in it is not tried again.
type Cache interface {
	Get(k Key) (mindforge.Outcome, bool)
	Put(k Key, o mindforge.Outcome) error
}

// Memory is a cache of this process.
type Memory struct {
	mu  sync.Mutex
	all map[Key]mindforge.Outcome
}

// Get implements Cache.
func (m *Memory) Get(k Key) (mindforge.Outcome, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	o, ok := m.all[k]
	return o, ok
}

// Put implements Cache.
func (m *Memory) Put(k Key, o mindforge.Outcome) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.all == nil {
		m.all = map[Key]mindforge.Outcome{}
	}
	m.all[k] = o
	return nil
}

// evaluator makes attempts, each once, and counts them.
type evaluator struct {
	actor mindforge.Actor
	cache Cache

	atOnce int // attempts that are made at once where it is known that they will be asked for

	asked map[Key]bool // attempts that this search has asked for, made or found
	spent mindforge.Cost
	found int // of them, how many the cache had
}

func newEvaluator(a mindforge.Actor, c Cache, atOnce int) *evaluator {
	if c == nil {
		c = &Memory{}
	}
	return &evaluator{actor: a, cache: c, atOnce: atOnce, asked: map[Key]bool{}}
}

// want is an attempt that will be asked for.
type want struct {
	m    *member
	t    mindforge.Task
	seed uint64
}

// ahead makes attempts that will be asked for, several at once. They come into the cache in the
// order of the wants, as if each had been made when it was asked for.
func (e *evaluator) ahead(ctx context.Context, all ...want) error {
	if e.atOnce < 2 {
		return nil
	}
	known := map[Key]bool{}
	all = slices.DeleteFunc(all, func(w want) bool {
		k := Key{w.m.hash, w.t.ID, w.seed}
		_, have := e.cache.Get(k)
		have, known[k] = have || known[k], true
		return have
	})
	outs := make([]mindforge.Outcome, len(all))
	return batch.Do(ctx, len(all), e.atOnce, func(ctx context.Context, i int) (err error) {
		outs[i], err = e.actor.Try(ctx, all[i].m.pair, all[i].t, all[i].seed)
		return err
	}, func(i int) error {
		outs[i].Cost.Attempts = 1
		return e.cache.Put(Key{all[i].m.hash, all[i].t.ID, all[i].seed}, outs[i])
	})
}

// over are the wants of one member at tasks.
func over(m *member, tasks []mindforge.Task, seed func(mindforge.Task) uint64) (all []want) {
	for _, t := range tasks {
		all = append(all, want{m, t, seed(t)})
	}
	return all
}

// retries is how often an attempt is made anew in which the machinery failed.
const retries = 6

// try makes one attempt for each member, with one seed. Where the machinery failed for one,
// all are made again with another seed: none is dropped, and no pair is compared with less
// luck than the other.
func (e *evaluator) try(ctx context.Context, t mindforge.Task, seed uint64, ms ...*member) ([]mindforge.Outcome, error) {
	for n := range uint64(retries) {
		outs, broken := make([]mindforge.Outcome, len(ms)), false
		for i, m := range ms {
			o, err := e.once(ctx, m, t, seed+n<<48)
			if err != nil {
				return nil, err
			}
			outs[i], broken = o, broken || o.Failure == mindforge.Infrastructure
		}
		if !broken {
			return outs, nil
		}
	}
	return nil, errs.Newf(errs.UpstreamFailed, "the machinery failed in %d attempts at %s one after the other", retries, errs.Clip(t.ID))
}

// once makes an attempt or finds it in the cache. What is counted does not depend on which.
func (e *evaluator) once(ctx context.Context, m *member, t mindforge.Task, seed uint64) (mindforge.Outcome, error) {
	k := Key{m.hash, t.ID, seed}
	o, have := e.cache.Get(k)
	if !have {
		var err error
		if o, err = e.actor.Try(ctx, m.pair, t, seed); err != nil {
			return o, err
		}
		o.Cost.Attempts = 1
		if err := e.cache.Put(k, o); err != nil {
			return o, err
		}
	}
	if !e.asked[k] {
		e.asked[k] = true
		e.spent = e.spent.Plus(o.Cost)
		if have {
			e.found++
		}
	}
	return o, nil
}

// seedOf is the seed of an attempt at a task: the same for every pair, so that they are
// compared on one draw, and another for each repeat.
func seedOf(search uint64, task string, repeat int) uint64 {
	h := fnv.New64a()
	h.Write([]byte(task)) //nolint:errcheck,gosec // a hash takes every byte
	return (h.Sum64() ^ search*0x9e3779b97f4a7c15 ^ uint64(repeat)*0xbf58476d1ce4e5b9) >> 16
}
