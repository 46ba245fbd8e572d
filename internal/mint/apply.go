package mint

import (
	"macaron/internal/errs"
	"macaron/internal/ids"
	"macaron/internal/mint/ledger"
	"macaron/internal/train"
)

// apply carries out an operation on the model's trainer, and gives its result and what is to
// be written with it.
func (s *Service) apply(m *model, f *future) (Result, ledger.Change, error) {
	b := f.body
	switch {
	case b.Forward != nil, b.Step != nil:
		r, err := s.compute(m, b)
		return r, ledger.Change{}, err
	case b.Save != nil && b.Save.Kind == Training:
		return s.saveState(m, *b.Save)
	case b.Save != nil:
		return s.saveAdapter(m, *b.Save)
	case b.Sampler != nil:
		return s.saveSampler(m, *b.Sampler)
	case b.Load != nil:
		return s.load(m, f.op.Seq, *b.Load)
	case b.Unload:
		return s.unload(m)
	case b.Refused != nil:
		return Result{}, ledger.Change{}, errs.New(b.Refused.Code, b.Refused.Why, "")
	}
	return Result{}, ledger.Change{}, errs.Wrap(errs.Internal, errUnknown, "the operation cannot be carried out", "report it with the server's log")
}

// compute is the part of apply that a replay repeats: passes and steps.
func (s *Service) compute(m *model, b body) (Result, error) {
	if b.Step != nil {
		metrics, err := m.trainer.OptimStep(s.ctx, b.Step.Adam)
		return Result{Metrics: metrics}, err
	}
	pass := m.trainer.ForwardBackward
	if b.Forward.Only {
		pass = m.trainer.Forward
	}
	out, err := pass(s.ctx, b.Forward.Data, b.Forward.Loss)
	return Result{Output: &out}, err
}

// restore brings a model's committed state into memory: its snapshot, and what the
// operations behind it did. Training is deterministic, so this gives the bits that were
// there, in whatever process.
func (s *Service) restore(m *model) error {
	if m.trainer != nil {
		return nil
	}
	t, err := s.snapshotOf(m)
	if err != nil {
		return s.corrupt(m, err)
	}
	m.trainer = t
	ops, err := s.o.Store.OpsAfter(s.ctx, m.row.Owner, m.row.ID, m.row.SnapshotAt)
	if err != nil {
		m.trainer = nil
		return err
	}
	for _, op := range ops {
		if op.Seq > m.row.Applied || !repeats(op) {
			continue
		}
		if err := s.replay(m, op); err != nil {
			m.trainer = nil
			return s.corrupt(m, err)
		}
	}
	return nil
}

// repeats tells whether an operation that was carried out has to be once more for its effect
// on the state. What was refused then is refused again; a step that is clears gradients.
func repeats(op ledger.Op) bool {
	ran := State(op.State) == Done || Category(op.Category) == ByUser
	return ran && (Op(op.Kind) == OpBack || Op(op.Kind) == OpStep)
}

// replay carries out a committed operation once more, for its effect on the state alone.
func (s *Service) replay(m *model, op ledger.Op) error {
	b, err := s.bodyOf(op)
	if err != nil {
		return err
	}
	if b.Refused != nil {
		return nil
	}
	if b.Forward == nil && b.Step == nil {
		return errs.New(errs.NotFound, "the journal lacks operation "+op.ID, "load a checkpoint")
	}
	_, err = s.compute(m, b)
	s.mu.Lock()
	s.stats.Replayed++
	s.mu.Unlock()
	if byUser(err) && State(op.State) == Failed {
		return nil
	}
	return err
}

// corrupt says that a model's state cannot be had any more. What will pass is told as it is.
func (s *Service) corrupt(m *model, err error) error {
	if s.ctx.Err() != nil || transient(err) || errs.CodeOf(err) == errs.Canceled {
		return err
	}
	s.o.Log.Error("the state of a model is lost", "model", m.row.ID, "error", err)
	s.mu.Lock()
	m.row.Corrupted = true
	s.mu.Unlock()
	return errs.Wrap(errs.Internal, err, "the state of this model is lost", "create a model from its last checkpoint")
}

// snapshotOf gives a trainer in the state of a model's snapshot.
func (s *Service) snapshotOf(m *model) (*train.Trainer, error) {
	w, err := s.worker(m.row.Base)
	if err != nil {
		return nil, err
	}
	if m.row.Snapshot == "" {
		return newTrainer(w, m.about.Spec)
	}
	return s.trainerOf(w, m.row.Snapshot, m.row.Form)
}

func (s *Service) trainerOf(w Worker, d ids.Digest, form ledger.Form) (*train.Trainer, error) {
	if form == ledger.Adapter {
		a, err := s.readAdapter(d)
		if err != nil {
			return nil, err
		}
		return importAdapter(w, a)
	}
	raw, err := s.o.Blobs.Bytes(d, train.MaxCheckpoint)
	if err != nil {
		return nil, err
	}
	c, err := train.ReadCheckpoint(raw)
	if err != nil {
		return nil, err
	}
	how := map[ledger.Form]train.Restored{ledger.Whole: train.All, ledger.State: train.Optimizer, ledger.Masters: train.Weights}
	return train.Resume(w.Passes(), w.Shape(), w.Base().MaxContext, c, how[form])
}

// sameShape refuses a checkpoint whose adapter another model's optimizer cannot hold.
func sameShape(model, checkpoint train.Spec) error {
	a, b := model, checkpoint
	a.Seed, b.Seed = 0, 0
	if !equalSpecs(a, b) {
		return errs.Newf(errs.InvalidRequest, "the checkpoint has rank %d and alpha %g, or other target modules than the model", b.Rank, b.Alpha).In("path")
	}
	return nil
}
