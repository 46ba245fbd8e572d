// Package ownview builds what a specialist sees of a conversation: its own turns
// verbatim, and of every other specialist's turn the user's messages and the
// turn's summary, nothing else. Build is a pure function of the turns and the
// adapter, so that re-entry gives a byte-identical prefix and caches hit.
package ownview

import (
	"fmt"
	"strings"

	"macaron/internal/chat"
	"macaron/internal/contract"
	"macaron/internal/errs"
	"macaron/internal/record"
)

// Turn is what a view needs to know of a turn.
type Turn struct {
	ID       string
	Adapter  string         // name of the specialist that took it
	System   []chat.Message // the client's system texts; used of the current turn only
	Imported []chat.Message // messages that no record owns, verbatim to everybody
	User     []chat.Message // the new messages of the turn
	Trace    []chat.Message // the specialist's own messages and tool results
	Summary  string
	Final    bool   // Summary may not change any more
	Parts    []Part // of a turn that several specialists answered, which is foreign to all of them but for their parts

	Compacted []record.Compacted // what this turn's views began to shorten
}

// Part is what one of several specialists answered.
type Part struct{ Adapter, Text string }

// Build gives target's view: the system message, the history from the oldest
// turn on, and the current turn with its trace so far. Every foreign turn of the
// history needs a final summary (session.UseSummaries); a foreign turn whose final
// summary is empty shows the user's messages only. Turns that a record of the history or
// of the current turn compacts are shortened (compact.go).
func Build(c *contract.Contract, history []Turn, current Turn, target string) ([]chat.Message, error) {
	view := []chat.Message{chat.Text(chat.System, c.AnswerSystem(target, current.System))}
	short := compacted(history, current, target)
	view = append(view, contract.Omission(short.Dropped)...)
	for i, t := range history {
		if i < short.Dropped {
			continue
		}
		if t.foreign(target) && !t.Final || i < short.Turns && !t.Final {
			return nil, errs.New(errs.Internal, fmt.Sprintf("the summary of turn %s is not final", t.ID), "")
		}
		if i < short.Turns {
			view = append(view, shorten(c, t, short.Keep)...)
			continue
		}
		view = append(append(view, t.Imported...), t.User...)
		view = append(view, t.answer(c, target)...)
	}
	view = append(append(append(view, current.Imported...), current.User...), current.Trace...)
	return Sanitize(view), nil
}

// Verbatim gives the messages that stand in target's view as they came, which need no
// summary: what Build shortens, and the answers of others, are not among them.
func Verbatim(history []Turn, current Turn, target string) []chat.Message {
	var as []chat.Message
	for _, t := range history[min(compacted(history, current, target).Turns, len(history)):] {
		as = append(append(as, t.Imported...), t.User...)
		if !t.foreign(target) {
			as = append(as, t.Trace...)
		}
	}
	return append(append(append(as, current.Imported...), current.User...), current.Trace...)
}

// foreign reports whether target did not answer the turn alone.
func (t *Turn) foreign(target string) bool { return t.Adapter != target }

// answer is what target sees of the turn's answer: its own trace; of others' the summary,
// and after that the parts that are its own.
func (t *Turn) answer(c *contract.Contract, target string) []chat.Message {
	if !t.foreign(target) {
		return t.Trace
	}
	var texts []string
	if t.Summary != "" {
		texts = append(texts, c.Foreign(t.Summary))
	}
	for _, p := range t.Parts {
		if p.Adapter == target {
			texts = append(texts, p.Text)
		}
	}
	if len(texts) == 0 {
		return nil
	}
	return []chat.Message{chat.Text(chat.Assistant, strings.Join(texts, "\n\n"))}
}

// SummaryPrompt is the view that asks a turn's own specialist for its summary: the
// view after the answer and one scaffold message, which is part of no other view.
func SummaryPrompt(c *contract.Contract, history []Turn, done Turn) ([]chat.Message, error) {
	view, err := Build(c, history, done, done.Adapter)
	if err != nil {
		return nil, err
	}
	return append(view, chat.Text(chat.User, c.SummaryPrompt())), nil
}
