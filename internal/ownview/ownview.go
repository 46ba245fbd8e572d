// Package ownview builds what a specialist sees of a conversation: its own turns
// verbatim, and of every other specialist's turn the user's messages and the
// turn's summary, nothing else. Build is a pure function of the turns and the
// adapter, so that re-entry gives a byte-identical prefix and caches hit.
package ownview

import (
	"fmt"

	"macaron/internal/chat"
	"macaron/internal/contract"
	"macaron/internal/errs"
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
	Final    bool // Summary may not change any more
}

// Build gives target's view: the system message, the history from the oldest
// turn on, and the current turn with its trace so far. Every foreign turn of the
// history needs a final summary (session.UseSummaries); a foreign turn whose final
// summary is empty shows the user's messages only.
func Build(c *contract.Contract, history []Turn, current Turn, target string) ([]chat.Message, error) {
	view := []chat.Message{chat.Text(chat.System, c.AnswerSystem(target, current.System))}
	for _, t := range history {
		view = append(append(view, t.Imported...), t.User...)
		switch {
		case t.Adapter == target:
			view = append(view, t.Trace...)
		case !t.Final:
			return nil, errs.New(errs.Internal, fmt.Sprintf("the summary of turn %s is not final", t.ID), "")
		case t.Summary != "":
			view = append(view, chat.Text(chat.Assistant, c.Foreign(t.Summary)))
		}
	}
	view = append(append(append(view, current.Imported...), current.User...), current.Trace...)
	return Sanitize(view), nil
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
