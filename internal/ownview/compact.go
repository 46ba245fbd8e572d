package ownview

import (
	"strings"

	"macaron/internal/chat"
	"macaron/internal/contract"
	"macaron/internal/record"
)

// compacted is the last record about target: how many of the oldest turns its view
// shortens, and how many of those it leaves out.
func compacted(history []Turn, current Turn, target string) record.Compacted {
	var last record.Compacted
	at := func(all []record.Compacted) {
		for _, r := range all {
			if r.Adapter == target {
				last = r
			}
		}
	}
	for _, t := range history {
		at(t.Compacted)
	}
	at(current.Compacted)
	return last
}

// shorten is a turn with its texts clipped and its answer as a summary, whoever gave it.
func shorten(c *contract.Contract, t Turn, keep int) []chat.Message {
	var said []string
	for _, m := range append(append([]chat.Message(nil), t.Imported...), t.User...) {
		if text := m.Text(); m.Role == chat.User && text != "" {
			said = append(said, text)
		}
	}
	view := []chat.Message{chat.Text(chat.User, contract.Clip(strings.Join(said, "\n"), keep))}
	if t.Summary != "" {
		view = append(view, chat.Text(chat.Assistant, c.Foreign(t.Summary)))
	}
	return view
}
