package session

import (
	"crypto/sha256"
	"encoding/binary"
	"strings"

	"macaron/internal/canonical"
	"macaron/internal/chat"
)

// A conversation is known by a hash chain over its messages: each link is the
// SHA-256 of the link before it and the message's identity, so that a link names
// the message and all that came before. System messages are not part of it.
// docs/formats/log.md gives the bytes.
type link = [32]byte

// extend adds a message to a chain.
func extend(before link, m chat.Message) link {
	if m.Role == chat.System {
		return before
	}
	h := hasher{append(make([]byte, 0, 512), before[:]...)}
	h.identity(m)
	return sha256.Sum256(h.bytes)
}

// walk adds messages to a chain.
func walk(from link, messages []chat.Message) link {
	for _, m := range messages {
		from = extend(from, m)
	}
	return from
}

// end is the chain after whole turns.
func end(turns []Turn) link {
	var at link
	known := len(turns) // turns[:known] are behind at
	for known > 0 && turns[known-1].after == nil {
		known--
	}
	if known > 0 {
		at = *turns[known-1].after
	}
	for i := known; i < len(turns); i++ {
		at = walk(turns[i].begin(at), turns[i].Trace)
	}
	return at
}

// begin is the chain before the turn's trace.
func (t *Turn) begin(from link) link { return walk(walk(from, t.Imported), t.User) }

// same reports whether two messages have one identity.
func same(a, b chat.Message) bool { return extend(link{}, a) == extend(link{}, b) }

// hasher gathers what is hashed.
type hasher struct{ bytes []byte }

// field writes a length (8 bytes, little-endian) and the bytes.
func (h *hasher) field(s string) {
	h.bytes = binary.LittleEndian.AppendUint64(h.bytes, uint64(len(s)))
	h.bytes = append(h.bytes, s...)
}

// identity is what clients keep of a message when they send it again: neither
// reasoning nor the layout of JSON, and of an assistant's text not the outer space.
func (h *hasher) identity(m chat.Message) {
	h.field(string(m.Role))
	if m.Role == chat.User {
		h.field(m.Name)
	} else {
		h.field("")
	}
	for _, p := range m.Parts {
		text := p.Text
		if m.Role == chat.Assistant {
			text = strings.TrimSpace(text)
		}
		if p.Kind == "text" && text == "" {
			continue
		}
		h.field("part")
		h.field(p.Kind)
		h.field(text)
		h.field(normal(string(p.Raw)))
	}
	for _, c := range m.ToolCalls {
		h.field("call")
		h.field(c.ID)
		h.field(c.Name)
		h.field(normal(c.Arguments))
	}
	h.field("answers")
	h.field(m.ToolCallID)
}

// normal is the canonical form of a JSON text; what is no JSON stays as it is.
func normal(text string) string {
	text = strings.TrimSpace(text)
	if text == "" {
		return "{}"
	}
	if b, err := canonical.JSON([]byte(text)); err == nil {
		return string(b)
	}
	return text
}
