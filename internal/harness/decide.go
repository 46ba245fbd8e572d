package harness

import (
	"context"

	"macaron/internal/errs"
	"macaron/internal/record"
	"macaron/internal/tool"
	"macaron/internal/transcript"
)

// Approve records what a person says about a call that waits. The run is resumed by Resume.
func (h *Harness) Approve(ctx context.Context, owner, id, call string, yes bool, words string) error {
	r, err := h.still(ctx, owner, id)
	if err != nil {
		return err
	}
	c := r.t.Call(call)
	if r.t.Status != record.RunWaiting || c == nil || !c.Asked || c.Approved != nil {
		return errs.New(errs.InvalidRequest, "the call "+errs.Clip(call)+" does not wait for a person", "macaron run show names the one that does")
	}
	note := record.NoteApproved
	if !yes {
		note = record.NoteRefused
	}
	return r.append(ctx, record.RunNote{Note: note, Call: call, Text: words})
}

// Cancel ends a run: at once if it stands still, at its next step if it is under way.
func (h *Harness) Cancel(ctx context.Context, owner, id string) error {
	h.mu.Lock()
	cancel := h.active[owner+"\x00"+id]
	h.mu.Unlock()
	if cancel != nil {
		cancel(errCancelled)
		return nil
	}
	r, err := h.still(ctx, owner, id)
	if err != nil {
		return err
	}
	switch {
	case r.t.Status.Resumable():
		return r.append(ctx, record.RunClosed{Status: record.RunCancelled, Reason: errCancelled.Error(), Totals: r.t.Totals})
	case r.t.Status == record.RunRunning:
		return r.append(ctx, record.RunNote{Note: record.NoteCancel})
	}
	return errs.New(errs.InvalidRequest, "the run is "+string(r.t.Status)+" already", "there is nothing to cancel")
}

// Judge keeps what a person says of a run that has ended. The last judgement is the one that stands.
func (h *Harness) Judge(ctx context.Context, owner, id string, f record.Feedback) error {
	r, err := h.still(ctx, owner, id)
	switch {
	case err != nil:
		return err
	case f.Score < -1 || f.Score > 1:
		return errs.Newf(errs.InvalidRequest, "the score is %d: use 1, -1 or 0", f.Score).In("score")
	case r.t.Closed == nil || r.t.Status == record.RunRunning:
		return errs.New(errs.InvalidRequest, "the run is "+string(r.t.Status)+": there is nothing to judge yet", "wait until it has ended")
	}
	return r.append(ctx, f)
}

// still is a run of which records are written by somebody who does not work on it.
func (h *Harness) still(ctx context.Context, owner, id string) (*run, error) {
	t, err := h.Transcript(ctx, owner, id)
	if err != nil {
		return nil, err
	}
	r := &run{h: h, owner: owner, id: id, t: t, stretch: latest(t), cancel: func(error) {}}
	r.head = record.Head{Owner: owner, Session: t.Head.Session, Run: id, Contract: t.Head.Contract, Revision: t.Head.Revision, Purpose: t.Head.Purpose, Consent: t.Head.Consent}
	return r, nil
}

// call is a call of the record in the gate's words.
func call(c *transcript.Call) tool.Call {
	return tool.Call{ID: c.ID, Name: c.Called.Name, Arguments: c.Called.Arguments, Parent: c.Called.Parent}
}
