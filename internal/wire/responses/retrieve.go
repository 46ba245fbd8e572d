package responses

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"

	"macaron/internal/chat"
	"macaron/internal/errs"
	"macaron/internal/limits"
	"macaron/internal/record"
	"macaron/internal/wire/chatapi"
	"macaron/internal/wire/sse"
)

// retrieve tells a response again, whole or as its stream.
func (a *API) retrieve(w http.ResponseWriter, r *http.Request) error {
	id, owner, query := r.PathValue("id"), a.Owner(r), r.URL.Query()
	if query.Get("stream") != "true" {
		s, err := a.load(r.Context(), owner, id)
		if err != nil {
			return err
		}
		return chatapi.WriteWhole(w, s.object())
	}
	after, err := startingAfter(query)
	if err != nil {
		return err
	}
	if b := a.find(owner, id); b != nil {
		return a.watch(w, r, b, after)
	}
	s, err := a.load(r.Context(), owner, id)
	if err != nil {
		return err
	}
	return a.retell(w, r, s, after)
}

// retell streams the events after a number out of the log, which has the answer when it has
// ended: what runs elsewhere is told as far as it is known, and waited for.
func (a *API) retell(w http.ResponseWriter, r *http.Request, s *stored, after int) error {
	out := sse.NewWriter(w, a.Stream)
	defer out.Close()
	if err := out.Start(); err != nil {
		return nil
	}
	emit := func(e event) error {
		after = e.seq
		return out.Send(e.name, e.data)
	}
	var err error
	if s.step.Status == record.StatusOpen {
		if err = s.opening(after, emit); err == nil {
			s, err = a.ended(r.Context(), a.Owner(r), s.id())
		}
		if err != nil && r.Context().Err() == nil {
			return tell(out, after+1, errs.As(err))
		}
	}
	if err == nil {
		err = s.replay(after, emit)
	}
	if err != nil {
		a.Logger.Debug("a replay did not reach the client", "err", err)
	}
	return nil
}

func startingAfter(query url.Values) (int, error) {
	text := query.Get("starting_after")
	if text == "" {
		return -1, nil
	}
	n, err := limits.Whole("starting_after", json.RawMessage(text), 0, 1<<31)
	return int(n), err
}

// tell writes an error as the last event of a stream.
func tell(out *sse.Writer, seq int, e *errs.Error) error {
	f := failureOf(e)
	b, err := json.Marshal(map[string]any{"type": "error", "sequence_number": seq, "code": f.Code, "message": f.Message, "param": nil})
	if err != nil {
		return err
	}
	_ = out.End("error", b) // a client that has gone needs no error
	return nil
}

// remove takes a response back. One that runs is cancelled first.
func (a *API) remove(w http.ResponseWriter, r *http.Request) error {
	id, owner := r.PathValue("id"), a.Owner(r)
	s, err := a.end(r.Context(), owner, id)
	if err != nil {
		return err
	}
	if err := a.Log.Delete(r.Context(), owner, s.turn.ID, id); err != nil {
		return err
	}
	return chatapi.WriteWhole(w, map[string]any{"id": id, "object": "response", "deleted": true})
}

// cancel ends a response in the background; one that has ended stays as it is.
func (a *API) cancel(w http.ResponseWriter, r *http.Request) error {
	id, owner := r.PathValue("id"), a.Owner(r)
	s, err := a.load(r.Context(), owner, id)
	if err != nil {
		return err
	}
	if !s.asked.Background {
		return errs.New(errs.InvalidRequest, "only a background response can be cancelled", "close the connection of another one").In("id")
	}
	if s, err = a.end(r.Context(), owner, id); err != nil {
		return err
	}
	if s.step.Status == record.StatusOpen {
		return underWay("id")
	}
	return chatapi.WriteWhole(w, s.object())
}

// underWay says that a response runs where this process did not reach it.
func underWay(field string) error {
	return errs.New(errs.InvalidRequest, "the response is under way in another process of this server, which did not end it", "ask again").In(field)
}

// resolve puts in the place of references the items that they name.
func (a *API) resolve(ctx context.Context, owner string, input []entry) ([]entry, error) {
	out := make([]entry, len(input))
	for i, e := range input {
		out[i] = e
		if e.reference == "" {
			continue
		}
		at := e.field + ".id"
		response, index, ok := parseItem(e.reference)
		if !ok {
			return nil, noItem(e.reference).In(at)
		}
		s, err := a.load(ctx, owner, response)
		if errs.CodeOf(err) == errs.NotFound || err == nil && (s.step.Message() == nil || index >= len(s.object().Output)) {
			return nil, noItem(e.reference).In(at)
		}
		if err != nil {
			return nil, err
		}
		out[i] = referred(e, *s.step.Message(), s.object().Output[index])
	}
	return out, nil
}

func noItem(id string) *errs.Error {
	return errs.New(errs.NotFound, "there is no item \""+errs.Clip(id)+"\"", "send the item itself")
}

// referred is the part of an answer that an output item stands for.
func referred(e entry, m chat.Message, i item) entry {
	e.Message = chat.Message{Role: chat.Assistant}
	switch i.Type {
	case "reasoning":
		e.Reasoning, e.joins = m.Reasoning, true
	case "message":
		e.Parts = m.Parts
	case "function_call":
		e.joins = true
		for _, c := range m.ToolCalls {
			if c.ID == i.CallID {
				e.ToolCalls = []chat.ToolCall{c}
			}
		}
	}
	return e
}

// inputItems lists what was new in a response's request.
func (a *API) inputItems(w http.ResponseWriter, r *http.Request) error {
	s, err := a.load(r.Context(), a.Owner(r), r.PathValue("id"))
	if err != nil {
		return err
	}
	id := s.id()
	messages := s.step.Results
	if s.report.Step == 0 {
		messages = append(append([]chat.Message(nil), s.turn.Imported...), s.turn.User...)
	}
	return page(w, r.URL.Query(), inputs(id, messages))
}

// page writes a list of items, newest first unless asked otherwise.
func page(w http.ResponseWriter, query url.Values, items []item) error {
	order := query.Get("order")
	if order != "" && order != "asc" && order != "desc" {
		return errs.New(errs.InvalidRequest, "order is \""+errs.Clip(order)+"\"", "use asc or desc").In("order")
	}
	most := int64(20)
	if text := query.Get("limit"); text != "" {
		var err error
		if most, err = limits.Whole("limit", json.RawMessage(text), 1, 100); err != nil {
			return err
		}
	}
	if order != "asc" {
		for i, j := 0, len(items)-1; i < j; i, j = i+1, j-1 {
			items[i], items[j] = items[j], items[i]
		}
	}
	if after := query.Get("after"); after != "" {
		at := 0
		for at < len(items) && items[at].ID != after {
			at++
		}
		if at == len(items) {
			return noItem(after).In("after")
		}
		items = items[at+1:]
	}
	list := itemList{Object: "list", Data: items[:min(int(most), len(items))], HasMore: len(items) > int(most)}
	if n := len(list.Data); n > 0 {
		list.FirstID, list.LastID = list.Data[0].ID, list.Data[n-1].ID
	}
	return chatapi.WriteWhole(w, list)
}

type itemList struct {
	Object  string `json:"object"`
	Data    []item `json:"data"`
	FirstID string `json:"first_id"`
	LastID  string `json:"last_id"`
	HasMore bool   `json:"has_more"`
}
