package session

import (
	"context"
	"sync"
	"time"

	"macaron/internal/record"
)

// soon is how long records of an open turn may wait for the commit that closes the turn.
const soon = 100 * time.Millisecond

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
	return l.hold(ctx, t, record.Batch{}, l.hop(t, h))
}

// hold is advance without the wait: the records of the batch come with the next ones of the
// turn, and at the latest after a moment.
func (l *Log) hold(ctx context.Context, t *Turn, b record.Batch, records ...record.Record) error {
	b.Records = append(b.Records, records...)
	if err := settle(b.Records); err != nil {
		return err
	}
	for _, r := range b.Records[len(b.Records)-len(records):] {
		t.apply(r)
	}
	if t.later == nil {
		ctx = context.WithoutCancel(ctx)
		t.later = &later{write: func(all []record.Record) error { return l.store.Append(ctx, record.Batch{Records: all}) }}
	}
	t.later.add(b.Records...)
	return nil
}

// Settle writes the beginning of a turn that waits for another commit: from here on others
// find the turn and its session.
func (l *Log) Settle(ctx context.Context, t *Turn) error {
	if !t.later.opens() {
		return nil
	}
	return l.advance(ctx, t, record.Batch{})
}

// opens reports whether a turn's beginning waits.
func (w *later) opens() bool {
	if w == nil {
		return false
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	return opens(w.records)
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
	w.due = nil
	if len(w.records) > 0 && w.write(w.records) == nil {
		w.records = nil
	}
}

// back returns what was taken for a commit that was not made; it is older than what waits.
func (w *later) back(taken []record.Record) {
	if len(taken) == 0 {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.records = append(taken[:len(taken):len(taken)], w.records...)
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
		w.due = nil
	}
	all := w.records
	w.records = nil
	return all
}
