package web

import (
	"time"

	"macaron/internal/chat"
	"macaron/internal/ids"
	"macaron/internal/record"
	"macaron/internal/session"
)

// turnView is one turn as the interface shows it. Messages are in the form of the
// chat API, so that a client can send them back as they are.
type turnView struct {
	ID            string             `json:"id"`
	Session       string             `json:"session"`
	Inherited     bool               `json:"inherited,omitempty"`
	Parent        string             `json:"parent,omitempty"`
	Request       string             `json:"request,omitempty"`
	Status        record.Status      `json:"status"`
	StatusReason  string             `json:"status_reason,omitempty"`
	Opened        time.Time          `json:"opened"`
	Closed        *time.Time         `json:"closed,omitempty"`
	Adapter       string             `json:"adapter,omitempty"`
	Revision      ids.Digest         `json:"revision,omitempty"`
	Contract      ids.Digest         `json:"contract,omitempty"`
	Forced        string             `json:"forced,omitempty"`
	Reason        string             `json:"reason,omitempty"` // of the route
	RouteError    string             `json:"route_error,omitempty"`
	Probabilities map[string]float64 `json:"probabilities,omitempty"`
	System        []message          `json:"system,omitempty"`
	Imported      []message          `json:"imported,omitempty"`
	Messages      []message          `json:"messages"`
	Trace         []message          `json:"trace"`
	Partial       string             `json:"partial,omitempty"` // what an interrupted answer had come to
	Summary       *summaryView       `json:"summary,omitempty"`
	Feedback      int                `json:"feedback"`
	Hops          []hopView          `json:"hops"`
}

type summaryView struct {
	Text   string `json:"text"`
	Source string `json:"source"`
	Final  bool   `json:"final"`
}

type hopView struct {
	Hop          record.HopKind    `json:"hop"`
	Adapter      string            `json:"adapter"`
	PromptTokens int               `json:"prompt_tokens"`
	CachedTokens int               `json:"cached_tokens"`
	OutputTokens int               `json:"output_tokens"`
	FirstMS      float64           `json:"first_ms"`
	TotalMS      float64           `json:"total_ms"`
	Finish       chat.FinishReason `json:"finish,omitempty"`
	Error        string            `json:"error,omitempty"`
}

func viewOf(t *session.Turn, inherited bool) turnView {
	v := turnView{
		ID: t.ID, Session: t.Session, Inherited: inherited, Parent: t.Parent, Request: t.Request,
		Status: t.Status, StatusReason: t.Reason, Opened: t.Opened,
		Adapter: t.Revision.Name, Revision: t.Revision.Hash, Contract: t.Contract, Forced: t.Forced,
		System: messagesOf(t.System), Imported: messagesOf(t.Imported), Messages: messagesOf(t.User), Trace: messagesOf(t.Trace),
		Partial: t.Partial(), Feedback: t.Score, Hops: make([]hopView, 0, len(t.Hops)),
	}
	if !t.Closed.IsZero() {
		v.Closed = &t.Closed
	}
	if t.Summary != "" {
		v.Summary = &summaryView{Text: t.Summary, Source: t.SummarySource, Final: t.SummaryFinal}
	}
	if t.Route != nil {
		v.Reason, v.RouteError, v.Probabilities = t.Route.Reason, t.Route.Error, t.Route.Probabilities
		if t.Revision.IsBase() { // no answer has come to its end yet
			v.Adapter = t.Route.Label
		}
	}
	for i := range t.Hops {
		if t.Hops[i].Usage != (chat.Usage{}) || t.Hops[i].Error != "" { // else decided without a model
			v.Hops = append(v.Hops, hopOf(&t.Hops[i]))
		}
	}
	return v
}

func hopOf(h *record.Hop) hopView {
	return hopView{
		Hop: h.Hop, Adapter: h.Adapter.Name, Finish: h.Finish, Error: h.Error,
		PromptTokens: h.Usage.PromptTokens, CachedTokens: h.Usage.CachedTokens, OutputTokens: h.Usage.OutputTokens,
		FirstMS: milliseconds(h.Usage.First), TotalMS: milliseconds(h.Usage.Total),
	}
}

func milliseconds(d time.Duration) float64 {
	return float64(d.Round(time.Microsecond)) / float64(time.Millisecond)
}
