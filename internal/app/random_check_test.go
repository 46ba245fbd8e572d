package app

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"

	"macaron/internal/auth"
	"macaron/internal/chat"
	"macaron/internal/record"
)

// step sends one request of a point and holds the answer against the model. session is where the
// turn must stand; "" is a session that nobody has seen before.
func (h *held) step(p *point, q *query, session string) {
	first := p.id == ""
	want := shown(p.view(h.k))
	a := h.send(q)
	r, ok := h.actor.heard(a.text)
	if !ok {
		h.Fatalf("nobody said %q", a.text)
	}
	h.same("the view of "+p.label, want, shown(r.Messages))
	h.same("who answers", p.label, r.Revision.Name)
	h.same("the adapter that is told", p.label, at[string](a.macaron, "adapter"))
	h.spent(p, q, a)
	h.placed(p, a, session)
	m := chat.Text(chat.Assistant, a.text)
	m.ToolCalls = a.calls
	h.same("the answer", sayingOf(a.text), shown([]chat.Message{m})[0])
	if p.trace, p.waits = append(p.trace[:len(p.trace):len(p.trace)], m), len(a.calls) > 0; first && p.parent != nil {
		p.parent.kids++
	}
	if p.steps = append(p.steps, a.response); a.response != "" && h.chance(30) {
		code, text := h.site().fetch(http.MethodGet, "/v1/responses/"+a.response)
		h.same("the response as it is told again", fmt.Sprint(200, jsonOf(a.whole)), fmt.Sprint(code, jsonOf(parsed(text))))
	}
}

// sayingOf is the answer that the actor gave under the number that a text begins with.
func sayingOf(text string) string {
	n := numbered.FindStringSubmatch(text)[1]
	if strings.HasPrefix(text, "thought") {
		return fmt.Sprintf(`assistant: thought-%s. [call-%s-a find{"i":1}] [call-%s-b find{}]`, n, n, n)
	}
	i, err := strconv.Atoi(n)
	if err != nil {
		return err.Error()
	}
	return "assistant: answer-" + n + "." + strings.Repeat(" and", i%4)
}

// spent holds the usage, the reason and the end of an answer against the hops that the model knows of.
func (h *held) spent(p *point, q *query, a reply) {
	reason, in, cached, out := "model", 20, 8, 1
	switch {
	case p.trace != nil:
		reason = "sticky"
	case strings.HasPrefix(q.model, "macaron/"):
		reason = "forced"
	}
	if reason != "model" {
		in, cached, out = 10, 4, 0
	}
	finish := map[string]string{"chat": "stop", "messages": "end_turn", "responses": "completed"}
	if out += len(strings.Fields(a.text)); len(a.calls) > 0 {
		out, finish = out+len(a.calls), map[string]string{"chat": "tool_calls", "messages": "tool_use", "responses": "completed"}
	}
	h.same("usage, reason and end by "+q.api, fmt.Sprint(in, cached, out, reason, finish[q.api]), fmt.Sprint(a.in, a.cached, a.out, at[string](a.macaron, "reason"), a.finish))
}

// placed holds the ids of an answer against the model.
func (h *held) placed(p *point, a reply, session string) {
	turn, in := at[string](a.macaron, "turn"), at[string](a.macaron, "session")
	known := func(id func(*point) string, what string) bool {
		for _, list := range [][]*point{h.points, h.left} {
			for _, q := range list {
				if q != p && id(q) == what {
					return true
				}
			}
		}
		return false
	}
	switch {
	case turn == "" || in == "":
		h.Fatalf("no ids in %v", a.macaron)
	case p.id != "" && turn != p.id:
		h.Fatalf("turn %s goes on as %s", p.id, turn)
	case p.id == "" && known(func(q *point) string { return q.id }, turn):
		h.Fatalf("turn %s is there twice", turn)
	case session != "" && in != session:
		h.Fatalf("session %s, not %s", in, session)
	case session == "" && known(func(q *point) string { return q.session }, in):
		h.Fatalf("not a new session: %s", in)
	}
	p.id, p.session = turn, in
}

