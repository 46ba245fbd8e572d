package engine

import (
	"slices"
	"time"

	"macaron/internal/engine/kv"
)

// A training that samples beside conversations has many sequences at work, and a step with
// all of them takes several times as long as one with those that somebody waits for. So
// sequences that yield stand still while others run; in one step of patience they go along,
// so that an answer without end does not stop a training. For as long as somebody was here a
// moment ago, steps of the yielding ones take few rows of prompts: a newcomer waits for the
// end of one. What is sampled does not depend on any of it.
const (
	patience     = 16
	moment       = 10 * time.Second
	yieldingRows = 32
)

// due gives the tasks of the next step, and its bounds.
func (l *loop) due(now time.Time) ([]*task, rowLimits) {
	others := slices.DeleteFunc(slices.Clone(l.running), func(t *task) bool { return t.yields })
	if len(others) > 0 {
		l.attended = now
	}
	switch {
	case len(others) == len(l.running):
		return l.running, l.rows
	case len(others) > 0 && l.passed < patience-1:
		l.passed++
		return others, l.rows
	}
	l.passed = 0
	rows := l.rows
	if now.Sub(l.attended) < moment {
		rows.prompt = min(rows.prompt, fewRows(l.running))
		rows.mixed = min(rows.mixed, rows.prompt)
	}
	return l.running, rows
}

// fewRows is the least bound that lets a prompt move on: chunks end at page borders or with
// the prompt.
func fewRows(running []*task) int {
	least := kv.PageTokens
	for _, t := range running {
		if n := t.pending(); n > 1 {
			least = min(least, n)
		}
	}
	return max(yieldingRows, least)
}
