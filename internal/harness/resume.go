package harness

import (
	"context"
	"errors"
	"os"

	"macaron/internal/disk"
	"macaron/internal/errs"
	"macaron/internal/ids"
	"macaron/internal/record"
	"macaron/internal/transcript"
)

// load brings a run back to where its record stands.
func (h *Harness) load(ctx context.Context, owner, id string, o Options) (*run, error) {
	t, err := h.Transcript(ctx, owner, id)
	if err != nil {
		return nil, err
	}
	if !t.Status.Resumable() && t.Status != record.RunRunning {
		return nil, errs.New(errs.InvalidRequest, "the run is "+string(t.Status)+", which is final", "start another one")
	}
	if held, err := h.Log.RunHeld(ctx, owner, id); err != nil || held {
		return nil, joined(err, errs.New(errs.InvalidRequest, "another process has the run under way", "wait for its end, or cancel it"))
	}
	c, err := h.Contracts.Contract(t.Head.Contract)
	if err != nil {
		return nil, err
	}
	r := &run{h: h, owner: owner, id: id, contract: c, watch: o.Watch, dir: h.workspace(id), t: t, stretch: latest(t)}
	r.head = record.Head{Owner: owner, Session: t.Head.Session, Run: id, Contract: t.Head.Contract, Revision: t.Head.Revision, Purpose: t.Head.Purpose, Consent: t.Head.Consent}
	again := t.Opened
	if err := r.equip(ctx, &again); err != nil {
		r.close()
		return nil, err
	}
	if err := r.unchanged(); err != nil {
		r.close()
		return nil, err
	}
	return r, nil
}

// unchanged holds a run to the tools that it began with: a result on record and one that
// is yet to come must mean the same.
func (r *run) unchanged() error {
	now, err := r.gate.Hash()
	if err == nil && now != r.t.Opened.Pins.Tools {
		err = errs.New(errs.InvalidRequest, "the tools are not those that the run began with", "bring the MCP servers back to what they were, or start another run")
	}
	return err
}

// resume opens the run again: decisions, what calls gave, and where the files are.
func (r *run) resume(ctx context.Context, d Decision) error {
	bodies, err := r.decided(d)
	if err != nil {
		return err
	}
	stretch := r.h.IDs.New(ids.Record)
	bodies = append(bodies, record.RunNote{Note: record.NoteResumed, Item: stretch})
	if err := r.append(ctx, bodies...); err != nil {
		return err
	}
	r.stretch = stretch
	for _, c := range r.t.Calls() {
		// Those of a cell that did not end are made again, and answered from the record.
		if c.Returned == nil || c.Called == nil || !r.t.Settled(c) {
			continue
		}
		if err := r.gate.Restore(call(c), result(*c.Returned)); err != nil {
			return err
		}
	}
	if _, err := os.Stat(r.dir); errors.Is(err, os.ErrNotExist) { // another machine's, or removed
		if err := os.MkdirAll(r.dir, 0o700); err != nil {
			return disk.Error(err, "the workspace "+r.dir+" cannot be made")
		}
		if err := r.restore(r.files()); err != nil {
			return err
		}
	}
	r.prompt = prompts(r.t)
	return nil
}

// decided are the notes of a decision about the call that is in doubt.
func (r *run) decided(d Decision) ([]record.Body, error) {
	id, note := d.Retry, record.NoteRetry
	if id == "" {
		id, note = d.AssumeDone, record.NoteAssumeDone
	}
	if id == "" {
		return nil, nil
	}
	if d.Retry != "" && d.AssumeDone != "" {
		return nil, errs.New(errs.InvalidRequest, "a call is made again or taken as done, not both", "give one of them")
	}
	if c := r.t.Call(id); c == nil || !c.InDoubt() {
		return nil, errs.New(errs.InvalidRequest, "the call "+errs.Clip(id)+" is not in doubt", "macaron run show names the one that is")
	}
	return []record.Body{record.RunNote{Note: note, Call: id}}, nil
}

// prompts is the last hop's prompt by token ids, put together from the hops that it
// continues; nil if it is not known.
func prompts(t *transcript.Run) []int32 {
	var out []int32
	var before string
	for _, turn := range t.Turns {
		b := turn.Head.Blob
		switch {
		case b == nil || len(b.Prompt) == 0:
			return nil
		case turn.Hop.Continues == "":
			out = append([]int32(nil), b.Prompt...)
		case turn.Hop.Continues == before:
			out = append(out, b.Prompt...)
		default:
			return nil
		}
		if turn != t.Last() {
			out = append(out, b.Tokens...)
		}
		before = turn.Hop.ID
	}
	return out
}

