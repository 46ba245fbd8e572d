package vllm

import (
	"encoding/json"
	"maps"
	"slices"

	"macaron/internal/backend"
	"macaron/internal/errs"
	"macaron/internal/limits"
)

// request is a decoded body: what each choice is generated from, and what only the answer
// needs.
type request struct {
	backend.Request
	model        string
	id           string // as the client gave it
	prompts      []prompt
	n            int
	bestOf       int
	maxTokens    *int
	logprobs     *int // alternatives; nil: no log probabilities in the answer
	echo         bool
	special      *bool // whether the prompt gets the model's own first token
	stream       bool
	includeUsage bool
	everyUsage   bool // in each chunk
	includeStop  bool
	tokenIDs     bool
	tokensAsIDs  bool
	languages    []language
	mixture      []scaled
	mixed        bool // the field was there, perhaps as an empty list
	overlay      *overlay
	ignored      []string
	held         []func() // of the adapters
	topLogprobs  int
	chatLogprobs bool
}

// prompt is one of a completion's: text or tokens.
type prompt struct {
	text   string
	tokens []int32
}

// reader takes one field of the body into the request.
type reader func(r *request, field string, raw json.RawMessage) error

// decode reads a body strictly: every field is honoured, accepted because it asks for
// nothing, refused by name, or reported as ignored.
func decode(body []byte, fields ...map[string]reader) (*request, error) {
	members, err := limits.Object("", body)
	if err != nil {
		return nil, err
	}
	r := &request{n: 1}
	for _, name := range slices.Sorted(maps.Keys(members)) {
		if err := r.take(name, members[name], fields); err != nil {
			return nil, err
		}
	}
	return r, r.finish()
}

func (r *request) take(name string, raw json.RawMessage, tables []map[string]reader) error {
	for _, fields := range tables {
		if read, known := fields[name]; known {
			if limits.Absent(raw) {
				return nil
			}
			return read(r, name, raw)
		}
	}
	r.ignored = append(r.ignored, errs.Clip(name))
	return nil
}

// finish checks what the fields mean together, and fills in what the API has for a
// default.
func (r *request) finish() error {
	if r.bestOf != 0 && r.bestOf != r.n {
		return errs.New(errs.Unsupported, "best_of differs from n: answers are not ranked here", "leave it out").In("best_of")
	}
	if (r.includeUsage || r.everyUsage) && !r.stream {
		return errs.New(errs.InvalidRequest, "Stream options can only be defined when `stream=True`.", "").In("stream_options")
	}
	if r.stream && r.Wanted.PromptLogprobs != nil {
		return errs.New(errs.InvalidRequest, "`prompt_logprobs` are not available when `stream=True`.", "").In("prompt_logprobs")
	}
	if r.Sampling.Temperature == nil {
		r.Sampling.Temperature = ptr(1.0)
	}
	r.Decoding.DrawChoice = true
	r.Wanted.Prompt = r.Wanted.Prompt || r.tokenIDs
	return r.constrain()
}

func ptr[T any](v T) *T { return &v }
