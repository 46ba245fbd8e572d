package mint

import (
	"context"
	"fmt"
	"maps"

	"macaron/internal/errs"
	"macaron/internal/mint/ledger"
	"macaron/internal/train"
)

// Forward promises a forward pass.
func (s *Service) Forward(ctx context.Context, owner string, r Forward) (Promise, error) {
	r.told()
	op := OpBack
	if r.Only {
		op = OpForward
	} else {
		r.Loss = s.gradient(r.Loss)
	}
	return s.train(ctx, owner, r.Model, r.Seq, op, body{Forward: &r})
}

// gradient enters the service's way of gradients into a loss that has none: what is on record
// says all that a replay needs.
func (s *Service) gradient(l train.Loss) train.Loss {
	if _, given := l.Config["prefix_mode"]; given || s.o.Gradient == train.Exact {
		return l
	}
	config := map[string]float64{"prefix_mode": float64(s.o.Gradient)}
	maps.Copy(config, l.Config)
	return train.Loss{Name: l.Name, Config: config}
}

// OptimStep promises an optimizer step.
func (s *Service) OptimStep(ctx context.Context, owner string, r OptimStep) (Promise, error) {
	return s.train(ctx, owner, r.Model, r.Seq, OpStep, body{Step: &r})
}

// Save promises a checkpoint.
func (s *Service) Save(ctx context.Context, owner string, r Save) (Promise, error) {
	if err := r.check(); err != nil {
		return Promise{}, err
	}
	op := OpSampler
	if r.Kind == Training {
		op = OpSave
	}
	return s.train(ctx, owner, r.Model, r.Seq, op, body{Save: &r})
}

// SaveSampler promises a sampler of the state that a model will have.
func (s *Service) SaveSampler(ctx context.Context, owner string, r SaveSampler) (Promise, error) {
	if r.SamplerSeq < 0 && !r.Inflight {
		return Promise{}, errs.New(errs.InvalidRequest, "the sampler has no number", "send sampling_session_seq_id").In("sampling_session_seq_id")
	}
	return s.train(ctx, owner, r.Model, r.Seq, OpSampler, body{Sampler: &r})
}

// Load promises that a model is set to a checkpoint; without a Model it creates one.
func (s *Service) Load(ctx context.Context, owner string, r Load) (Promise, error) {
	c, err := s.readable(ctx, owner, r.Path)
	if err != nil {
		return Promise{}, err
	}
	if r.Base != "" && !s.same(r.Base, c.Base) {
		return Promise{}, errs.Newf(errs.InvalidRequest, "the checkpoint is of %s, not of %s", c.Base, errs.Clip(r.Base)).In("base_model")
	}
	if r.Model == "" {
		return s.createFrom(ctx, owner, r, c)
	}
	return s.train(ctx, owner, r.Model, r.Seq, OpLoad, body{Load: &r})
}

// Refuse promises the failure of an operation that was refused.
func (s *Service) Refuse(ctx context.Context, owner string, r Refused) (Promise, error) {
	return s.train(ctx, owner, r.Model, r.Seq, r.Op, body{Refused: &r})
}

// Unload promises that a model lets go of everything but its checkpoints, behind what was
// asked of it before.
func (s *Service) Unload(ctx context.Context, owner, id string) (Promise, error) {
	p, err := s.train(ctx, owner, id, NoSeq, OpUnload, body{Unload: true})
	if errs.CodeOf(err) != errs.Gone {
		return p, err
	}
	row, gone := s.o.Store.Model(ctx, owner, id) // a retry: what was applied last is the unload
	if gone == nil && row.Unloaded {
		if op, lost := s.o.Store.Op(ctx, owner, opID(id, row.Applied)); lost == nil && Op(op.Kind) == OpUnload {
			return newFuture(op, body{}).promise(), nil
		}
	}
	return p, err
}

// train promises an operation of a model.
func (s *Service) train(ctx context.Context, owner, id string, seq int64, op Op, b body) (Promise, error) {
	raw, err := pack(b)
	if err != nil {
		return Promise{}, err
	}
	s.mu.Lock()
	m, err := s.live(ctx, owner, id)
	if err == nil && seq == NoSeq {
		seq = m.next()
	}
	if err == nil && seq < 1 {
		err = errs.New(errs.InvalidRequest, fmt.Sprintf("an operation's number is %d", seq), "number the operations of a model from 1 on").In("seq_id")
	}
	if err != nil {
		s.mu.Unlock()
		return Promise{}, err
	}
	f := newFuture(ledger.Op{Owner: owner, ID: opID(id, seq), Session: m.row.Session, Model: id, Seq: seq, Kind: string(op)}, b)
	f.size = int64(len(raw))
	if op == OpUnload {
		if old := m.unloading(); old != nil {
			f = old
		}
	}
	known := s.futures[f.key()]
	if known != nil {
		err = sameKind(known.op, op)
	} else if seq > m.row.Applied {
		err = s.room(m, f)
	}
	if err != nil {
		s.mu.Unlock()
		return Promise{}, err
	}
	return s.promise(ctx, f, raw, known) // unlocks
}

