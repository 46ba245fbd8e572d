package responses

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

// asked is what the response object repeats of its request. It is kept in the log, so
// that the object can be told again.
type asked struct {
	Background         bool            `json:"background"`
	Conversation       *named          `json:"conversation"`
	Instructions       json.RawMessage `json:"instructions"`
	MaxOutputTokens    json.RawMessage `json:"max_output_tokens"`
	MaxToolCalls       json.RawMessage `json:"max_tool_calls"`
	Metadata           json.RawMessage `json:"metadata"`
	Model              string          `json:"model"`
	ParallelToolCalls  bool            `json:"parallel_tool_calls"`
	PreviousResponseID json.RawMessage `json:"previous_response_id"`
	PromptCacheKey     json.RawMessage `json:"prompt_cache_key"`
	Reasoning          json.RawMessage `json:"reasoning"`
	SafetyIdentifier   json.RawMessage `json:"safety_identifier"`
	ServiceTier        string          `json:"service_tier"`
	Store              bool            `json:"store"`
	Temperature        json.RawMessage `json:"temperature"`
	Text               json.RawMessage `json:"text"`
	ToolChoice         json.RawMessage `json:"tool_choice"`
	Tools              json.RawMessage `json:"tools"`
	TopLogprobs        int             `json:"top_logprobs"`
	TopP               json.RawMessage `json:"top_p"`
	Truncation         string          `json:"truncation"`
	User               json.RawMessage `json:"user"`
}

type named struct {
	ID string `json:"id"`
}

// request is a decoded body: the turn's part, and what only the answer needs.
type request struct {
	turn.Request
	asked        asked
	stream       bool
	input        []entry
	instructions string
	previous     string // response, or ""
	session      string // of conversation, or ""
	user, safety string
	ignored      chatapi.Ignored // fields that were read and not honoured
}

// decode reads a body strictly: every field is honoured, refused by name, or reported.
func decode(body []byte) (*request, error) {
	members, err := limits.Object("", body)
	if err != nil {
		return nil, err
	}
	r := &request{asked: asked{
		Metadata: json.RawMessage(`{}`), ParallelToolCalls: true, ServiceTier: "default", Store: true, Text: json.RawMessage(`{"format":{"type":"text"}}`),
		ToolChoice: json.RawMessage(`"auto"`), Tools: json.RawMessage(`[]`), Truncation: "disabled", Reasoning: json.RawMessage(`{"effort":null,"summary":null}`),
	}}
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
	return r, r.finish()
}

// finish checks what the fields mean together.
func (r *request) finish() error {
	switch {
	case r.asked.Model == "":
		return errs.New(errs.InvalidRequest, "model is missing", "use \""+chatapi.RoutedModel+"\", or GET /v1/models for the others").In("model")
	case len(r.input) == 0:
		return errs.New(errs.InvalidRequest, "input is missing", "send a text or a list of items").In("input")
	case r.previous != "" && r.session != "":
		return errs.New(errs.InvalidRequest, "previous_response_id and conversation both say where the turn stands", "send one of them").In("conversation")
	case r.asked.Background && !r.asked.Store:
		return errs.New(errs.InvalidRequest, "a background response that is not stored could never be had", "leave store out").In("background")
	}
	if r.Scope = r.user; r.Scope == "" {
		r.Scope = r.safety
	}
	return plainNames(limits.Tools(r.Tools, r.ToolChoice))
}

// messages joins the instructions and the items of the input, references resolved, and
// checks them. made are the ids of calls before them.
func (r *request) messages(items []entry, made []string) error {
	r.Messages = nil
	if r.instructions != "" {
		r.Messages = append(r.Messages, chat.Text(chat.System, r.instructions))
	}
	r.Messages = append(r.Messages, joined(items)...)
	return plainNames(limits.Conversation(r.Messages, made...))
}
