package session

import (
	"context"
	"sync"
	"time"

	"macaron/internal/record"
)

// soon is how long a record of an open turn may wait for the commit that closes the turn.
const soon = 20 * time.Millisecond

// later holds records of an open turn that are not in the log yet: those of a turn that
// closes soon share its last commit, those of a longer one are written meanwhile.
type later struct {
	write func([]record.Record) error

	mu      sync.Mutex
	records []record.Record
	due     *time.Timer
}

// NoteHop is RecordHop without the wait: the hop is in the log a moment later, and at the
// latest when the turn is closed, with Close.
func (l *Log) NoteHop(ctx context.Context, t *Turn, h Served) error {
	r := l.hop(t, h)
	if err := r.Settle(); err != nil {
		return err
	}
	t.apply(r)
	if t.later == nil {
		ctx = context.WithoutCancel(ctx)
		t.later = &later{write: func(all []record.Record) error { return l.store.Append(ctx, record.Batch{Records: all}) }}
	}
	t.later.add(r)
	return nil
}

func (w *later) add(all ...record.Record) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.records = append(w.records, all...)
	if w.due == nil {
		w.due = time.AfterFunc(soon, w.flush)
	}
}

// flush writes what waits. What cannot be written now is Close's to write.
func (w *later) flush() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.records) > 0 && w.write(w.records) == nil {
		w.records = nil
	}
}

// take gives what is not written yet, for a commit that is about to be made.
func (w *later) take() []record.Record {
	if w == nil {
		return nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.due != nil {
		w.due.Stop()
	}
	all := w.records
	w.records = nil
	return all
}
