package mint

import (
	"context"
	"fmt"
	"time"

	"macaron/internal/errs"
	"macaron/internal/ids"
	"macaron/internal/mint/ledger"
)

// sampler is one of a session that lives.
type sampler struct {
	row   ledger.Sampler
	wrote time.Time // when the store was told of its use
	next  int64     // the number of a request that has none
}

// CreateSampler makes a sampler of a base or of a checkpoint. The same number is the same
// sampler.
func (s *Service) CreateSampler(ctx context.Context, owner string, r NewSampler) (Sampler, error) {
	if r.Seq < 0 {
		return Sampler{}, errs.New(errs.InvalidRequest, "the sampler has no number", "send sampling_session_seq_id").In("sampling_session_seq_id")
	}
	row := ledger.Sampler{Owner: owner, ID: samplerID(r.Session, r.Seq), Session: r.Session, Base: r.Base}
	if r.Path != "" {
		c, err := s.sampleable(ctx, owner, r.Path, r.Base)
		if err != nil {
			return Sampler{}, err
		}
		s.renew(c)
		row.Base, row.Path, row.Adapter = c.Base, c.Path, c.Adapter
	}
	if _, err := s.worker(row.Base); err != nil {
		return Sampler{}, err
	}
	s.mu.Lock()
	_, err := s.alive(ctx, owner, r.Session)
	known := s.samplers[row.ID]
	s.mu.Unlock()
	if err != nil {
		return Sampler{}, err
	}
	if known != nil {
		return samplerOf(known.row), nil
	}
	row.Created = s.o.Clock.Now().UTC()
	row.Used = row.Created
	if err := s.o.Store.Write(ctx, ledger.Change{Samplers: []ledger.Sampler{row}}); err != nil {
		return Sampler{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.samplers[row.ID] = &sampler{row: row}
	return samplerOf(row), nil
}

// sampleable finds a checkpoint to sample from.
func (s *Service) sampleable(ctx context.Context, owner, path, base string) (ledger.Checkpoint, error) {
	c, err := s.readable(ctx, owner, path)
	if err != nil {
		return c, err
	}
	if base != "" && !s.same(base, c.Base) {
		return c, errs.Newf(errs.InvalidRequest, "the checkpoint is of %s, not of %s", c.Base, errs.Clip(base)).In("base_model")
	}
	if c.Adapter == "" {
		return c, errs.New(errs.InvalidRequest, "the checkpoint holds a state of training, not an adapter to sample from", "save one with save_weights_for_sampler").In("model_path")
	}
	return c, nil
}

func samplerOf(row ledger.Sampler) Sampler {
	return Sampler{ID: row.ID, Owner: row.Owner, Session: row.Session, Base: row.Base, Path: row.Path, Created: row.Created}
}

// Sampler gives a sampler.
func (s *Service) Sampler(ctx context.Context, owner, id string) (Sampler, error) {
	row, err := s.o.Store.Sampler(ctx, owner, id)
	return samplerOf(row), err
}

// Sample promises answers to a prompt.
func (s *Service) Sample(ctx context.Context, owner string, r Sample) (Promise, error) {
	if r.N == 0 {
		r.N = 1
	}
	if r.N < 0 || r.N > maxSamples {
		return Promise{}, errs.Newf(errs.InvalidRequest, "%d samples are asked for: 1 to %d can be", r.N, maxSamples).In("num_samples")
	}
	op, err := s.sampleOp(ctx, owner, &r)
	if err != nil {
		return Promise{}, err
	}
	w, err := s.worker(r.Base)
	if err == nil {
		err = w.Check(r)
	}
	if err != nil {
		return Promise{}, err
	}
	b := body{Sample: &r, Seed: s.seed(r)}
	raw, err := pack(b)
	if err != nil {
		return Promise{}, err
	}
	f := newFuture(op, b)
	f.size = int64(len(raw))
	s.mu.Lock()
	known := s.futures[f.key()]
	if known == nil {
		err = s.roomFor(f)
	}
	if err != nil {
		s.mu.Unlock()
		return Promise{}, err
	}
	return s.promise(ctx, f, raw, known) // unlocks
}

const maxSamples = 1024

// sampleOp names a request and finds what it samples from: afterwards the request has a
// base, and a path or a sampler where there is an adapter.
func (s *Service) sampleOp(ctx context.Context, owner string, r *Sample) (ledger.Op, error) {
	op := ledger.Op{Owner: owner, Kind: string(OpSample), Seq: r.Seq}
	if r.Sampler == "" {
		op.ID = s.o.IDs.New(ids.Job)
		if r.Path == "" {
			return op, nil
		}
		c, err := s.sampleable(ctx, owner, r.Path, r.Base)
		r.Base, r.Path = c.Base, c.Path
		return op, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	e := s.samplers[r.Sampler]
	if e == nil || e.row.Owner != owner {
		var err error
		if e, err = s.lost(ctx, owner, r.Sampler); err != nil {
			return op, err
		}
	}
	if _, err := s.alive(ctx, owner, e.row.Session); err != nil {
		return op, err
	}
	if r.Seq == NoSeq {
		e.next++
		op.Seq = 1<<62 + e.next // beyond the numbers of clients
		op.ID = s.o.IDs.New(ids.Job)
	} else if r.Seq < 0 {
		return op, errs.Newf(errs.InvalidRequest, "the request's number is %d", r.Seq).In("seq_id")
	} else {
		op.ID = opID(r.Sampler, r.Seq)
	}
	e.row.Used = s.o.Clock.Now().UTC()
	op.Session, op.Sampler = e.row.Session, e.row.ID
	r.Base, r.Path = e.row.Base, ""
	return op, nil
}

// lost takes a sampler into memory that another process made, which lost its hold at that
// moment, or says why it cannot be used; s.mu is held.
func (s *Service) lost(ctx context.Context, owner, id string) (*sampler, error) {
	if s.ready != nil {
		return nil, s.ready
	}
	row, err := s.o.Store.Sampler(ctx, owner, id)
	if err != nil {
		return nil, err
	}
	e := &sampler{row: row}
	s.samplers[id] = e
	return e, nil
}

// sequenceIDs names the answers of a request.
func sequenceIDs(request string, _ int64, n int) []string {
	all := make([]string, n)
	for i := range all {
		all[i] = fmt.Sprintf("%s/%d", request, i)
	}
	return all
}

func (f *future) samples() int {
	if f.body.Sample == nil {
		return 1
	}
	return f.body.Sample.N
}
