package web_test

import (
	"context"
	"iter"
	"strings"
	"sync"
	"time"

	"macaron/internal/backend"
	"macaron/internal/chat"
	"macaron/internal/errs"
)

// script is a Generator that knows its lines: it routes by a word of the request and
// answers what the test has written down. Everything around it is the real thing.
type script struct {
	mu    sync.Mutex
	lines map[string]string // part of the request -> answer; "" never ends
	asked []backend.Request // answer hops
	ready error
	gate  chan struct{} // closed: what stands behind "@@" in a line goes on
}

func (s *script) Capabilities() backend.Capabilities {
	return backend.Capabilities{Engine: chat.Engine{Name: "script", Version: "1"}, Adapters: true, Choices: true, Images: true, Context: 4096}
}

func (s *script) Ready(context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.ready
}

func (s *script) setReady(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ready = err
}

// say changes a line.
func (s *script) say(part, text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lines[part] = text
}

// last gives the newest answer hop.
func (s *script) last() backend.Request {
	all := s.answers()
	return all[len(all)-1]
}

// answers gives the answer hops that were asked for so far.
func (s *script) answers() []backend.Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]backend.Request(nil), s.asked...)
}

func (s *script) Generate(ctx context.Context, r backend.Request) iter.Seq2[chat.Event, error] {
	return func(yield func(chat.Event, error) bool) {
		last := r.Messages[len(r.Messages)-1].Text()
		if !yield(chat.Event{Start: &chat.Start{PromptTokens: 40 + len(last), CachedTokens: 32}}, nil) {
			return
		}
		switch {
		case len(r.Choices) > 0:
			choice := pick(r.Choices, last)
			_ = yield(chat.Event{Choice: &choice}, nil) && yield(finish(last, 1), nil)
		case strings.Contains(last, "In one or two sentences"):
			_ = yield(chat.Event{Text: "The user asked something and got an answer."}, nil) && yield(finish(last, 9), nil)
		default:
			s.answer(ctx, r, last, yield)
		}
	}
}

func (s *script) answer(ctx context.Context, r backend.Request, last string, yield func(chat.Event, error) bool) {
	s.mu.Lock()
	s.asked = append(s.asked, r)
	line := "You said: " + last
	for part, text := range s.lines {
		if strings.Contains(last, part) {
			line = text
		}
	}
	s.mu.Unlock()
	switch line {
	case "":
		if yield(chat.Event{Text: "One, two, "}, nil) {
			<-ctx.Done()
			yield(chat.Event{}, errs.Wrap(errs.Canceled, ctx.Err(), "stopped", ""))
		}
		return
	case "fail":
		yield(chat.Event{}, errs.New(errs.UpstreamFailed, "the engine ran into a wall", "ask again in a moment"))
		return
	}
	for piece := range strings.SplitAfterSeq(line, " ") {
		if strings.HasPrefix(piece, "@@") {
			select {
			case <-s.gate:
				continue
			case <-ctx.Done():
				yield(chat.Event{}, errs.Wrap(errs.Canceled, ctx.Err(), "stopped", ""))
				return
			}
		}
		if !yield(chat.Event{Text: piece}, nil) {
			return
		}
	}
	yield(finish(last, len(line)/4+1), nil)
}

func finish(prompt string, out int) chat.Event {
	return chat.Event{Finish: &chat.Finish{Reason: chat.FinishStop, Usage: chat.Usage{
		PromptTokens: 40 + len(prompt), CachedTokens: 32, OutputTokens: out, First: 41 * time.Millisecond, Total: 730 * time.Millisecond,
	}}}
}

// pick routes by words that the tests use.
func pick(labels []string, text string) chat.Choice {
	words := map[string]string{"remind": "L1", "command": "L2", "code": "L2", "card": "L3"}
	c := chat.Choice{Label: labels[0], Probabilities: map[string]float64{}}
	for word, label := range words {
		if strings.Contains(strings.ToLower(text), word) {
			c.Label = label
		}
	}
	for _, l := range labels {
		c.Probabilities[l] = 0.04
	}
	c.Probabilities[c.Label] = 1 - 0.04*float64(len(labels)-1)
	return c
}
