package mint

import "time"

// fair gives owners turns by the time that they have used: whoever has used least is next.
// One who comes anew begins level with whoever has used least, not with a claim on the time
// when it wanted nothing. The methods are called with Service.mu held.
type fair struct {
	used   map[string]time.Duration
	queues map[string][]*future // of samples; training waits at its models
}

// add puts a future behind those of its owner.
func (q *fair) add(f *future) {
	if q.queues == nil {
		q.queues = map[string][]*future{}
	}
	owner := f.op.Owner
	if len(q.queues[owner]) == 0 {
		q.enter(owner, func(o string) bool { return len(q.queues[o]) > 0 })
	}
	q.queues[owner] = append(q.queues[owner], f)
}

// enter lifts an owner who wants something again to the least that anybody active has used.
func (q *fair) enter(owner string, active func(string) bool) {
	if q.used == nil {
		q.used = map[string]time.Duration{}
	}
	least, any := time.Duration(0), false
	for o, t := range q.used {
		if o != owner && active(o) && (!any || t < least) {
			least, any = t, true
		}
	}
	if any {
		q.used[owner] = max(q.used[owner], least)
	}
}

// take gives the oldest future of the owner whose turn it is, nil if there is none.
func (q *fair) take() *future {
	owner, any := "", false
	for o, all := range q.queues {
		if len(all) > 0 && (!any || q.before(o, owner)) {
			owner, any = o, true
		}
	}
	if !any {
		return nil
	}
	f := q.queues[owner][0]
	if q.queues[owner] = q.queues[owner][1:]; len(q.queues[owner]) == 0 {
		delete(q.queues, owner)
	}
	return f
}

// before tells whether an owner's turn comes before another's.
func (q *fair) before(a, b string) bool {
	if q.used[a] != q.used[b] {
		return q.used[a] < q.used[b]
	}
	return a < b
}

// spend notes what an owner has used.
func (q *fair) spend(owner string, t time.Duration) {
	if q.used == nil {
		q.used = map[string]time.Duration{}
	}
	q.used[owner] += t
}
