package repl

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"

	"macaron/internal/canonical"
	"macaron/internal/errs"
	"macaron/internal/ids"
)

// Snapshot is a session between two cells. It is JSON and holds no pickle that this
// process would read. Files of the workspace are not in it.
type Snapshot struct {
	Policy  ids.Digest `json:"policy"` // of the sandbox; Restore demands the same one
	Journal []Entry    `json:"journal"`
	Kept    *Kept      `json:"kept,omitempty"` // the fast way, when nothing is lost by it
	Lost    []string   `json:"lost,omitempty"` // names that only a replay brings back
}

// Snapshot takes the journal and what of the namespace can be kept without it.
func (s *Session) Snapshot(ctx context.Context) (Snapshot, error) {
	s.mu.Lock()
	if err := s.ready(); err != nil {
		s.mu.Unlock()
		return Snapshot{}, err
	}
	s.busy = true
	eng := s.engine
	snap := Snapshot{Policy: s.Policy(), Journal: cloneJournal(s.journal)}
	s.mu.Unlock()
	defer s.finish()
	m, err := s.ask(ctx, eng, request{Op: "keep"}, "kept")
	if err != nil {
		return Snapshot{}, err
	}
	snap.Lost = m.Lost
	if len(m.Lost) == 0 {
		snap.Kept = &m.Kept
	}
	return snap, nil
}

func cloneJournal(list []Entry) []Entry {
	out := slices.Clone(list)
	for i := range out {
		out[i].Calls = slices.Clone(out[i].Calls)
	}
	return out
}

// Policy is the hash of all that decides what the session may do: backend, layers,
// limits, seed, clock and tools.
func (s *Session) Policy() ids.Digest {
	tools := []string{}
	for _, t := range s.opts.Stubs {
		tools = append(tools, fmt.Sprintf("%s%q", t.Name, t.Params))
	}
	hash, err := canonical.Hash(map[string]any{"backend": s.pool.backend.policy(), "limits": fmt.Sprint(s.limits), "seed": fmt.Sprint(s.opts.Seed), "frozen": s.opts.Frozen, "tools": tools})
	if err != nil {
		panic("the policy of a sandbox has no canonical form: " + err.Error()) // strings and a boolean
	}
	return hash
}

// Restore opens a session and brings it to where the snapshot was taken: from the kept
// namespace, or by running the journal's cells again with the recorded results of their
// tools. A cell that does otherwise than recorded fails the restore: nothing is guessed,
// and no tool is called.
func (p *Pool) Restore(ctx context.Context, o SessionOptions, snap Snapshot) (*Session, error) {
	s, err := p.Session(ctx, o)
	if err != nil {
		return nil, err
	}
	if s.Policy() != snap.Policy {
		err = errs.New(errs.InvalidRequest, fmt.Sprintf("the snapshot was taken under another policy of the sandbox (%s) than this session has (%s)", snap.Policy.Short(), s.Policy().Short()),
			"open the session with the backend, limits, seed, clock and tools that it had")
	} else if snap.Kept != nil {
		err = s.load(ctx, *snap.Kept)
	} else {
		err = s.again(ctx, snap.Journal)
	}
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	s.mu.Lock()
	s.journal = cloneJournal(snap.Journal)
	s.mu.Unlock()
	return s, nil
}

func (s *Session) load(ctx context.Context, k Kept) error {
	s.mu.Lock()
	eng := s.engine
	s.mu.Unlock()
	if eng == nil {
		return errs.New(errs.Canceled, "the session's Python ended before the snapshot was loaded", "")
	}
	_, err := s.ask(ctx, eng, request{Op: "load", Kept: k}, "loaded")
	return err
}

// again runs recorded cells. Those that died are not run: their namespace went with them.
func (s *Session) again(ctx context.Context, journal []Entry) error {
	for _, e := range journal {
		r := &replayed{now: e.Now, calls: slices.Clone(e.Calls)}
		s.mu.Lock()
		s.replay = r
		s.mu.Unlock()
		out, err := s.Run(ctx, Cell{ID: e.Cell, Code: e.Code})
		s.mu.Lock()
		s.replay = nil
		s.mu.Unlock()
		if err != nil {
			return err
		}
		err = r.check()
		if err == nil && out.Status != e.Status {
			err = fmt.Errorf("another end than was recorded: %s", out.Reason)
		}
		if err != nil {
			return errs.Wrap(errs.InvalidRequest, err, fmt.Sprintf("the replay of cell %s does not do what was recorded: it ended as %s, recorded was %s", e.Cell, out.Status, e.Status),
				"begin the session anew: what the cell does depends on more than its code and its tools")
		}
	}
	return nil
}

// replayed answers the calls of one cell from its record.
type replayed struct {
	now float64

	mu    sync.Mutex
	calls []CallRecord // not yet asked for
	wrong []string
}

// answer gives the record of the same call: the order between threads may differ.
func (r *replayed) answer(_ int, c CallRecord) CallRecord {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i, old := range r.calls {
		if old.Name == c.Name && sameJSON(old.Args, c.Args) {
			r.calls = slices.Delete(r.calls, i, i+1)
			return old
		}
	}
	r.wrong = append(r.wrong, c.Name)
	return CallRecord{Name: c.Name, Args: c.Args, Error: &CallError{Code: "replay", Message: "this call was not made when the cell was recorded"}}
}

func (r *replayed) check() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.wrong) > 0 || len(r.calls) > 0 {
		return fmt.Errorf("calls that were not recorded: %q; recorded and not made: %d", r.wrong, len(r.calls))
	}
	return nil
}

func sameJSON(a, b json.RawMessage) bool {
	var x, y bytes.Buffer
	return json.Compact(&x, a) == nil && json.Compact(&y, b) == nil && bytes.Equal(x.Bytes(), y.Bytes())
}
