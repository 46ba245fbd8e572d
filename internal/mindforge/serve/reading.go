package serve

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

	"macaron/internal/record"
)

const (
	maxRecords = 200_000 // that are read of one trial
	page       = 2000    // records that are read at once
	// overlap is how many numbers of records are read again: one of a low number can be committed
	// behind one of a higher number.
	overlap = 256
	// afresh is how often a trial is read from its beginning: what was deleted is forgotten then, and
	// what an older turn of another process changes is found.
	afresh = 5 * time.Minute
)

// reading is what this process has read of a trial, so that a look reads what is new. Applying a
// record again changes nothing.
type reading struct {
	mu      sync.Mutex
	trial   int64
	began   time.Time // when it was read from the beginning
	records int
	seq     int64  // the last record
	turn    string // the last turn
	byID    map[string]*Conversation
	ofTurn  map[string]*Conversation
	first   map[string]string // the first turn of a conversation under the trial
}

// reading gives that of an owner's trial. There are few trials at a time; of more than fit, each is
// read from its beginning.
func (r *Releases) reading(owner string) *reading {
	r.mu.Lock()
	defer r.mu.Unlock()
	t := r.readings[owner]
	if t == nil {
		if len(r.readings) >= maxReadings {
			clear(r.readings)
		}
		t = &reading{}
		r.readings[owner] = t
	}
	return t
}

// read brings the reading up to date.
func (t *reading) read(ctx context.Context, from Traffic, owner string, trial int64, now time.Time) error {
	if t.byID == nil || t.trial != trial || now.Sub(t.began) >= afresh {
		t.trial, t.began, t.records, t.seq, t.turn = trial, now, 0, 0, ""
		t.byID, t.ofTurn, t.first = map[string]*Conversation{}, map[string]*Conversation{}, map[string]string{}
	}
	for after := max(0, t.seq-overlap); t.records < maxRecords; {
		records, err := from.TrialRecords(ctx, owner, trial, after, page)
		if err != nil {
			return err
		}
		tried, err := from.Tried(ctx, owner, trial, t.turn) // behind the records, so that each finds its turn
		if err != nil {
			return err
		}
		t.take(tried, records)
		if len(records) < page {
			break
		}
		after = t.seq
	}
	return nil
}

func (t *reading) take(tried []record.Tried, records []record.Record) {
	for _, x := range tried {
		c := t.byID[x.Conversation]
		if c == nil {
			c = &Conversation{ID: x.Conversation, Arm: x.Arm, judged: map[string]time.Time{}}
			t.byID[x.Conversation], t.first[x.Conversation] = c, x.Turn
		}
		t.ofTurn[x.Turn], t.turn = c, x.Turn
	}
	for _, r := range records {
		if c := t.ofTurn[r.Turn]; c != nil {
			c.apply(r, t.first[c.ID] == r.Turn)
		}
		if r.Seq > t.seq {
			t.seq, t.records = r.Seq, t.records+1
		}
	}
}

// conversations lists them in the order in which they came into the trial.
func (t *reading) conversations() (all []*Conversation) {
	for _, c := range t.byID {
		if !c.Opened.IsZero() {
			all = append(all, c)
		}
	}
	slices.SortFunc(all, func(a, b *Conversation) int {
		return cmp.Or(a.Opened.Compare(b.Opened), cmp.Compare(a.ID, b.ID))
	})
	return all
}
