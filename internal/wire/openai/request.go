package openai

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
	model        string
	stream       bool
	includeUsage bool
	metadata     json.RawMessage
	ignored      chatapi.Ignored // fields that were read and not honoured
}

// decode reads a body strictly: every field is honoured, refused by name, or
// reported as ignored.
func decode(body []byte) (*request, error) {
	r := &request{}
	_, err := r.take(body)
	return r, err
}

// take reads a body into the request and gives its members.
func (r *request) take(body []byte) (map[string]json.RawMessage, error) {
	members, err := limits.Object("", body)
	if err != nil {
		return nil, err
	}
	for _, name := range slices.Sorted(maps.Keys(members)) {
		read, known := fields[name]
		switch {
		case !known:
			r.ignored.Add(errs.Clip(name))
		case limits.Absent(members[name]):
		default:
			if err := read(r, name, members[name]); err != nil {
				return nil, err
			}
		}
	}
	return members, r.finish(members)
}

// finish checks what the fields mean together.
func (r *request) finish(members map[string]json.RawMessage) error {
	if r.model == "" {
		return errs.New(errs.InvalidRequest, "model is missing", "use \""+chatapi.RoutedModel+"\", or GET /v1/models for the others").In("model")
	}
	if limits.Absent(members["messages"]) {
		return errs.New(errs.InvalidRequest, "messages is missing", "send at least one user message").In("messages")
	}
	if err := limits.Conversation(r.Messages); err != nil {
		return err
	}
	if err := limits.Tools(r.Tools, r.ToolChoice); err != nil {
		return err
	}
	if r.Sampling.TopLogprobs > 0 && !r.Sampling.Logprobs {
		return errs.New(errs.InvalidRequest, "top_logprobs needs logprobs to be true", "").In("top_logprobs")
	}
	if r.includeUsage && !r.stream {
		return errs.New(errs.InvalidRequest, "stream_options is for streams only", "leave it out: every answer has its usage").In("stream_options")
	}
	return nil
}

// number makes a reader of a float field.
func number(at func(*request) **float64, low, high float64) reader {
	return func(r *request, field string, raw json.RawMessage) (err error) {
		*at(r), err = limits.Number(field, raw, low, high)
		return err
	}
}

// maxTokens reads max_tokens and max_completion_tokens, which must agree.
func maxTokens(r *request, field string, raw json.RawMessage) error {
	n, err := limits.Whole(field, raw, 1, limits.OutputTokens)
	if err != nil {
		return err
	}
	if r.MaxTokens != 0 && r.MaxTokens != int(n) {
		return errs.New(errs.InvalidRequest, "max_tokens and max_completion_tokens differ", "send one of them").In(field)
	}
	r.MaxTokens = int(n)
	return nil
}

// sample is a shorter way to the fields below.
func sample(at func(*chat.Sampling) **float64) func(*request) **float64 {
	return func(r *request) **float64 { return at(&r.Sampling) }
}
