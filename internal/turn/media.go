package turn

import (
	"fmt"

	"macaron/internal/chat"
	"macaron/internal/ownview"
	"macaron/internal/session"
)

// media tells which views of a turn hold more than text. What a client sent turns ago is in
// them, also where a request names the turn before and brings nothing but words.
type media struct {
	position *session.Position
	some     string // kind of a part that is not text in anybody's view, or ""
}

func mediaOf(p *session.Position) media {
	m := media{position: p}
	for i := range p.History {
		t := &p.History[i]
		for _, messages := range [][]chat.Message{t.Imported, t.User, t.Trace} {
			if m.some = other(messages); m.some != "" {
				return m
			}
		}
	}
	m.some = other(ownview.Verbatim(nil, p.View(), ""))
	return m
}

// seen is the kind of such a part in target's view, or "".
func (m media) seen(target string) string {
	if m.some == "" {
		return ""
	}
	return other(ownview.Verbatim(session.Views(m.position.History), m.position.View(), target))
}

// other is the kind of the first part that is not text, or "".
func other(messages []chat.Message) string {
	for _, m := range messages {
		for _, p := range m.Parts {
			if p.Kind != "text" {
				return p.Kind
			}
		}
	}
	return ""
}

// unseen refuses a turn whose model would have to see such a part: in the request, or before it.
func unseen(q Request, kind string) error {
	for i := range q.Messages {
		if found := other(q.Messages[i : i+1]); found != "" {
			return cannot(fmt.Sprintf("messages[%d].content", i), "the model reads text only, and this message has a part of the kind "+found)
		}
	}
	e := cannot("messages", "the model reads text only, and an earlier message of this conversation has a part of the kind "+kind)
	e.Next = "start a new conversation without it, or ask an adapter whose engine takes it"
	return e
}
