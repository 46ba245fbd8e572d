package vllm

import (
	"net/http"

	"macaron/internal/chat"
)

// wholeText collects completions.
type wholeText struct {
	*completions
	w http.ResponseWriter
}

func (s *wholeText) idle() error { return nil }

func (s *wholeText) event(i int, e chat.Event) error {
	c, l := s.piece(i, e), &s.lines[i]
	l.text.WriteString(c.Text)
	l.all.Logprobs = merge(l.all.Logprobs, c.Logprobs)
	l.all.TokenIDs = append(l.all.TokenIDs, c.TokenIDs...)
	if e.Start != nil {
		l.all.PromptTokenIDs, l.all.PromptLogprobs = c.PromptTokenIDs, c.PromptLogprobs
	}
	if c.Macaron != nil {
		l.all.Macaron = c.Macaron
	}
	l.all.FinishReason, l.all.StopReason = c.FinishReason, c.StopReason // those of the last piece
	return nil
}

func merge(l, m *completionLogprobs) *completionLogprobs {
	if m == nil {
		return l
	}
	return l.add(m)
}

func (s *wholeText) done() error {
	out := textCompletion{head: s.head, Usage: &s.usage}
	for i := range s.lines {
		l := &s.lines[i]
		l.all.Index, l.all.Text = i, l.text.String()
		out.Choices = append(out.Choices, l.all)
	}
	return depart(s.w, out)
}

// textStream writes completions chunk by chunk.
type textStream struct {
	*completions
	stream
}

func (s *textStream) idle() error { return s.Start() }

func (s *textStream) event(i int, e chat.Event) error {
	c := s.piece(i, e)
	if e.Start != nil && c.Text == "" && c.PromptTokenIDs == nil {
		return nil // nothing to tell yet
	}
	return s.send(s.chunk(c))
}

func (s *textStream) done() error {
	c := s.chunk()
	c.Usage = &s.usage
	return s.end(s.q.includeUsage, c)
}

func (s *textStream) chunk(choices ...textChoice) textCompletion {
	if choices == nil {
		choices = []textChoice{}
	}
	c := textCompletion{head: s.head, Choices: choices}
	if s.q.everyUsage {
		now := s.usage
		c.Usage = &now
	}
	return c
}
