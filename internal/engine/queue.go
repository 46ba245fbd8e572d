package engine

import "macaron/internal/engine/kv"

// A named session waits in a ring with all others and with the requests that name none:
// when it is its turn its oldest request is admitted, and the session goes to the end. So
// between two admissions of one session everybody who waited is admitted once, however
// many requests it has. Places in the ring are stamps of a clock; the lowest is next.

// arrive notes the place of a request that begins to wait.
func (l *loop) arrive(t *task) {
	l.clock++
	t.stamp = l.clock
	if _, waits := l.places[t.session]; !waits && t.session != "" {
		l.places[t.session] = l.clock
	}
}

// next is the index in the queue of the request to admit, -1 for none. What continues a
// choice that has begun comes first, and what yields last. A session that has its share of the running
// sequences waits, also when there is room: a newcomer shall find some.
func (l *loop) next() int {
	best, place := -1, int64(0)
	for i, t := range l.queue {
		if t.kind == labelling {
			return i
		}
		at := t.stamp
		if t.session != "" {
			at = l.places[t.session]
		}
		before := best < 0 || at < place
		if best >= 0 && t.yields != l.queue[best].yields {
			before = !t.yields
		}
		if before && l.room(t) && !l.follows(t) {
			best, place = i, at
		}
	}
	return best
}

// follows tells whether a running request computes pages that t would take from the
// cache if it began later. Then t waits: one computes what both begin with, the other
// reads it. The wait ends, because a running prompt gets rows in every few steps.
func (l *loop) follows(t *task) bool {
	for _, r := range l.running {
		if r.key != t.key || r.pending() <= 1 || r.yields && !t.yields {
			continue
		}
		begin := t.tokens[:t.reuse()]
		pages := kv.Shared(r.tokens, begin, r.sw, t.sw) / kv.PageTokens
		if pages*kv.PageTokens > r.seq.Len() && pages*kv.PageTokens > l.cache.Holds(t.key, t.sw, begin) {
			return true
		}
	}
	return false
}

// share is how many sequences of one session run at once: three quarters of all.
func (l *loop) share() int { return l.e.opts.MaxBatch - l.e.opts.MaxBatch/4 }

// room tells whether the session of a request may have another sequence run, and those that
// yield another one of theirs.
func (l *loop) room(t *task) bool {
	yielding := 0
	for _, r := range l.running {
		if t.yields && r.yields {
			yielding++
		}
	}
	return max(yielding, l.runningOf(t.session)) < l.share()
}

func (l *loop) runningOf(session string) int {
	n := 0
	for _, t := range l.running {
		if session != "" && t.session == session {
			n++
		}
	}
	return n
}

// admitted moves a session to the end of the ring, or out of it when it does not wait.
func (l *loop) admitted(session string) {
	if session == "" {
		return
	}
	l.clock++
	l.places[session] = l.clock
	l.tidy()
}

// tidy forgets the places of sessions that do not wait.
func (l *loop) tidy() {
	waits := map[string]bool{}
	for _, t := range l.queue {
		waits[t.session] = true
	}
	for s := range l.places {
		if !waits[s] {
			delete(l.places, s)
		}
	}
}
