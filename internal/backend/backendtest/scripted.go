// Package backendtest has a Generator that does as it is told, for tests that need
// an engine to fail, stall or be counted. Where the real engine can run, tests use that.
package backendtest

import (
	"context"
	"iter"
	"strings"
	"sync"
	"time"

	"macaron/internal/backend"
	"macaron/internal/chat"
)

// Scripted is an engine in words: a route request takes the label that the request
// names ("L2: write a loop"), an answer repeats who answers and what was asked.
type Scripted struct {
	// On, if set, plays a request itself: it emits events until emit says false and
	// returns the error of the generation. It returns handled false to leave the
	// request to the script. It is set before the first request: summaries are
	// asked for in the background, also when the client has its answer.
	On func(ctx context.Context, r backend.Request, emit func(chat.Event) bool) (handled bool, err error)
	// Can replaces the capabilities, if set.
	Can *backend.Capabilities
	// NotReady is what Ready returns.
	NotReady error

	mu      sync.Mutex
	seen    []backend.Request
	running int
}

var _ backend.Generator = (*Scripted)(nil)

// Seen gives the requests so far, in the order they began.
func (s *Scripted) Seen() []backend.Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]backend.Request(nil), s.seen...)
}

// Running tells how many generations are under way: the engine's taken slots.
func (s *Scripted) Running() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.running
}

// Capabilities implements backend.Generator.
func (s *Scripted) Capabilities() backend.Capabilities {
	if s.Can != nil {
		return *s.Can
	}
	return backend.Capabilities{Engine: engine, Adapters: true, Choices: true, Logprobs: true, TokenIDs: true, Tools: true, Samplers: true}
}

// Ready implements backend.Generator.
func (s *Scripted) Ready(context.Context) error { return s.NotReady }

var engine = chat.Engine{Name: "scripted", Version: "1"}

// Generate implements backend.Generator.
func (s *Scripted) Generate(ctx context.Context, r backend.Request) iter.Seq2[chat.Event, error] {
	return func(yield func(chat.Event, error) bool) {
		s.mu.Lock()
		s.seen = append(s.seen, r)
		s.running++
		s.mu.Unlock()
		defer func() {
			s.mu.Lock()
			s.running--
			s.mu.Unlock()
		}()
		stopped := false
		emit := func(e chat.Event) bool {
			if stopped || ctx.Err() != nil {
				return false
			}
			stopped = !yield(e, nil)
			return !stopped
		}
		if err := s.play(ctx, r, emit); err != nil && !stopped {
			yield(chat.Event{}, err)
		} else if ctx.Err() != nil && !stopped {
			yield(chat.Event{}, ctx.Err())
		}
	}
}

func (s *Scripted) play(ctx context.Context, r backend.Request, emit func(chat.Event) bool) error {
	if s.On != nil {
		if handled, err := s.On(ctx, r, emit); handled || err != nil {
			return err
		}
	}
	if len(r.Choices) > 0 {
		Emit(emit, chat.Event{Choice: Choose(r)})
		return nil
	}
	Emit(emit, Words(Say(r))...)
	return nil
}

// Emit sends Start, the events and Finish; tool calls among them end the answer.
func Emit(emit func(chat.Event) bool, events ...chat.Event) {
	reason, n := chat.FinishStop, 0
	if !emit(chat.Event{Start: &chat.Start{PromptTokens: 10, CachedTokens: 4, Engine: engine}}) {
		return
	}
	for _, e := range events {
		if e.ToolCall != nil {
			reason = chat.FinishTools
		}
		n++
		if !emit(e) {
			return
		}
	}
	u := chat.Usage{PromptTokens: 10, CachedTokens: 4, OutputTokens: n, First: time.Millisecond, Total: 2 * time.Millisecond}
	emit(chat.Event{Finish: &chat.Finish{Reason: reason, Usage: u}})
}

// Choose takes the first choice that the request itself starts with, else the last.
func Choose(r backend.Request) *chat.Choice {
	text := r.Messages[len(r.Messages)-1].Text()
	if i := strings.Index(text, "Request: \""); i >= 0 {
		text = text[i+len("Request: \""):]
	}
	c := &chat.Choice{Label: r.Choices[len(r.Choices)-1], Probabilities: map[string]float64{}}
	for _, l := range r.Choices {
		if strings.HasPrefix(text, l) {
			c.Label = l
		}
	}
	for _, l := range r.Choices {
		c.Probabilities[l] = 0.1 / float64(max(len(r.Choices)-1, 1))
	}
	c.Probabilities[c.Label] = 0.9
	return c
}

// IsSummary reports whether a request asks for a summary by the default contract.
func IsSummary(r backend.Request) bool {
	return strings.HasPrefix(r.Messages[len(r.Messages)-1].Text(), "In one or two sentences, say what the user wanted")
}

// Say is the scripted answer.
func Say(r backend.Request) string {
	return r.Revision.Name + " heard " + r.Messages[len(r.Messages)-1].Text()
}

// Words cuts a text into events of one word each.
func Words(text string) []chat.Event {
	var events []chat.Event
	for _, w := range strings.SplitAfter(text, " ") {
		events = append(events, chat.Event{Text: w})
	}
	return events
}

// Call is the event of a whole tool call.
func Call(index int, id, name, arguments string) chat.Event {
	return chat.Event{ToolCall: &chat.ToolCallDelta{Index: index, ID: id, Name: name, Arguments: arguments}}
}
