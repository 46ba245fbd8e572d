package local

import (
	"slices"
	"time"

	"macaron/internal/backend"
	"macaron/internal/chat"
	"macaron/internal/engine"
	"macaron/internal/engine/sample"
	"macaron/internal/engine/token"
)

// writer turns the tokens of one answer into events.
type writer struct {
	r      *backend.Request
	tok    *token.Tokenizer
	info   chat.Engine
	start  time.Time
	prompt []int32
	out    func(chat.Event) bool
	over   bool // the consumer wants no more

	text    *token.Stream
	stops   stopFilter
	calls   *callReader
	stopped bool // by a stop string or a stop token
	stopID  *int32
	draw    sample.Params // of a choice

	pending []chat.TokenLogprob // whose text is not out yet
	rest    []chat.TokenLogprob // the end of the turn
	raw     []int32
	logps   []float32
	used    chat.Usage
}

func (b *Backend) newWriter(r *backend.Request, prompt []int32, draw sample.Params, start time.Time, send func(chat.Event) bool) *writer {
	tok := b.eng.Tokenizer()
	w := &writer{r: r, tok: tok, info: b.info, prompt: prompt, start: start, out: send, draw: draw, text: tok.NewStream(), stops: stopFilter{stops: stops(r.Sampling)}}
	w.calls = newCallReader(r.ToolChoice.Offered(r.Tools), backend.NewCallID)
	w.calls.sure = heldCalls(r) && !r.Sampling.Formatted()
	return w
}

func (w *writer) send(e chat.Event) {
	if !w.over && !w.out(e) {
		w.over = true
	}
}

// token takes one sampled token.
func (w *writer) token(t engine.Token) {
	w.used.OutputTokens++
	if w.r.Wanted.TokenIDs {
		w.raw, w.logps = append(w.raw, t.ID), append(w.logps, float32(t.Logprob))
	}
	stop := slices.Contains(w.r.Decoding.StopIDs, t.ID) && w.used.OutputTokens > w.r.Decoding.MinTokens
	switch {
	case !w.r.Sampling.Logprobs:
	case stop || t.Reason == engine.Stop:
		w.rest = []chat.TokenLogprob{w.logprob(t)}
	default:
		w.pending = append(w.pending, w.logprob(t))
	}
	if stop {
		w.stopped, w.stopID = true, &t.ID
		return
	}
	text := w.piece(t)
	if w.used.OutputTokens <= w.r.Decoding.MinTokens {
		w.pieces(w.calls.push(text))
		return
	}
	text, w.stopped = w.stops.push(text)
	w.pieces(w.calls.push(text))
}

// piece is the text that a token adds; the end of the turn has none.
func (w *writer) piece(t engine.Token) string {
	switch {
	case w.tok.IsControl(t.ID) && w.r.Decoding.KeepSpecial:
		return w.text.Flush() + text(w.tok, t.ID)
	case t.Reason == engine.Stop:
		return ""
	}
	return w.text.Push(t.ID)
}

func (w *writer) logprob(t engine.Token) chat.TokenLogprob {
	out := chat.TokenLogprob{ID: t.ID, Bytes: w.tok.Piece(t.ID), Logprob: t.Logprob}
	for _, alt := range t.Top {
		out.Top = append(out.Top, chat.TokenLogprob{ID: alt.ID, Bytes: w.tok.Piece(alt.ID), Logprob: alt.Logprob})
	}
	return out
}

func (w *writer) pieces(list []piece) {
	for _, p := range list {
		if p.call != nil {
			w.send(chat.Event{ToolCall: p.call})
			continue
		}
		w.send(chat.Event{Text: p.text, Tokens: w.pending})
		w.pending = nil
	}
}

// choice reports the label taken.
func (w *writer) choice(c *engine.Choice) {
	at := c.Index
	if w.r.Decoding.DrawChoice {
		at = drawn(c.Probabilities, w.draw)
	}
	out := &chat.Choice{Label: w.r.Choices[at], Probabilities: map[string]float64{}}
	for i, p := range c.Probabilities {
		out.Probabilities[w.r.Choices[i]] = p
	}
	w.send(chat.Event{Choice: out})
}

// finish flushes what was held back and ends the answer.
func (w *writer) finish(stream *engine.Stream, last engine.Token) {
	switch {
	case w.stopID != nil:
		w.pieces(w.calls.push(w.stops.flush()))
	case !w.stopped:
		text, stopped := w.stops.push(w.text.Flush())
		if w.pieces(w.calls.push(text)); !stopped {
			w.pieces(w.calls.push(w.stops.flush()))
		}
	}
	w.pieces(w.calls.flush())
	w.usage(stream)
	w.used.Total = time.Since(w.start)
	f := &chat.Finish{Reason: w.reason(last), Usage: w.used, Raw: w.raw, Logps: w.logps,
		Tokens: append(w.pending, w.rest...), Stop: w.stops.met, StopID: w.stopID, Queued: stream.Usage().Queued}
	if w.r.Wanted.Rows {
		f.Prompt = w.prompt
	}
	w.send(chat.Event{Finish: f})
}

func (w *writer) reason(last engine.Token) chat.FinishReason {
	switch {
	case w.calls.calls > 0 && !w.calls.cut:
		return chat.FinishTools
	case last.Reason == engine.Length && !w.stopped:
		return chat.FinishLength
	}
	return chat.FinishStop
}

// begin tells what was made of the prompt.
func (w *writer) begin(stream *engine.Stream) *chat.Start {
	s := &chat.Start{PromptTokens: w.used.PromptTokens, CachedTokens: w.used.CachedTokens, Engine: w.info}
	if !w.r.Wanted.Prompt && w.r.Wanted.PromptLogprobs == nil {
		return s
	}
	for _, id := range w.prompt {
		s.Prompt = append(s.Prompt, chat.TokenLogprob{ID: id, Bytes: w.tok.Piece(id)})
	}
	for i, p := range stream.Prompt() {
		at := &s.Prompt[i+1]
		at.Logprob, at.Rank = p.Logprob, p.Rank
		for j, alt := range p.Top {
			at.Top = append(at.Top, chat.TokenLogprob{ID: alt.ID, Bytes: w.tok.Piece(alt.ID), Logprob: alt.Logprob, Rank: j + 1})
		}
	}
	return s
}

// usage takes over the engine's counts of the prompt.
func (w *writer) usage(stream *engine.Stream) {
	u := stream.Usage()
	w.used.PromptTokens, w.used.CachedTokens = u.Prompt, u.Cached
	w.used.Overlay, w.used.Dormant = u.Overlay, u.Dormant
	if w.used.First == 0 {
		w.used.First = time.Since(w.start)
	}
}
