package anthropic

import (
	"encoding/json"
	"maps"
	"slices"

	"macaron/internal/chat"
	"macaron/internal/errs"
	"macaron/internal/limits"
	"macaron/internal/turn"
	"macaron/internal/wire/chatapi"
)

// request is a decoded body: the turn's part, and what only the answer needs.
type request struct {
	turn.Request
	model   string
	stream  bool
	hidden  bool            // thinking is not shown
	ignored chatapi.Ignored // fields that were read and not honoured

	system  *chat.Message
	origins []string // where in the body each of Messages stands
	think   thinking
}

// decode reads a body strictly: every field is honoured, refused by name, or reported
// as ignored. A request to be counted needs no max_tokens.
func decode(body []byte, counted bool) (*request, error) {
	members, err := limits.Object("", body)
	if err != nil {
		return nil, err
	}
	r := &request{}
	for _, name := range slices.Sorted(maps.Keys(members)) {
		read, known := fields[name]
		switch {
		case limits.Absent(members[name]):
		case !known:
			r.ignore(name)
		default:
			if err := read(r, name, members[name]); err != nil {
				return nil, err
			}
		}
	}
	return r, r.finish(members, counted)
}

// finish checks what the fields mean together.
func (r *request) finish(members map[string]json.RawMessage, counted bool) error {
	needed := []struct{ name, next string }{
		{"model", "use \"" + chatapi.RoutedModel + "\", or GET /v1/models for the others"},
		{"messages", "send at least one user message"},
		{"max_tokens", "say how long the answer may be"},
	}
	for _, f := range needed {
		if limits.Absent(members[f.name]) && !(counted && f.name == "max_tokens") {
			return errs.New(errs.InvalidRequest, f.name+" is missing", f.next).In(f.name)
		}
	}
	if r.system != nil {
		r.Messages, r.origins = slices.Insert(r.Messages, 0, *r.system), slices.Insert(r.origins, 0, "system")
	}
	if err := r.think.settle(r); err != nil {
		return err
	}
	if err := limits.Conversation(r.Messages); err != nil {
		return r.named(err)
	}
	return r.named(limits.Tools(r.Tools, r.ToolChoice))
}
