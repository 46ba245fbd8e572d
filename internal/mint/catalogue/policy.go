package catalogue

import (
	"context"
	"errors"
	"time"

	"macaron/internal/adapter"
	"macaron/internal/errs"
	"macaron/internal/ids"
	"macaron/internal/record"
)

// Move asks for a pointer to be moved.
type Move struct {
	Name     string     // of the adapter
	Alias    string     // empty: Champion
	Revision ids.Digest // where to; empty: nowhere, and the contract's own source is served again
	Contract ids.Digest // in force now
	// Version is the one that the caller has seen: if there was a move since, this one is
	// refused. Negative: whatever it is.
	Version int64
	Reason  string
	By      string
	Links
	// Operator: whoever asks has the home itself, so that its links need not be the owner's; the
	// home must have them.
	Operator bool
}

// Links are what a policy record holds beside the revision. What is empty stays as the
// record has it.
type Links struct {
	Checkpoint ids.Digest
	Optimizer  ids.Digest
	Rollouts   []string
	Exported   []ids.Digest
}

// maxRollouts bounds the records that one move names.
const maxRollouts = 4096

// Promote makes a revision the champion of its adapter, and what was champion the previous
// one, in one commit. From then on new turns are served it; turns that have begun end as
// they began.
func (c *Catalogue) Promote(ctx context.Context, owner string, m Move) (adapter.Pointer, error) {
	m.Alias = adapter.Champion
	return c.move(ctx, owner, m)
}

// Rollback makes the previous champion the champion again. Before the first one the
// contract's own source was served, and it is again.
func (c *Catalogue) Rollback(ctx context.Context, owner string, m Move) (adapter.Pointer, error) {
	now, err := c.Pointers(ctx, owner, m.Name)
	if err != nil {
		return adapter.Pointer{}, err
	}
	before, ok := find(now, adapter.Previous)
	if !ok {
		return adapter.Pointer{}, errs.New(errs.NotFound, "the adapter "+errs.Clip(m.Name)+" never had a champion: its contract's source is served", "`macaron mint revisions` lists what can be promoted")
	}
	m.Revision = before.Revision
	return c.Promote(ctx, owner, m)
}

// Alias moves a pointer that is not served, such as canary.
func (c *Catalogue) Alias(ctx context.Context, owner string, m Move) (adapter.Pointer, error) {
	if m.Alias == "" || m.Alias == adapter.Champion || m.Alias == adapter.Previous {
		return adapter.Pointer{}, errs.New(errs.InvalidRequest, "the aliases champion and previous are moved by promote and rollback", "name another alias, such as canary").In("alias")
	}
	return c.move(ctx, owner, m)
}

// Pointers lists an owner's pointers; of one adapter, unless name is empty.
func (c *Catalogue) Pointers(ctx context.Context, owner, name string) ([]adapter.Pointer, error) {
	return c.Store.Pointers(ctx, owner, name)
}

// History lists the moves of an adapter's pointers, the latest first; of one, unless alias
// is empty.
func (c *Catalogue) History(ctx context.Context, owner, name, alias string, limit int) ([]adapter.Pointer, error) {
	return c.Store.Moves(ctx, owner, name, alias, limit)
}

func (c *Catalogue) move(ctx context.Context, owner string, m Move) (adapter.Pointer, error) {
	if err := m.check(); err != nil {
		return adapter.Pointer{}, err
	}
	to := adapter.Published{}
	if m.Revision != "" {
		var err error
		if to, err = c.Store.PublishedRevision(ctx, owner, m.Revision); err == nil && m.Alias == adapter.Champion {
			_, err = c.Dir(ctx, owner, m.Revision) // the engine will want it
		}
		if err != nil {
			return adapter.Pointer{}, err
		}
	}
	if err := c.linked(ctx, owner, m, to); err != nil {
		return adapter.Pointer{}, err
	}
	for {
		p, err := c.moveOnce(ctx, owner, m, to)
		if m.Version < 0 && errors.Is(err, record.ErrConflict) {
			continue // somebody else was quicker, and the caller does not mind
		}
		if errors.Is(err, record.ErrConflict) {
			err = moved(m.Name, m.Alias)
		}
		return p, err
	}
}

