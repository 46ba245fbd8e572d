package upstream

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"

	"macaron/internal/backend"
	"macaron/internal/chat"
	"macaron/internal/jsonscan"
)

// body is the request as servers take it. Fields beyond the common API are left
// out for the plain dialect.
type body struct {
	Model             string          `json:"model"`
	Messages          []message       `json:"messages"`
	Stream            bool            `json:"stream"`
	StreamOptions     *streamOptions  `json:"stream_options,omitempty"`
	MaxTokens         int             `json:"max_tokens,omitempty"`
	Temperature       *float64        `json:"temperature,omitempty"`
	TopP              *float64        `json:"top_p,omitempty"`
	TopK              *int            `json:"top_k,omitempty"`
	MinP              *float64        `json:"min_p,omitempty"`
	RepetitionPenalty *float64        `json:"repetition_penalty,omitempty"`
	RepeatPenalty     *float64        `json:"repeat_penalty,omitempty"` // the same at a llama-server
	PresencePenalty   *float64        `json:"presence_penalty,omitempty"`
	FrequencyPenalty  *float64        `json:"frequency_penalty,omitempty"`
	Seed              *int64          `json:"seed,omitempty"`
	Stop              []string        `json:"stop,omitempty"`
	Logprobs          bool            `json:"logprobs,omitempty"`
	TopLogprobs       int             `json:"top_logprobs,omitempty"`
	ReturnTokenIDs    bool            `json:"return_token_ids,omitempty"`
	ResponseFormat    json.RawMessage `json:"response_format,omitempty"`
	Tools             []tool          `json:"tools,omitempty"`
	ToolChoice        any             `json:"tool_choice,omitempty"`
	ParallelToolCalls *bool           `json:"parallel_tool_calls,omitempty"`
	ReasoningEffort   string          `json:"reasoning_effort,omitempty"`
	CacheSalt         string          `json:"cache_salt,omitempty"`
	// What the chat template is told.
	Continue *bool           `json:"continue_final_message,omitempty"`
	Begin    *bool           `json:"add_generation_prompt,omitempty"`
	Template json.RawMessage `json:"chat_template_kwargs,omitempty"`
	// The ways to ask for a constrained choice.
	StructuredOutputs *structured `json:"structured_outputs,omitempty"`
	GuidedChoice      []string    `json:"guided_choice,omitempty"`
	Grammar           string      `json:"grammar,omitempty"`
	Regex             string      `json:"regex,omitempty"`
	EBNF              string      `json:"ebnf,omitempty"`
	// The ways to name an adapter other than by the model.
	LoraPath    string      `json:"lora_path,omitempty"`
	Lora        []loraScale `json:"lora,omitempty"`
	IDSlot      *int        `json:"id_slot,omitempty"`
	CachePrompt *bool       `json:"cache_prompt,omitempty"`
}

type streamOptions struct {
	IncludeUsage bool `json:"include_usage"`
}

type structured struct {
	Choice  []string `json:"choice,omitempty"`
	Regex   string   `json:"regex,omitempty"`
	Grammar string   `json:"grammar,omitempty"`
}

type message struct {
	Role       string     `json:"role"`
	Content    any        `json:"content"`
	Name       string     `json:"name,omitempty"`
	Reasoning  string     `json:"reasoning_content,omitempty"`
	ToolCalls  []callBody `json:"tool_calls,omitempty"`
	ToolCallID string     `json:"tool_call_id,omitempty"`
}

type callBody struct {
	ID       string       `json:"id"`
	Type     string       `json:"type"`
	Function functionBody `json:"function"`
}

