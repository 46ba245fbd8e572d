package local

import (
	"time"

	"macaron/internal/backend"
	"macaron/internal/chat"
	"macaron/internal/engine"
	"macaron/internal/engine/token"
)

// writer turns the tokens of one answer into events.
type writer struct {
	r     *backend.Request
	tok   *token.Tokenizer
	info  chat.Engine
	start time.Time
	out   func(chat.Event) bool
	over  bool // the consumer wants no more

	text    *token.Stream
	stops   stopFilter
	calls   *callReader
	stopped bool // by a stop string

	pending []chat.TokenLogprob // whose text is not out yet
	raw     []int32
	logps   []float32
	used    chat.Usage
}

func (b *Backend) newWriter(r *backend.Request, p prompt, start time.Time, send func(chat.Event) bool) *writer {
	tok := b.eng.Tokenizer()
	w := &writer{r: r, tok: tok, info: b.info, start: start, out: send, text: tok.NewStream(), stops: stopFilter{stops: stops(r.Sampling)}}
	w.calls = newCallReader(r.ToolChoice.Offered(r.Tools), backend.NewCallID)
	w.calls.push(p.forced)
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
	if t.Reason == engine.Stop {
		return // the end of the turn has no text
	}
	if w.r.Sampling.Logprobs {
		w.pending = append(w.pending, w.logprob(t))
	}
	text, stopped := w.stops.push(w.text.Push(t.ID))
	w.pieces(w.calls.push(text))
	w.stopped = stopped
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
	out := &chat.Choice{Label: w.r.Choices[c.Index], Probabilities: map[string]float64{}}
	for i, p := range c.Probabilities {
		out.Probabilities[w.r.Choices[i]] = p
	}
	w.send(chat.Event{Choice: out})
}

// finish flushes what was held back and ends the answer.
func (w *writer) finish(stream *engine.Stream, last engine.Token) {
	if !w.stopped {
		text, stopped := w.stops.push(w.text.Flush())
		if w.pieces(w.calls.push(text)); !stopped {
			w.pieces(w.calls.push(w.stops.flush()))
		}
	}
	w.pieces(w.calls.flush())
	w.usage(stream)
	w.used.Total = time.Since(w.start)
	w.send(chat.Event{Finish: &chat.Finish{Reason: w.reason(last), Usage: w.used, Raw: w.raw, Logps: w.logps}})
}

func (w *writer) reason(last engine.Token) chat.FinishReason {
	switch {
	case w.calls.calls > 0:
		return chat.FinishTools
	case last.Reason == engine.Length && !w.stopped:
		return chat.FinishLength
	}
	return chat.FinishStop
}

// usage takes over the engine's counts of the prompt.
func (w *writer) usage(stream *engine.Stream) {
	u := stream.Usage()
	w.used.PromptTokens, w.used.CachedTokens = u.Prompt, u.Cached
	if w.used.First == 0 {
		w.used.First = time.Since(w.start)
	}
}