// sameKind refuses an operation whose number has one of another kind: it is no retry, and a
// client that took the other's result for its own would go on without what it asked for. A
// pass is one kind, since the refusal of a forward pass is kept as that of any pass.
func sameKind(there ledger.Op, asked Op) error {
	kind := Op(there.Kind)
	if kind == asked || (kind == OpBack || kind == OpForward) && (asked == OpBack || asked == OpForward) {
		return nil
	}
	return errs.New(errs.InvalidRequest, fmt.Sprintf("the number %d is that of %s, not of %s", there.Seq, kind, asked), "give each operation a number of its own").In("seq_id")
}

// next is the least number that is free behind all that are taken; s.mu is held.
func (m *model) next() int64 {
	n := m.row.Applied
	for seq := range m.ahead {
		n = max(n, seq)
	}
	return n + 1
}

// unloading is the unload that a model waits for, if there is one; s.mu is held.
func (m *model) unloading() *future {
	for _, f := range m.ahead {
		if f.body.Unload {
			return f
		}
	}
	return nil
}

// room refuses an operation that the bounds have no room for; s.mu is held.
func (s *Service) room(m *model, f *future) error {
	l := s.o.Limits
	if f.op.Seq > m.row.Applied+int64(l.Ahead) {
		return full(fmt.Sprintf("operation %d is too far ahead of %d, which is next", f.op.Seq, m.row.Applied+1), l.Ahead, "send what is missing first")
	}
	return s.roomFor(f)
}

// roomFor refuses a promise that the bounds on all pending ones have no room for; s.mu is
// held.
func (s *Service) roomFor(f *future) error {
	l := s.o.Limits
	if s.pending+f.size > l.AheadBytes {
		return full(fmt.Sprintf("%d bytes of requests are pending", s.pending), l.AheadBytes, "wait for some of them")
	}
	n := s.pendingOf[f.op.Owner]
	if n >= l.Futures {
		return full(fmt.Sprintf("%d requests are pending", n), l.Futures, "wait for some of them")
	}
	return nil
}

// promise journals a future and hands it to whoever carries it out. What has its name is
// given instead. s.mu is held, and is not any more afterwards.
func (s *Service) promise(ctx context.Context, f *future, raw []byte, known *future) (Promise, error) {
	if known != nil {
		s.mu.Unlock()
		<-known.journaled
		if known.err != nil {
			return Promise{}, known.err
		}
		s.mu.Lock() // it may be resolved just now
		defer s.mu.Unlock()
		return known.promise(), nil
	}
	f.op.State, f.op.Created = string(Pending), s.o.Clock.Now().UTC()
	s.futures[f.key()] = f
	s.count(f, 1)
	s.mu.Unlock()
	old, there, err := s.journal(ctx, f.op, raw)
	s.mu.Lock()
	defer s.mu.Unlock()
	defer close(f.journaled)
	if err == nil && there {
		err = sameKind(old, Op(f.op.Kind))
	}
	if err == nil && there {
		f.op = old
		f.body, err = s.bodyOf(old)
	}
	if f.err = err; err != nil || f.op.State != string(Pending) {
		delete(s.futures, f.key())
		s.count(f, -1)
		return f.promise(), err
	}
	s.enqueue(f)
	return f.promise(), nil
}

// journal makes an operation durable, unless its name is there.
func (s *Service) journal(ctx context.Context, op ledger.Op, raw []byte) (old ledger.Op, there bool, err error) {
	if op.Body, op.BodyBlob, err = s.lay(raw); err != nil {
		return old, false, err
	}
	return s.o.Store.Promise(ctx, op)
}

// bodyOf reads an operation back; one whose body is not kept any more has an empty one.
func (s *Service) bodyOf(op ledger.Op) (body, error) {
	if len(op.Body) == 0 && op.BodyBlob == "" {
		return body{}, nil
	}
	raw, err := s.fetch(op.Body, op.BodyBlob)
	if err != nil {
		return body{}, err
	}
	return unpack[body](raw)
}

// count adds a future to what is pending, or takes it off; s.mu is held.
func (s *Service) count(f *future, sign int) {
	s.pending += int64(sign) * f.size
	if s.pendingOf[f.op.Owner] += sign; s.pendingOf[f.op.Owner] == 0 {
		delete(s.pendingOf, f.op.Owner)
	}
}

// enqueue hands a journaled future to whoever carries it out; s.mu is held.
func (s *Service) enqueue(f *future) {
	if Op(f.op.Kind) == OpSample {
		s.samples.add(f)
	} else if m := s.models[f.op.Model]; m != nil {
		m.ahead[f.op.Seq] = f
	}
	s.changed.Broadcast()
}
