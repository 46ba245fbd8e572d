package mint

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"time"

	"macaron/internal/errs"
	"macaron/internal/ids"
	"macaron/internal/mint/ledger"
	"macaron/internal/train"
)

// model is one under training whose session lives.
type model struct {
	row   ledger.Model
	about about

	ahead    map[int64]*future // journaled operations behind row.Applied, by number
	running  bool              // somebody works on it, and has trainer to itself
	training bool              // that is an operation of it
	retry    time.Time         // not before then, after the store had failed
	trouble  string            // why it had failed; empty once something was kept again

	trainer *train.Trainer // nil while it is not in memory
	work    time.Duration  // since the snapshot: what it takes to carry out again
	ran     time.Time      // when it was worked on last
	passes  passes         // since the last step

	written chan struct{} // closed when the store has it, or it could not be kept
	failed  error         // why not, before written is closed
}

// about is what else the store keeps of a model or a checkpoint.
type about struct {
	Spec     train.Spec      `json:"spec"`
	Metadata json.RawMessage `json:"user_metadata,omitempty"`
	Revision ids.Digest      `json:"revision,omitempty"` // of the catalogue, that it is
	From     ids.Digest      `json:"from,omitempty"`     // the revision that training began from, or the last one that it published
}

// origin is the revision that what begins here comes from.
func (a about) origin() ids.Digest { return cmp.Or(a.Revision, a.From) }

func (a about) bytes() ([]byte, error) {
	b, err := json.Marshal(a)
	if err == nil && len(b) > maxAbout {
		err = errs.Newf(errs.TooLarge, "the metadata has more than %d bytes", maxAbout).In("user_metadata")
	}
	return b, err
}

func modelID(session string, n int64) string   { return fmt.Sprintf("%s:train:%d", session, n) }
func createID(session string, n int64) string  { return fmt.Sprintf("%s:create:%d", session, n) }
func samplerID(session string, n int64) string { return fmt.Sprintf("%s:sample:%d", session, n) }
func opID(of string, n int64) string           { return fmt.Sprintf("%s:%d", of, n) }

// CreateModel begins a training run.
func (s *Service) CreateModel(ctx context.Context, owner string, r CreateModel) (Promise, error) {
	w, err := s.worker(r.Base)
	if err != nil {
		return Promise{}, err
	}
	if r.Optimizer != "" && r.Optimizer != "adamw" {
		return Promise{}, errs.New(errs.Unsupported, fmt.Sprintf("there is no optimizer %q here", errs.Clip(r.Optimizer)), "use adamw").In("optimizer_config")
	}
	if r.Unseeded {
		r.Spec.Seed = draw()
	}
	takes, err := r.Spec.StateBytes(w.Shape())
	if err == nil {
		err = s.o.Limits.holds(takes)
	}
	if err != nil {
		return Promise{}, err
	}
	t, err := newTrainer(w, r.Spec)
	if err != nil {
		return Promise{}, err
	}
	r.Spec = t.Spec()
	t.Close()
	row := ledger.Model{Owner: owner, Session: r.Session, Base: r.Base}
	return s.create(ctx, row, r.Seq, about{Spec: r.Spec, Metadata: r.Metadata}, OpCreate)
}

// create enters a model and answers with a promise that is resolved already.
func (s *Service) create(ctx context.Context, row ledger.Model, n int64, a about, op Op) (Promise, error) {
	s.mu.Lock()
	_, err := s.alive(ctx, row.Owner, row.Session)
	if err == nil && n == NoSeq {
		n, err = s.freeModel(ctx, row.Owner, row.Session)
	}
	if err == nil && n < 0 {
		err = errs.Newf(errs.InvalidRequest, "a model's number is %d", n).In("model_seq_id")
	}
	row.ID = modelID(row.Session, n)
	at := createID(row.Session, n)
	known, made := s.models[row.ID], false
	if err == nil && known == nil {
		made, err = s.made(ctx, row.Owner, row.ID)
	}
	if err == nil && made {
		s.mu.Unlock()
		return Promise{Request: at, Model: row.ID}, nil
	}
	if err == nil && known == nil {
		err = s.roomForModel(row.Owner)
	}
	now := s.o.Clock.Now().UTC()
	row.Created, row.Used = now, now
	row.About, err = orErr(err, a.bytes)
	m := &model{row: row, about: a, ahead: map[int64]*future{}, running: true, written: make(chan struct{})}
	if err == nil && known == nil {
		s.models[row.ID] = m // whoever comes with the same number finds it
	}
	s.mu.Unlock()
	if err != nil {
		return Promise{}, err
	}
	if known != nil {
		<-known.written
		return Promise{Request: at, Model: row.ID}, known.failed
	}
	return Promise{Request: at, Model: row.ID}, s.enter(ctx, m, at, op)
}