type functionBody struct {
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

type tool struct {
	Type     string       `json:"type"`
	Function chat.ToolDef `json:"function"`
}

// encode writes the JSON text. Messages are most of it, and nearly all are a role and a text,
// which are written without reflection.
func (b body) encode() ([]byte, error) {
	messages := b.Messages
	b.Messages = []message{}
	rest, err := json.Marshal(b)
	if err != nil {
		return nil, err
	}
	const place = `"messages":[` // in the model's name, before it, the quotes are escaped
	at := bytes.Index(rest, []byte(place)) + len(place)
	size := len(rest)
	for _, m := range messages {
		s, _ := m.Content.(string)
		size += 64 + len(s) + len(s)/16
	}
	out := append(make([]byte, 0, size), rest[:at]...)
	for i, m := range messages {
		if i > 0 {
			out = append(out, ',')
		}
		if out, err = m.append(out); err != nil {
			return nil, err
		}
	}
	return append(out, rest[at:]...), nil
}

func (m message) append(out []byte) ([]byte, error) {
	text, plain := m.Content.(string)
	if !plain || m.Name != "" || m.Reasoning != "" || len(m.ToolCalls) > 0 || m.ToolCallID != "" {
		b, err := json.Marshal(m)
		return append(out, b...), err
	}
	out = append(out, `{"role":"`...)
	out = append(append(out, m.Role...), `","content":`...)
	return append(jsonscan.Quote(out, text), '}'), nil
}

// compose writes a request without its constraint.
func compose(model string, d *dialect, r backend.Request) body {
	if !d.templated {
		r = r.Asked()
	}
	s := r.Sampling
	b := body{
		Model: model, Stream: true, StreamOptions: &streamOptions{IncludeUsage: true}, MaxTokens: r.MaxTokens,
		Temperature: s.Temperature, TopP: s.TopP, PresencePenalty: s.PresencePenalty, FrequencyPenalty: s.FrequencyPenalty,
		Seed: s.Seed, Stop: s.Stop, Logprobs: s.Logprobs, TopLogprobs: s.TopLogprobs, ResponseFormat: s.ResponseFormat,
		ReasoningEffort: r.Reasoning,
	}
	if r.Wanted.Whole { // every chunk of a stream is an event to read
		b.Stream, b.StreamOptions = false, nil
	}
	b.Messages = make([]message, 0, len(r.Messages))
	for _, m := range r.Messages {
		b.Messages = append(b.Messages, messageBody(m, d))
	}
	if r.Begun != "" {
		yes, no := true, false
		b.Messages = append(b.Messages, message{Role: string(chat.Assistant), Content: r.Begun})
		b.Continue, b.Begin = &yes, &no
	}
	if d.templated && r.Quiet {
		b.Template = json.RawMessage(`{"enable_thinking":false}`) // as the templates of most models that think call it
	}
	if d.extended {
		b.TopK, b.MinP, b.RepetitionPenalty = s.TopK, s.MinP, s.RepetitionPenalty
	}
	if d.ids && r.Wanted.Rows {
		b.ReturnTokenIDs, b.Logprobs = true, true
	}
	if d.salted && r.Salt != "" {
		sum := sha256.Sum256([]byte(r.Salt))
		b.CacheSalt = hex.EncodeToString(sum[:16])
	}
	for _, t := range r.Tools {
		b.Tools = append(b.Tools, tool{Type: "function", Function: t})
	}
	if len(r.Tools) > 0 {
		b.ToolChoice = choiceBody(r.ToolChoice)
		if r.ToolChoice.Single {
			b.ParallelToolCalls = new(bool)
		}
	}
	return b
}

func choiceBody(c chat.ToolChoice) any {
	switch c.Mode {
	case "":
		return nil
	case "function":
		return map[string]any{"type": "function", "function": map[string]string{"name": c.Name}}
	}
	return c.Mode
}

func messageBody(m chat.Message, d *dialect) message {
	out := message{Role: string(m.Role), Name: m.Name, ToolCallID: m.ToolCallID, Content: contentBody(m)}
	if d.extended {
		out.Reasoning = m.Reasoning
	}
	for _, c := range m.ToolCalls {
		out.ToolCalls = append(out.ToolCalls, callBody{ID: c.ID, Type: "function", Function: functionBody{Name: c.Name, Arguments: c.Arguments}})
	}
	return out
}

// contentBody is a string where that says it all, the list of parts where it does
// not, and null for an assistant that only called tools.
func contentBody(m chat.Message) any {
	switch {
	case len(m.Parts) == 0 && len(m.ToolCalls) > 0:
		return nil
	case !slices.ContainsFunc(m.Parts, func(p chat.Part) bool { return p.Kind != "text" }):
		return m.Text()
	}
	var parts []any
	for _, p := range m.Parts {
		if p.Kind != "text" {
			parts = append(parts, p.Raw)
			continue
		}
		parts = append(parts, map[string]string{"type": "text", "text": p.Text})
	}
	return parts
}
