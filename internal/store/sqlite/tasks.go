package sqlite

import (
	"cmp"
	"container/heap"
	"context"
	"sync"
	"time"

	"macaron/internal/record"
	"macaron/internal/store/logsql"
)

// tasks are the queued summaries, in memory beside the table: which of them there are is in
// the file, who holds them is not, since a lease ends with the only process.
type tasks struct {
	mu  sync.Mutex
	due byDue
	at  map[name]*task
}

type task struct {
	record.Ref
	attempts int
	due      int64 // nanoseconds; nobody may take it before
	index    int   // in the heap
}

// load reads the table at the start.
func (q *tasks) load(ctx context.Context, db logsql.Reader) error {
	q.at = map[name]*task{}
	return db.Query(ctx, func(r logsql.Row) error {
		var t record.Ref
		err := r.Scan(&t.Owner, &t.Session, &t.Turn)
		q.add(t)
		return err
	}, `SELECT owner, session, turn FROM summaries`)
}

func (q *tasks) add(r record.Ref) {
	key := name{r.Owner, r.Turn}
	if q.at[key] == nil {
		q.at[key] = &task{Ref: r}
		heap.Push(&q.due, q.at[key])
	}
}

func (q *tasks) remove(t *task) {
	heap.Remove(&q.due, t.index)
	delete(q.at, name{t.Owner, t.Turn})
}

// took notes a batch that was committed.
func (q *tasks) took(queue, done []record.Ref) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, r := range queue {
		q.add(r)
	}
	for _, r := range done {
		if t := q.at[name{r.Owner, r.Turn}]; t != nil {
			q.remove(t)
		}
	}
}

// erased drops the tasks of a session.
func (q *tasks) erased(owner, session string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, t := range q.at {
		if t.Owner == owner && t.Session == session {
			q.remove(t)
		}
	}
}

// set moves a task to another time.
func (q *tasks) set(t *task, due int64) {
	t.due = due
	heap.Fix(&q.due, t.index)
}

// Lease takes up to limit queued summaries that nobody holds at now, the longest
// waiting first, until the given time.
func (s *Store) Lease(_ context.Context, now, until time.Time, limit int) (out []record.Task, err error) {
	q := &s.tasks
	q.mu.Lock()
	defer q.mu.Unlock()
	for len(out) < limit && len(q.due) > 0 && q.due[0].due <= now.UnixNano() {
		t := q.due[0]
		t.attempts++
		q.set(t, until.UnixNano())
		out = append(out, record.Task{Owner: t.Owner, Session: t.Session, Turn: t.Turn, Attempt: t.attempts, Until: until.UTC()})
		if until.UnixNano() <= now.UnixNano() {
			break // it is due again at once
		}
	}
	return out, nil
}

// Release gives a lease back, to be taken again at the given time.
func (s *Store) Release(_ context.Context, owner, turn string, again time.Time) error {
	s.tasks.mu.Lock()
	defer s.tasks.mu.Unlock()
	if t := s.tasks.at[name{owner, turn}]; t != nil {
		s.tasks.set(t, again.UnixNano())
	}
	return nil
}

// ReleaseAll ends every lease and wait: for the start of the only process.
func (s *Store) ReleaseAll(context.Context) error {
	s.tasks.mu.Lock()
	defer s.tasks.mu.Unlock()
	for _, t := range s.tasks.at {
		s.tasks.set(t, 0)
	}
	return nil
}

// byDue is a heap by when tasks may be taken, then by turn, whose ids are in the order in which
// turns began: no owner's tasks stand before another's.
type byDue []*task

func (h byDue) Len() int { return len(h) }
func (h byDue) Less(i, j int) bool {
	a, b := h[i], h[j]
	return cmp.Or(cmp.Compare(a.due, b.due), cmp.Compare(a.Turn, b.Turn), cmp.Compare(a.Owner, b.Owner)) < 0
}
func (h byDue) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].index, h[j].index = i, j
}
func (h *byDue) Push(x any) {
	t := x.(*task)
	t.index = len(*h)
	*h = append(*h, t)
}
func (h *byDue) Pop() any {
	last := len(*h) - 1
	t := (*h)[last]
	(*h)[last] = nil
	*h = (*h)[:last]
	return t
}
