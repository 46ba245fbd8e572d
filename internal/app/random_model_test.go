package app

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"macaron/internal/backend"
	"macaron/internal/backend/backendtest"
	"macaron/internal/chat"
	"macaron/internal/contract"
	"macaron/internal/errs"
	"macaron/internal/ownview"
)

// point is a turn as the test's own, simple model of a conversation knows it. It has an answer,
// or waits for the results of tools.
type point struct {
	id, session   string
	steps         []string // responses of its steps; "" where another API was asked
	parent        *point
	label, system string
	imported      []chat.Message
	user, trace   []chat.Message
	kids          int  // turns behind it that have an answer or wait
	waits, again  bool // for results; results were sent a second time
	score         int  // feedback
}

// line is the conversation up to a point, oldest first.
func (p *point) line() (all []*point) {
	for ; p != nil; p = p.parent {
		all = append(all, p)
	}
	slices.Reverse(all)
	return all
}

// client is the conversation as its client holds it.
func (p *point) client() (all []chat.Message) {
	for _, q := range p.line() {
		all = slices.Concat(all, q.imported, q.user, q.trace)
	}
	return all
}

// view is what p's specialist must be shown: its own turns verbatim, of others the question
// and the summary.
func (p *point) view(k *contract.Contract) []chat.Message {
	view := []chat.Message{chat.Text(chat.System, k.AnswerSystem(p.label, systems(p.system)))}
	for _, q := range p.line() {
		view = slices.Concat(view, q.imported, q.user)
		if q == p || q.label == p.label {
			view = append(view, q.trace...)
		} else {
			view = append(view, chat.Text(chat.Assistant, k.Foreign(q.summary())))
		}
	}
	return ownview.Sanitize(view)
}

func systems(text string) []chat.Message {
	if text == "" {
		return nil
	}
	return []chat.Message{chat.Text(chat.System, text)}
}

// summary is what the scripted model says of a turn: the last message that is whole, in brackets.
func (p *point) summary() string {
	whole := ownview.Sanitize(slices.Concat(p.user, p.trace))
	return "(" + whole[len(whole)-1].Text() + ")"
}

// shown gives messages as lines, to compare.
func shown(view []chat.Message) (all []string) {
	for _, m := range view {
		s := string(m.Role) + ": " + m.Text()
		for _, c := range m.ToolCalls {
			s += " [" + c.ID + " " + c.Name + c.Arguments + "]"
		}
		if m.ToolCallID != "" {
			s += " for " + m.ToolCallID
		}
		all = append(all, s)
	}
	return all
}

// actor is the model below: the last word of a message says what it does, every answer has a
// number of its own, and for each it keeps what it was shown.
type actor struct {
	numbers atomic.Int64
	seen    sync.Map // number to backend.Request
	hung    sync.Map // text of a message to the channel that tells that it hangs there
}

func (a *actor) play(ctx context.Context, r backend.Request, emit func(chat.Event) bool) (bool, error) {
	last := r.Messages[len(r.Messages)-1].Text()
	switch {
	case len(r.Choices) > 0:
		return false, nil
	case backendtest.IsSummary(r):
		backendtest.Emit(emit, backendtest.Words("("+r.Messages[len(r.Messages)-2].Text()+")")...)
		return true, nil
	case strings.HasSuffix(last, " hang"), strings.HasSuffix(last, " fail"):
		emit(chat.Event{Start: &chat.Start{PromptTokens: 10}})
		emit(chat.Event{Text: "lost "})
		if there, ok := a.hung.Load(last); ok {
			close(there.(chan struct{}))
			<-ctx.Done()
			return true, ctx.Err()
		}
		return true, errs.New(errs.UpstreamFailed, "it breaks off", "")
	}
	n := a.numbers.Add(1)
	a.seen.Store(fmt.Sprint(n), r)
	if strings.HasSuffix(last, " call") {
		backendtest.Emit(emit, chat.Event{Text: fmt.Sprintf("thought-%d.", n)}, backendtest.Call(0, fmt.Sprintf("call-%d-a", n), "find", `{"i":1}`), backendtest.Call(1, fmt.Sprintf("call-%d-b", n), "find", `{}`))
		return true, nil
	}
	backendtest.Emit(emit, backendtest.Words(fmt.Sprintf("answer-%d.%s", n, strings.Repeat(" and", int(n%4))))...)
	return true, nil
}

var numbered = regexp.MustCompile(`^(?:answer|thought)-(\d+)\.`)

// heard gives the request of the answer hop that said a text.
func (a *actor) heard(text string) (backend.Request, bool) {
	m := numbered.FindStringSubmatch(text)
	if m == nil {
		return backend.Request{}, false
	}
	r, ok := a.seen.Load(m[1])
	if !ok {
		return backend.Request{}, false
	}
	return r.(backend.Request), true
}
