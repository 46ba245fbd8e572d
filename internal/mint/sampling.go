package mint

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"time"

	"macaron/internal/errs"
	"macaron/internal/ids"
	"macaron/internal/mint/ledger"
)

// seed is that of a request: its own, or one drawn now, which the journal keeps with it.
func (s *Service) seed(r Sample) uint64 {
	if r.Seed != nil {
		return *r.Seed
	}
	return draw()
}

// draw gives a seed where nobody gave one.
func draw() uint64 {
	var b [8]byte
	_, _ = rand.Read(b[:]) // never fails
	return binary.LittleEndian.Uint64(b[:])
}

// sampleLoop carries out sampling requests, one at a time; several loops run.
func (s *Service) sampleLoop() {
	for {
		f, ctx := s.nextSample()
		if f == nil {
			return
		}
		start := time.Now()
		r, err := s.sample(ctx, f)
		f.cancel()
		s.mu.Lock()
		s.samples.spend(f.op.Owner, time.Since(start))
		over := s.ctx.Err() != nil
		if f.canceled && err != nil {
			err = canceled()
		}
		s.mu.Unlock()
		if over {
			return // the next process does it
		}
		if transient(err) || errs.CodeOf(err) == errs.Overloaded || s.resolve(f, r, err) != nil {
			s.again(f, err)
		}
	}
}

// nextSample waits for a request whose turn it is; nil when the service closes.
func (s *Service) nextSample() (*future, context.Context) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.ctx.Err() == nil {
		if f := s.samples.take(); f != nil {
			ctx, cancel := context.WithCancel(s.ctx)
			f.cancel = cancel
			if f.canceled {
				cancel()
			}
			return f, ctx
		}
		s.changed.Wait()
	}
	return nil, nil
}

func (s *Service) sample(ctx context.Context, f *future) (Result, error) {
	if f.gone != nil {
		return Result{}, f.gone
	}
	r := *f.body.Sample
	w, err := s.worker(r.Base)
	if err != nil {
		return Result{}, err
	}
	if ctx.Err() != nil {
		return Result{}, canceled()
	}
	a, err := s.adapterOf(ctx, f.op.Owner, f.op.Sampler, r)
	if err != nil {
		return Result{}, err
	}
	out, err := w.Sample(ctx, f.op.Owner, a, r, f.body.Seed)
	return Result{Sample: &out}, err
}

// adapterOf finds the adapter of a request as it is now; nil for the base.
func (s *Service) adapterOf(ctx context.Context, owner, id string, r Sample) (*Stored, error) {
	d := ids.Digest("")
	switch {
	case id != "":
		row, err := s.o.Store.Sampler(ctx, owner, id)
		if err != nil {
			return nil, err
		}
		d = row.Adapter
	case r.Path != "":
		c, err := s.sampleable(ctx, owner, r.Path, r.Base)
		if err != nil {
			return nil, err
		}
		d = c.Adapter
	}
	if d == "" {
		return nil, nil
	}
	return &Stored{Digest: d, Read: func() (Adapter, error) { return s.readAdapter(d) }}, nil
}

func (s *Service) readAdapter(d ids.Digest) (Adapter, error) {
	r, err := s.o.Blobs.Open(d)
	if err != nil {
		return Adapter{}, err
	}
	defer r.Close() // read-only
	return readPEFT(r, s.o.Limits.UploadBytes)
}

// resolve commits the outcome of a request and delivers it.
func (s *Service) resolve(f *future, r Result, failed error) error {
	op, err := s.resolution(f, r, failed)
	if err != nil {
		return err
	}
	if err := s.o.Store.Write(context.WithoutCancel(s.ctx), ledger.Change{Resolve: []ledger.Op{op}}); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.deliver(f, op, r)
	return nil
}

// again puts a request off whose outcome could not be had or kept.
func (s *Service) again(f *future, err error) {
	s.o.Log.Warn("a sampling request is tried again", "request", f.op.ID, "error", err)
	time.AfterFunc(retryAfter, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.samples.add(f)
		s.changed.Broadcast()
	})
}