// Sweep closes as stopped the runs that a process which has ended left under way, and says
// which they are. Call it once, before anything is run.
func (h *Harness) Sweep(ctx context.Context) ([]record.RunState, error) {
	return h.sweep(ctx, h.Log.RunsLeft)
}

// SweepLost is Sweep while runs are under way: it takes over from other processes that
// ended since. With a log for one process there are none.
func (h *Harness) SweepLost(ctx context.Context) ([]record.RunState, error) {
	return h.sweep(ctx, h.Log.RunsLost)
}

func (h *Harness) sweep(ctx context.Context, which func(context.Context, int) ([]record.RunState, error)) ([]record.RunState, error) {
	left, err := which(ctx, page)
	if err != nil {
		return nil, err
	}
	var out []record.RunState
	for _, s := range left {
		t, err := h.read(ctx, s.Owner, s.Session)
		if err != nil {
			return out, err
		}
		r := &run{h: h, owner: s.Owner, id: s.Run, t: t, stretch: latest(t), cancel: func(error) {}}
		r.head = record.Head{Owner: s.Owner, Session: s.Session, Run: s.Run, Contract: t.Head.Contract, Revision: t.Head.Revision, Purpose: t.Head.Purpose, Consent: t.Head.Consent}
		totals := t.Totals
		totals.Wall += t.Worked()
		err = r.append(ctx, record.RunClosed{Status: record.RunStopped, Reason: "the process ended", Totals: totals})
		if errors.Is(err, errLost) { // another process was faster
			continue
		}
		if err != nil {
			return out, err
		}
		out = append(out, s)
	}
	return out, nil
}

// CutShort lists the runs that an orderly stop of a process has cut short (Close), which
// nobody has resumed. Those that a person stopped, or a full disk, are not among them.
func (h *Harness) CutShort(ctx context.Context) ([]record.RunState, error) {
	all, err := h.Log.RunsStopped(ctx, page)
	if err != nil {
		return nil, err
	}
	var out []record.RunState
	for _, s := range all {
		t, err := h.read(ctx, s.Owner, s.Session)
		if err != nil {
			return nil, err
		}
		if t.Closed != nil && t.Closed.Reason == errStopping.Error() {
			out = append(out, s)
		}
	}
	return out, nil
}

// Transcript folds a run of an owner.
func (h *Harness) Transcript(ctx context.Context, owner, id string) (*transcript.Run, error) {
	if err := ids.Check(ids.Run, id); err != nil {
		return nil, err
	}
	s, err := h.Log.Run(ctx, owner, id)
	if err != nil {
		return nil, err
	}
	t, err := h.read(ctx, owner, s.Session)
	if err == nil && t.Records == 0 {
		err = errs.Newf(errs.Internal, "the run %s has no beginning", id)
	}
	return t, err
}

// Report tells how a run stands.
func (h *Harness) Report(ctx context.Context, owner, id string) (Report, error) {
	t, err := h.Transcript(ctx, owner, id)
	if err != nil {
		return Report{}, err
	}
	return report(t, h.workspace(id)), nil
}

// Records gives the records of a run of an owner, those behind a seq, a page of them.
func (h *Harness) Records(ctx context.Context, owner, id string, after int64) ([]record.Record, error) {
	s, err := h.Log.Run(ctx, owner, id)
	if err != nil {
		return nil, err
	}
	return h.Log.Records(ctx, owner, s.Session, after, page)
}

// File gives a content that a run of an owner has kept: a file of its task, a snapshot or
// an output. A hash alone is no right to what it names.
func (h *Harness) File(ctx context.Context, owner, id string, digest ids.Digest) ([]byte, error) {
	t, err := h.Transcript(ctx, owner, id)
	if err != nil {
		return nil, err
	}
	for _, f := range t.Files() {
		if f.Digest == digest {
			return h.files.get(digest)
		}
	}
	return nil, errs.New(errs.NotFound, "the run has no file "+digest.Short(), "its snapshots and outputs list them")
}

// List gives an owner's runs, newest first, those opened before the given one ("": all).
func (h *Harness) List(ctx context.Context, owner, before string, limit int) ([]record.RunState, error) {
	return h.Log.Runs(ctx, owner, before, limit)
}
