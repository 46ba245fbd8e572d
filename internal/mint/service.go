package mint

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"time"

	"macaron/internal/clock"
	"macaron/internal/errs"
	"macaron/internal/ids"
	"macaron/internal/mint/blob"
	"macaron/internal/mint/ledger"
)

// Options set up a Service. All but Publisher, Log, Instance and Linked are needed.
type Options struct {
	Store     ledger.Store
	Blobs     *blob.Store
	Workers   []Worker
	Clock     clock.Clock
	IDs       *ids.Source
	Limits    Limits
	Publisher Publisher // takes what is saved for sampling into the catalogue
	Log       *slog.Logger
	Instance  string // this process among those of one database; empty: it is alone
	// Linked gives the blobs that are reached from outside of the ledger, by policy records.
	// nil: there are none.
	Linked func(ctx context.Context) ([]ids.Digest, error)
}

// Service is safe for concurrent use.
type Service struct {
	o       Options
	workers map[string]Worker

	ctx  context.Context // ends with Close
	stop context.CancelFunc
	wait sync.WaitGroup

	mu        sync.Mutex
	changed   *sync.Cond // something may be runnable, or is over
	ready     error      // why nothing is served yet; nil when it is
	sessions  map[string]*session
	models    map[string]*model
	samplers  map[string]*sampler
	futures   map[key]*future
	pending   int64          // bytes that the bodies of all pending futures take
	pendingOf map[string]int // futures, by owner
	kept      recency
	turns     fair // owners, by what training they have had
	samples   fair // owners, by what samples they have had
	order     int64
	stats     Stats
}

// key is an owner's thing.
type key struct{ owner, id string }

// Open recovers what a process before left unfinished, and begins to work. Where another
// process holds the work, this one waits for it in the background.
func Open(ctx context.Context, o Options) (*Service, error) {
	o.Limits.setDefaults()
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	s := &Service{o: o, workers: map[string]Worker{}, ready: notYet(),
		sessions: map[string]*session{}, models: map[string]*model{}, samplers: map[string]*sampler{}, futures: map[key]*future{}, pendingOf: map[string]int{}}
	for _, w := range o.Workers {
		for _, name := range append([]string{w.Base().Name}, w.Base().Also...) {
			s.workers[name] = w
		}
		s.workers[string(w.Shape().Base)] = w // as what was made elsewhere names it
	}
	s.changed = sync.NewCond(&s.mu)
	s.ctx, s.stop = context.WithCancel(context.Background())
	held, err := s.hold(ctx)
	if err == nil && held {
		err = s.begin(ctx)
	}
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	s.wait.Go(func() { s.keepHold(held) })
	return s, nil
}

// begin recovers and starts the goroutines that work.
func (s *Service) begin(ctx context.Context) error {
	if err := s.recover(ctx); err != nil {
		return err
	}
	for range s.o.Limits.Trainers {
		s.wait.Go(s.trainLoop)
	}
	for range s.o.Limits.Samples {
		s.wait.Go(s.sampleLoop)
	}
	s.wait.Go(s.tend)
	return nil
}

// Close stops the work. What is unfinished is carried out after the next Open.
func (s *Service) Close() error {
	s.stop()
	s.mu.Lock()
	s.ready = closed()
	s.changed.Broadcast()
	s.mu.Unlock()
	s.wait.Wait()
	return nil
}

func notYet() error {
	e := errs.New(errs.UpstreamUnavailable, "another process of this database trains", "ask that one, or wait until it has ended")
	e.RetryAfter = time.Second
	return e
}

func closed() error {
	return errs.New(errs.UpstreamUnavailable, "this process is shutting down", "try again in a moment; what was promised is kept")
}

// Bases lists what can be trained and sampled, under each of its names.
func (s *Service) Bases(context.Context, string) ([]Base, error) {
	all := make([]Base, 0, len(s.o.Workers))
	for _, w := range s.o.Workers {
		base := w.Base()
		for _, name := range append([]string{base.Name}, base.Also...) {
			base.Name, base.Also = name, nil
			all = append(all, base)
		}
	}
	return all, nil
}

// same tells whether two names are of one base.
func (s *Service) same(a, b string) bool {
	return a == b || s.workers[a] != nil && s.workers[a] == s.workers[b]
}

// public is the name of a base that clients know.
func (s *Service) public(base string) string {
	if w := s.workers[base]; w != nil && base == string(w.Shape().Base) {
		return w.Base().Name
	}
	return base
}

// worker finds the worker of a base.
func (s *Service) worker(base string) (Worker, error) {
	if w := s.workers[base]; w != nil {
		return w, nil
	}
	names := make([]string, 0, len(s.workers))
	for n, w := range s.workers {
		if n != string(w.Shape().Base) {
			names = append(names, n)
		}
	}
	slices.Sort(names)
	return nil, unknownBase(base, names)
}

// holdFor is how long other processes wait for a sign of life of the one that works.
const holdFor = 30 * time.Second

func (s *Service) hold(ctx context.Context) (bool, error) {
	now := s.o.Clock.Now()
	return s.o.Store.Hold(ctx, now.Add(holdFor), now, s.o.Instance)
}

// keepHold renews the hold on the work, or waits for it. One that is lost ends the work
// before another process may begin.
func (s *Service) keepHold(held bool) {
	tick := time.NewTicker(holdFor / 3)
	defer tick.Stop()
	last := time.Now()
	for {
		select {
		case <-s.ctx.Done():
			return
		case <-tick.C:
		}
		mine, err := s.hold(s.ctx)
		switch {
		case err == nil && mine && !held:
			if err := s.begin(s.ctx); err != nil {
				s.o.Log.Error("the training service cannot begin", "error", err)
				continue
			}
			held, last = true, time.Now()
		case err == nil && mine:
			last = time.Now()
		case held && (err == nil || time.Since(last) > holdFor*2/3):
			s.o.Log.Error("another process has taken over the training service; this one stops its part", "error", err)
			s.mu.Lock()
			s.ready = notYet()
			s.mu.Unlock()
			s.stop()
			return
		}
	}
}
