package responses

import (
	"encoding/json"
	"time"

	"macaron/internal/chat"
	"macaron/internal/turn"
	"macaron/internal/wire/chatapi"
)

// response is the API's object.
type response struct {
	ID                string           `json:"id"`
	Object            string           `json:"object"`
	CreatedAt         int64            `json:"created_at"`
	Status            string           `json:"status"`
	Error             *failure         `json:"error"`
	IncompleteDetails *because         `json:"incomplete_details"`
	Output            []item           `json:"output"`
	Usage             *usage           `json:"usage"`
	Macaron           *chatapi.Macaron `json:"macaron,omitempty"`
	asked
}

type because struct {
	Reason string `json:"reason"`
}

// The statuses.
const (
	queued     = "queued"
	inProgress = "in_progress"
	completed  = "completed"
	incomplete = "incomplete"
	failed     = "failed"
	cancelled  = "cancelled"
)

type usage struct {
	InputTokens   int         `json:"input_tokens"`
	InputDetails  cacheUse    `json:"input_tokens_details"`
	OutputTokens  int         `json:"output_tokens"`
	OutputDetails thinkingUse `json:"output_tokens_details"`
	TotalTokens   int         `json:"total_tokens"`
}

type cacheUse struct {
	CachedTokens     int `json:"cached_tokens"`
	CacheWriteTokens int `json:"cache_write_tokens"`
}

type thinkingUse struct {
	ReasoningTokens int `json:"reasoning_tokens"` // engines do not count them apart
}

func usageOf(u chat.Usage) *usage {
	return &usage{InputTokens: u.PromptTokens, InputDetails: cacheUse{CachedTokens: u.CachedTokens}, OutputTokens: u.OutputTokens, TotalTokens: u.PromptTokens + u.OutputTokens}
}

// item is one of an output or an input.
type item struct {
	ID        string          `json:"id"`
	Type      string          `json:"type"`
	Status    string          `json:"status"`
	Role      string          `json:"role,omitempty"`
	Summary   *[]any          `json:"summary,omitempty"`
	Content   *[]piece        `json:"content,omitempty"`
	CallID    string          `json:"call_id,omitempty"`
	Name      string          `json:"name,omitempty"`
	Arguments *string         `json:"arguments,omitempty"`
	Output    json.RawMessage `json:"output,omitempty"`
}

// piece is a part of an item's content.
type piece struct {
	Type        string          `json:"type"`
	Text        *string         `json:"text,omitempty"`
	Annotations *[]any          `json:"annotations,omitempty"`
	Logprobs    *[]any          `json:"logprobs,omitempty"`
	ImageURL    json.RawMessage `json:"image_url,omitempty"`
	Detail      json.RawMessage `json:"detail,omitempty"`
	FileData    json.RawMessage `json:"file_data,omitempty"`
	Filename    json.RawMessage `json:"filename,omitempty"`
}

func outputText(s string) piece {
	return piece{Type: "output_text", Text: &s, Annotations: &[]any{}, Logprobs: &[]any{}}
}

func reasoningText(s string) piece { return piece{Type: "reasoning_text", Text: &s} }

// output gives the items of an answer, the last of which has the status of the whole.
func output(id string, m chat.Message, status string) []item {
	items := []item{}
	add := func(i item) {
		i.ID, i.Status = itemID(i.Type, id, len(items)), completed
		items = append(items, i)
	}
	if m.Reasoning != "" {
		add(item{Type: "reasoning", Summary: &[]any{}, Content: &[]piece{reasoningText(m.Reasoning)}})
	}
	if text := m.Text(); text != "" {
		add(item{Type: "message", Role: "assistant", Content: &[]piece{outputText(text)}})
	}
	for _, c := range m.ToolCalls {
		add(item{Type: "function_call", CallID: c.ID, Name: c.Name, Arguments: &c.Arguments})
	}
	if n := len(items); n > 0 && status != completed {
		items[n-1].Status = incomplete
	}
	return items
}

// head is what every object of one response shares.
type head struct {
	asked   asked
	ignored []string
	report  turn.Report
}

func (h *head) id() string { return responseID(h.report.Turn, h.report.Step) }

// object is the response as it stands; without an answer it has no output yet.
func (h *head) object(status string) *response {
	return &response{
		ID: h.id(), Object: "response", CreatedAt: h.report.Begun.Round(time.Second).Unix(), Status: status, Output: []item{}, asked: h.asked,
	}
}

// ended is the response that came to its end.
func (h *head) ended(m chat.Message, why chat.FinishReason, u chat.Usage) *response {
	status, reason := completed, ""
	switch why {
	case chat.FinishLength:
		status, reason = incomplete, "max_output_tokens"
	case chat.FinishFilter:
		status, reason = incomplete, "content_filter"
	}
	o := h.object(status)
	if reason != "" {
		o.IncompleteDetails = &because{Reason: reason}
	}
	o.Output, o.Usage = output(o.ID, m, status), usageOf(u)
	o.Macaron = h.macaron()
	return o
}

// broken is the response that did not.
func (h *head) broken(status string, f *failure, m *chat.Message) *response {
	o := h.object(status)
	if status == failed {
		o.Error = f
	}
	if m != nil {
		o.Output = output(o.ID, *m, incomplete)
	}
	o.Macaron = h.macaron()
	return o
}

func (h *head) macaron() *chatapi.Macaron {
	r := h.report
	for i, name := range r.Ignored {
		if i == 0 {
			r.Ignored = append([]string(nil), r.Ignored...)
		}
		r.Ignored[i] = plainName(name)
	}
	return chatapi.MacaronOf(r, h.ignored, nil)
}
