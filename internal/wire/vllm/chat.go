package vllm

import (
	"encoding/json"
	"net/http"

	"macaron/internal/backend"
	"macaron/internal/chat"
	"macaron/internal/errs"
	"macaron/internal/limits"
	"macaron/internal/wire/chatapi"
)

// conversation are the fields that only chat completions have.
var conversation = map[string]reader{
	"messages": messages,
	"tools": func(r *request, f string, raw json.RawMessage) (err error) {
		r.Tools, err = chatapi.Tools(f, raw, nil)
		return err
	},
	"tool_choice": func(r *request, f string, raw json.RawMessage) error {
		return chatapi.ToolChoice(&r.ToolChoice, f, raw)
	},
	"parallel_tool_calls": func(r *request, f string, raw json.RawMessage) error {
		many, err := limits.Bool(f, raw)
		r.ToolChoice.Single = !many
		return err
	},
	"max_tokens":            maxTokens(1),
	"max_completion_tokens": maxTokens(1),
	"logprobs":              boolean(func(r *request) *bool { return &r.chatLogprobs }),
	"top_logprobs":          count(func(r *request) *int { return &r.topLogprobs }, 0, limits.TopLogprobs),
	"add_generation_prompt": generationPrompt,

	"continue_final_message": only("an answer is begun, not continued", "false"),
	"echo":                   only("messages are not sent back", "false"),
	"documents":              only("there is no retrieval", "[]"),
	"chat_template":          only("the model's own template is used"),
	"chat_template_kwargs":   only("the template gets messages and tools alone", "{}"),
	"include_reasoning":      only("reasoning is not told apart", "true", "false"),
	"return_prompt_text":     only("the prompt is told as tokens, by return_token_ids", "false"),
	"modalities":             only("there is text alone", `["text"]`),
	"audio":                  only("there is no audio"),
}

func messages(r *request, f string, raw json.RawMessage) (err error) {
	if r.Messages, err = chatapi.Messages(f, raw, nil); err != nil {
		return err
	}
	return limits.Messages(r.Messages)
}

func generationPrompt(r *request, f string, raw json.RawMessage) error {
	begin, err := limits.Bool(f, raw)
	r.Decoding.Bare = !begin
	return err
}

// chat serves POST /v1/chat/completions.
func (a *api) chat(w http.ResponseWriter, r *http.Request) {
	q, err := a.readChat(w, r)
	if err != nil {
		a.fail(w, r, err, 0)
		return
	}
	defer q.letGo()
	head := a.head(r, q, "chatcmpl-")
	if !q.stream {
		out := &wholeChat{w: w, q: q, head: head, choices: make([]wholeChoice, q.n)}
		if err := a.run(r, q.jobs(nil), out); err != nil {
			a.fail(w, r, err, 0)
		}
		return
	}
	out := &chatStream{stream: a.newStream(w), q: q, head: head, begun: make([]bool, q.n)}
	a.serveStream(w, r, q.jobs(nil), out, out.stream)
}

func (a *api) readChat(w http.ResponseWriter, r *http.Request) (*request, error) {
	body, err := chatapi.Body(w, r)
	if err != nil {
		return nil, err
	}
	q, err := decode(body, conversation, sampling)
	if err != nil {
		return nil, err
	}
	if err := q.finishChat(); err != nil {
		return nil, err
	}
	q.ToolPrompt = a.Tools
	return q, a.adapters(q)
}

// finishChat checks what the fields of a conversation mean together.
func (r *request) finishChat() error {
	switch {
	case len(r.Messages) == 0:
		return errs.New(errs.InvalidRequest, "messages is missing or empty", "send at least one message").In("messages")
	case r.topLogprobs > 0 && !r.chatLogprobs:
		return errs.New(errs.InvalidRequest, "when using `top_logprobs`, `logprobs` must be set to true.", "").In("top_logprobs")
	case r.special != nil && *r.special:
		return errs.New(errs.Unsupported, "add_special_tokens is not supported: the chat template begins the prompt", "leave it out").In("add_special_tokens")
	}
	if r.maxTokens != nil {
		r.MaxTokens = *r.maxTokens
	}
	r.Sampling.Logprobs, r.Sampling.TopLogprobs = true, r.topLogprobs
	return limits.Tools(r.Tools, r.ToolChoice)
}

