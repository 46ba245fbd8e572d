package harness

import (
	"context"
	"time"

	"macaron/internal/contract"
	"macaron/internal/errs"
	"macaron/internal/ids"
	"macaron/internal/record"
	"macaron/internal/repl"
	"macaron/internal/transcript"
)

// python gives the run's session, opened and brought to where the record stands.
func (r *run) python(ctx context.Context) (*repl.Session, error) {
	if r.space != nil && !r.space.Ended() {
		return r.space, nil
	}
	if r.space != nil { // killed from outside between two cells: the record brings it back
		if err := r.space.Close(); err != nil {
			return nil, err
		}
		r.space = nil
	}
	o := repl.SessionOptions{ID: r.id, Workspace: r.dir, Stubs: Stubs(r.stubDefs()), Call: r.answer, Seed: r.t.Opened.Seed, Frozen: true,
		Limits: Limits(r.contract.Sandbox)}
	pool, err := r.sandbox(ctx)
	if err != nil {
		return nil, err
	}
	journal, policy := r.journal()
	if len(journal) == 0 {
		return r.begin(ctx, pool, o)
	}
	set, err := r.variables()
	if err != nil {
		return nil, err
	}
	if set != "" {
		journal = append([]repl.Entry{{Cell: "environment", Code: set, Status: repl.OK}}, journal...)
	}
	files := r.files()
	r.space, err = pool.Restore(ctx, o, repl.Snapshot{Policy: policy, Journal: journal})
	if err == nil {
		return r.space, r.restore(files)
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	r.h.Logger.Warn("a run's Python could not be restored", "run", r.id, "err", err)
	note := record.RunNote{Note: record.NoteReset, Text: errs.As(err).Message}
	word := record.RunNote{Note: record.NoteMessage, Text: "The Python session had to be begun anew: its names are gone. Files are as they were."}
	if _, err := r.begin(ctx, pool, o); err != nil {
		return nil, err
	}
	if err := r.restore(files); err != nil {
		return nil, err
	}
	return r.space, r.append(ctx, note, word)
}

// begin opens a session in which nothing has run.
func (r *run) begin(ctx context.Context, pool *repl.Pool, o repl.SessionOptions) (*repl.Session, error) {
	s, err := pool.Session(ctx, o)
	if err != nil {
		return nil, err
	}
	r.space = s
	return s, r.environ(ctx, s)
}

// Limits are a contract's bounds of a sandbox.
func Limits(b contract.Sandbox) repl.Limits {
	return repl.Limits{MemoryMB: b.MemoryMB, PIDs: b.PIDs, CPUSeconds: b.CPUSeconds, DiskMB: b.DiskMB, WallMS: b.WallMS, OutputBytes: b.OutputBytes}
}

// journal is what the session's cells were, since its names were lost the last time, and
// the policy of the sandbox that they ran in.
func (r *run) journal() (entries []repl.Entry, policy ids.Digest) {
	r.state.Lock()
	defer r.state.Unlock()
	var reset time.Time
	for _, n := range r.t.Notes {
		if n.Note == record.NoteReset {
			reset = n.Time
		}
	}
	for _, c := range r.t.Cells() {
		if c.Ran.Status == string(repl.Died) || !c.At.After(reset) {
			continue
		}
		policy = c.Ran.Policy
		e := repl.Entry{Cell: c.ID, Code: c.Ran.Code, Now: c.Ran.Now, Status: repl.Status(c.Ran.Status)}
		for _, k := range c.Calls {
			e.Calls = append(e.Calls, callRecord(k))
		}
		entries = append(entries, e)
	}
	return entries, policy
}

// callRecord is a call of a cell as a journal has it.
func callRecord(k *transcript.Call) repl.CallRecord {
	out := repl.CallRecord{}
	if k.Called != nil {
		out.Name, out.Args = k.Called.Name, k.Called.Arguments
	}
	if b := k.Returned; b != nil {
		out.Name, out.Value = b.Name, b.Value
		if e := b.Error; e != nil {
			out.Value, out.Error = nil, &repl.CallError{Code: e.Code, Message: e.Message, Retryable: e.Retryable}
		}
	}
	return out
}
