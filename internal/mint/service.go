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
	"macaron/internal/train"
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
	Curves    Curves    // takes what is measured of runs; nil: nobody does
	Log       *slog.Logger
	Gradient  train.Way // of a request that says nothing of it
	Instance  string    // this process among those of one database; empty: it is alone
	// Linked gives the blobs that are reached from outside of the ledger, by policy records.
	// nil: there are none.
	Linked func(ctx context.Context) ([]ids.Digest, error)
}

// Service is safe for concurrent use.
type Service struct {
	o       Options
	workers map[string]Worker
	uploads uploading

	life context.Context // ends with Close
	quit context.CancelFunc
	wait sync.WaitGroup // for keepHold

	ctx     context.Context // ends when this process does not hold the work any more; in API calls, under mu
	stop    context.CancelFunc
	working sync.WaitGroup // for what begin starts

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
	turns     fair  // owners, by what training they have had
	samples   fair  // owners, by what samples they have had
	order     int64 // of the future that was resolved last
	gone      int64 // up to there the store alone knows which are
	stats     Stats
	patient   time.Time // until then nothing is removed for its age: the clock may be wrong
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
	s := &Service{o: o, workers: map[string]Worker{}}
	s.life, s.quit = context.WithCancel(context.Background())
	s.changed = sync.NewCond(&s.mu)
	s.clear()
	for _, w := range o.Workers {
		for _, name := range append([]string{w.Base().Name}, w.Base().Also...) {
			s.workers[name] = w
		}
		s.workers[string(w.Shape().Base)] = w // as what was made elsewhere names it
	}
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

// clear forgets everything: what is promised is in the store. Nothing works.
func (s *Service) clear() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ctx, s.stop = context.WithCancel(s.life)
	s.ready = notYet()
	s.sessions, s.models, s.samplers, s.futures = map[string]*session{}, map[string]*model{}, map[string]*sampler{}, map[key]*future{}
	s.pending, s.pendingOf = 0, map[string]int{}
	s.kept, s.turns, s.samples = recency{}, fair{}, fair{}
	s.order = max(s.order, s.o.Clock.Now().UnixNano()) // rises over restarts too
	s.gone = s.order
}

// begin recovers and starts the goroutines that work.
func (s *Service) begin(ctx context.Context) error {
	if err := s.recover(ctx); err != nil {
		return err
	}
	for range s.o.Limits.Trainers {
		s.working.Go(s.trainLoop)
	}
	for range s.o.Limits.Samples {
		s.working.Go(s.sampleLoop)
	}
	s.working.Go(s.tend)
	return nil
}

// Close stops the work. What is unfinished is carried out after the next Open.
func (s *Service) Close() error {
	s.quit()
	s.wait.Wait()
	s.halt(closed())
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

// halt ends the work; nothing of it is in memory when it returns.
func (s *Service) halt(why error) {
	s.mu.Lock()
	s.ready = why
	s.stop()
	s.changed.Broadcast()
	s.mu.Unlock()
	s.working.Wait()
}