// wholeChat collects a chat completion.
type wholeChat struct {
	w       http.ResponseWriter
	q       *request
	head    head
	start   chat.Start
	choices []wholeChoice
}

type wholeChoice struct {
	all    backend.Collected
	chosen map[string]float64
}

func (s *wholeChat) idle() error { return nil }

func (s *wholeChat) event(i int, e chat.Event) error {
	c := &s.choices[i]
	switch {
	case e.Start != nil && i == 0:
		s.start = *e.Start
	case e.ToolCall != nil && e.ToolCall.Index > 0 && s.q.ToolChoice.Single:
		return nil
	case e.Choice != nil:
		c.chosen = e.Choice.Probabilities
		e.Choice = nil
	}
	c.all.Add(e)
	return nil
}

type chatCompletion struct {
	head
	Choices        []chatChoice               `json:"choices"`
	Usage          *chatapi.Usage             `json:"usage"`
	PromptLogprobs []map[string]promptLogprob `json:"prompt_logprobs"`
	PromptTokenIDs []int32                    `json:"prompt_token_ids,omitempty"`
}

type chatChoice struct {
	Index        int               `json:"index"`
	Message      chatMessage       `json:"message"`
	Logprobs     *chatapi.Logprobs `json:"logprobs"`
	FinishReason string            `json:"finish_reason"`
	StopReason   any               `json:"stop_reason"`
	TokenIDs     []int32           `json:"token_ids,omitempty"`
	Macaron      *choiceNote       `json:"macaron,omitempty"`
}

// choiceNote has what only this server tells of a choice.
type choiceNote struct {
	Probabilities map[string]float64 `json:"choice_probabilities"` // exact, of all labels
}

func noteOf(probabilities map[string]float64) *choiceNote {
	if probabilities == nil {
		return nil
	}
	return &choiceNote{probabilities}
}

type chatMessage struct {
	Role      string             `json:"role"`
	Content   *string            `json:"content"`
	Refusal   *string            `json:"refusal"`
	ToolCalls []chatapi.ToolCall `json:"tool_calls,omitempty"`
}

func (s *wholeChat) done() error {
	out := chatCompletion{head: s.head, Usage: &chatapi.Usage{}}
	out.Object = "chat.completion"
	for i := range s.choices {
		out.Choices = append(out.Choices, s.choice(i))
		addUsage(out.Usage, s.choices[i].all.Finish.Usage, i == 0)
	}
	if s.q.Wanted.PromptLogprobs != nil {
		out.PromptLogprobs = promptLogprobs(s.start.Prompt)
	}
	if s.q.tokenIDs {
		out.PromptTokenIDs = idsOf(s.start.Prompt)
	}
	return depart(s.w, out)
}

func (s *wholeChat) choice(i int) chatChoice {
	c := &s.choices[i]
	f := c.all.Finish
	m := c.all.Message()
	text := c.all.Text() + s.q.stopText(f)
	out := chatChoice{Index: i, FinishReason: string(f.Reason), StopReason: stopReason(f), Macaron: noteOf(c.chosen), Message: chatMessage{Role: "assistant"}}
	if text != "" || len(m.ToolCalls) == 0 {
		out.Message.Content = &text
	}
	for _, call := range m.ToolCalls {
		out.Message.ToolCalls = append(out.Message.ToolCalls, chatapi.ToolCall{ID: call.ID, Type: "function", Function: chatapi.ToolFunction{Name: call.Name, Arguments: call.Arguments}})
	}
	tokens := append(c.all.Logprobs, f.Tokens...)
	out.Logprobs = s.q.chatTokens(tokens)
	if s.q.tokenIDs {
		out.TokenIDs = idsOf(tokens)
	}
	return out
}