// fetch asks without a body.
func (s *site) fetch(method, path string) (int, string) {
	r, err := http.NewRequest(method, s.base+path, nil)
	if err != nil {
		return 0, err.Error()
	}
	resp, err := s.http.Do(r)
	if err != nil {
		return 0, err.Error()
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		return 0, err.Error()
	}
	return resp.StatusCode, string(text)
}

func parsed(text string) (o object) {
	if err := json.Unmarshal([]byte(text), &o); err != nil {
		return object{"malformed": text}
	}
	return o
}

// rate says what a person thinks of a turn.
func (h *held) rate(p *point) {
	if p.id == "" {
		return
	}
	p.score = 1 - 2*h.rng.IntN(2)
	code, text := h.site().call(http.MethodPost, "/v1/feedback", object{"turn": p.id, "score": p.score})
	if code != http.StatusOK {
		h.Fatalf("feedback: %d %s", code, text)
	}
}

// unname deletes a response: it is not to be had any more, and the turn stays.
func (h *held) unname(p *point) {
	if len(p.steps) == 0 {
		return
	}
	i := len(p.steps) - 1
	if id := p.steps[i]; id != "" {
		if code, text := h.site().fetch(http.MethodDelete, "/v1/responses/"+id); code != http.StatusOK {
			h.Fatalf("deleting: %d %s", code, text)
		}
		if code, _ := h.site().fetch(http.MethodGet, "/v1/responses/"+id); code != http.StatusNotFound {
			h.Fatalf("a deleted response gives %d", code)
		}
	}
	p.steps[i] = ""
}

// reread holds the log against the model: the history of every point, and how many turns stand in
// each session.
func (h *held) reread() {
	ctx, counts := context.Background(), map[string]int{}
	for _, p := range h.points {
		counts[p.session]++
		if p.id == "" {
			continue // its line is read with those that follow it
		}
		turns, err := h.site().sessions.History(ctx, auth.Local, p.id)
		if err != nil {
			h.Fatalf("%v", err)
		}
		line := p.line()
		if len(line) != len(turns) {
			h.Fatalf("%d turns, not %d", len(turns), len(line))
		}
		for i, q := range line {
			t := turns[i]
			if q.id == "" {
				q.id = t.ID
			}
			want := fmt.Sprint(q.id, q.session, q.label, q.score, record.StatusDelivered, shown(q.imported), shown(q.user), shown(q.trace))
			h.same("a turn in the log", want, fmt.Sprint(t.ID, t.Session, t.Specialist(), t.Score, t.Status, shown(t.Imported), shown(t.User), shown(t.Trace)))
			if t.SummarySource != "" {
				h.same("a summary", q.summary(), t.Summary)
			}
		}
	}
	for _, p := range h.left {
		counts[p.session]++
	}
	for id, want := range counts {
		_, turns, err := h.site().sessions.Load(ctx, auth.Local, id)
		if err != nil {
			h.Fatalf("%v", err)
		}
		got := 0
		for _, t := range turns {
			if t.Status == record.StatusDelivered || t.Status == record.StatusAwaiting {
				got++
			}
		}
		h.same("turns in session "+id, want, got)
	}
	h.listed()
}

// listed holds the items of a conversation against the model.
func (h *held) listed() {
	if h.mode != "conversation" || len(h.points) == 0 {
		return
	}
	code, text := h.site().fetch(http.MethodGet, "/v1/conversations/"+h.conversation+"/items?order=asc&limit=100")
	var got []string
	for _, i := range at[[]any](parsed(text), "data") {
		for _, c := range at[[]any](i, "content") {
			got = append(got, at[string](c, "text"))
		}
	}
	var want []string
	for _, m := range h.points[len(h.points)-1].client() {
		if m.Role != chat.Tool {
			want = append(want, m.Text())
		}
	}
	h.same("the items of the conversation", fmt.Sprint(200, want), fmt.Sprint(code, got))
}