// made tells whether the store has a model that memory has not: one that was unloaded, or that
// another process made. Its number is taken; a row in its place would begin its operations, which
// are on record, anew. s.mu is held.
func (s *Service) made(ctx context.Context, owner, id string) (bool, error) {
	_, err := s.o.Store.Model(ctx, owner, id)
	if errs.CodeOf(err) == errs.NotFound {
		return false, nil
	}
	return err == nil, err
}

// freeModel is the least number that no model of a session has had; s.mu is held.
func (s *Service) freeModel(ctx context.Context, owner, session string) (n int64, err error) {
	for taken := true; taken && err == nil; n++ {
		id := modelID(session, n)
		if taken = s.models[id] != nil; !taken {
			taken, err = s.made(ctx, owner, id)
		}
	}
	return n - 1, err
}

// enter writes a new model and its promise, which is kept with that.
func (s *Service) enter(ctx context.Context, m *model, at string, op Op) error {
	row := m.row
	raw, err := pack(Result{Model: row.ID})
	if err == nil {
		err = s.o.Store.Write(ctx, ledger.Change{Models: []ledger.Model{row}, Promises: []ledger.Op{{Owner: row.Owner, ID: at, Session: row.Session, Model: row.ID,
			Kind: string(op), State: string(Done), Result: raw, Bytes: int64(len(raw)), Created: row.Created, Done: row.Created}}})
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	m.running = false
	if m.failed = err; err != nil {
		delete(s.models, row.ID)
	}
	close(m.written)
	return err
}

func orErr[T any](err error, next func() (T, error)) (v T, _ error) {
	if err != nil {
		return v, err
	}
	return next()
}

// roomForModel refuses one more when there are enough; s.mu is held.
func (s *Service) roomForModel(owner string) error {
	n := 0
	for _, m := range s.models {
		if m.row.Owner == owner && !m.row.Unloaded {
			n++
		}
	}
	if n >= s.o.Limits.Models {
		return full(fmt.Sprintf("%d models are under training", n), s.o.Limits.Models, "unload one, or finish its session")
	}
	return nil
}

// live gives a model that takes operations; s.mu is held.
func (s *Service) live(ctx context.Context, owner, id string) (*model, error) {
	if s.ready != nil {
		return nil, s.ready
	}
	m := s.models[id]
	if m == nil || m.row.Owner != owner {
		row, err := s.o.Store.Model(ctx, owner, id)
		if err != nil {
			return nil, err
		}
		if _, err := s.alive(ctx, owner, row.Session); err != nil {
			return nil, err
		}
		if row.Unloaded {
			return nil, unloaded(id)
		}
		return s.know(row) // of another process, which lost its hold at that moment
	}
	if m.row.Unloaded {
		return nil, unloaded(id)
	}
	_, err := s.alive(ctx, owner, m.row.Session)
	return m, err
}

func unloaded(id string) error {
	return errs.New(errs.Gone, "the model "+errs.Clip(id)+" was unloaded", "create a new one, from a checkpoint")
}

// Model gives a training run.
func (s *Service) Model(ctx context.Context, owner, id string) (Model, error) {
	row, err := s.o.Store.Model(ctx, owner, id)
	if err != nil {
		return Model{}, err
	}
	return s.describe(ctx, row)
}

// Models lists an owner's training runs, the newest first.
func (s *Service) Models(ctx context.Context, owner string, p Page) (all []Model, total int, err error) {
	rows, total, err := s.o.Store.Models(ctx, owner, p.checked())
	for _, row := range rows {
		m, err := s.describe(ctx, row)
		if err != nil {
			return nil, 0, err
		}
		all = append(all, m)
	}
	return all, total, err
}

func (s *Service) describe(ctx context.Context, row ledger.Model) (Model, error) {
	s.mu.Lock()
	if m := s.models[row.ID]; m != nil && m.row.Owner == row.Owner {
		row = m.row
	}
	s.mu.Unlock()
	out, err := ModelOf(row)
	if err != nil {
		return Model{}, err
	}
	for kind, to := range map[Kind]**Checkpoint{Training: &out.Training, Sampling: &out.Sampling} {
		c, err := s.o.Store.Last(ctx, row.Owner, row.ID, string(kind))
		if errs.CodeOf(err) == errs.NotFound {
			continue
		}
		if err != nil {
			return Model{}, err
		}
		found, err := checkpointOf(c)
		if err != nil {
			return Model{}, err
		}
		*to = &found
	}
	return out, nil
}