// linked refuses training state that is not the owner's: a record keeps what it links, and
// an export carries it out. Of an operator it refuses what the home does not have.
func (c *Catalogue) linked(ctx context.Context, owner string, m Move, to adapter.Published) error {
	for at, d := range map[string]ids.Digest{"checkpoint": m.Checkpoint, "optimizer": m.Optimizer} {
		var err error
		switch {
		case d == "":
		case m.Operator:
			err = c.held(at, d)
		case d != to.Checkpoint:
			err = c.owned(ctx, owner, at, d)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// owned refuses a state that no checkpoint of an owner has.
func (c *Catalogue) owned(ctx context.Context, owner, at string, d ids.Digest) error {
	owns, err := c.Store.OwnsState(ctx, owner, d)
	if err == nil && !owns {
		err = errs.New(errs.NotFound, "no checkpoint of yours has the state "+d.Short(), "leave it out, or save the state first").In(at)
	}
	return err
}

// held refuses a state that is not in this home.
func (c *Catalogue) held(at string, d ids.Digest) error {
	if c.State == nil || !c.State(d) {
		return errs.New(errs.NotFound, "this home has no training state "+d.Short(), "leave it out, or bring the state with `macaron mint import` of an artifact that has it").In(at)
	}
	return nil
}

func moved(name, alias string) error {
	return errs.New(errs.InvalidRequest, "the "+alias+" of "+name+" was moved by somebody else meanwhile", "look at `macaron mint history "+name+"` and decide again").In("version")
}

func (m *Move) check() error {
	if err := adapter.CheckName(m.Name); err != nil {
		return err
	}
	if err := adapter.CheckName(m.Alias); err != nil {
		return err
	}
	if len(m.Rollouts) > maxRollouts {
		return errs.Newf(errs.TooLarge, "a move names %d rollouts; %d are possible", len(m.Rollouts), maxRollouts)
	}
	if len(m.Reason) > 4096 {
		return errs.Newf(errs.TooLarge, "the reason has %d bytes; 4096 are possible", len(m.Reason))
	}
	for _, d := range append([]ids.Digest{m.Contract, m.Checkpoint, m.Optimizer}, m.Exported...) {
		if d != "" {
			if _, err := ids.ParseDigest(string(d)); err != nil {
				return err
			}
		}
	}
	return nil
}

func (c *Catalogue) moveOnce(ctx context.Context, owner string, m Move, to adapter.Published) (adapter.Pointer, error) {
	all, err := c.Store.Pointers(ctx, owner, m.Name)
	if err != nil {
		return adapter.Pointer{}, err
	}
	now, _ := find(all, m.Alias)
	if m.Version >= 0 && now.Version != m.Version {
		return adapter.Pointer{}, moved(m.Name, m.Alias)
	}
	if m.Checkpoint == "" && to.Checkpoint != "" && c.State != nil && c.State(to.Checkpoint) {
		m.Checkpoint = to.Checkpoint
	}
	next := m.pointer(owner, now, to, c.Clock.Now().UTC())
	moves := []adapter.Pointer{next}
	if m.Alias == adapter.Champion && now.Revision != next.Revision { // also from and to the contract's source
		before, _ := find(all, adapter.Previous)
		was := now
		was.Owner, was.Name = owner, m.Name
		was.Alias, was.Version, was.At, was.Reason, was.By = adapter.Previous, before.Version+1, next.At, next.Reason, next.By
		moves = append(moves, was)
	}
	if err := c.Store.MovePointers(ctx, owner, moves, c.Parents); err != nil {
		return adapter.Pointer{}, err
	}
	c.current.forget(owner)
	return next, nil
}

// pointer is what a pointer is after the move.
func (m *Move) pointer(owner string, now adapter.Pointer, to adapter.Published, at time.Time) adapter.Pointer {
	p := adapter.Pointer{Owner: owner, Name: m.Name, Alias: m.Alias, Version: now.Version + 1, Revision: m.Revision, Contract: m.Contract,
		Base: to.Base, Rank: to.Rank, Alpha: to.Alpha, Targets: to.Targets,
		Checkpoint: now.Checkpoint, Optimizer: now.Optimizer, Rollouts: now.Rollouts, Exported: now.Exported, Reason: m.Reason, By: m.By, At: at}
	if m.Checkpoint != "" {
		p.Checkpoint, p.Optimizer = m.Checkpoint, m.Optimizer // a state of before belongs to the checkpoint of before
	}
	if m.Rollouts != nil {
		p.Rollouts = m.Rollouts
	}
	if m.Exported != nil {
		p.Exported = m.Exported
	}
	return p
}

func find(all []adapter.Pointer, alias string) (adapter.Pointer, bool) {
	for _, p := range all {
		if p.Alias == alias {
			return p, true
		}
	}
	return adapter.Pointer{}, false
}
