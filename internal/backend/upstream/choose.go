package upstream

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"strings"

	"macaron/internal/backend"
	"macaron/internal/chat"
	"macaron/internal/errs"
)

// choose asks for exactly one of the choices in the way that the server supports, then
// in free text when that gave none, and once more with the labels spelt out. What gives
// no label even then is an error, and the contract's default takes the turn.
func (b *Backend) choose(ctx context.Context, r backend.Request, emit func(chat.Event) bool) error {
	d, err := b.dialect(ctx)
	if err != nil {
		return err
	}
	var all *backend.Collected
	var label string
	for _, way := range []func() (*backend.Collected, string, error){
		func() (*backend.Collected, string, error) { return b.pick(ctx, d, r, true) },
		func() (*backend.Collected, string, error) { return b.pick(ctx, d, r, false) },
		func() (*backend.Collected, string, error) { return b.pick(ctx, d, spelt(r), false) },
	} {
		if all, label, err = way(); !again(err) {
			break
		}
	}
	if err != nil {
		return err
	}
	for _, e := range []chat.Event{
		{Start: &all.Start},
		{Choice: &chat.Choice{Label: label, Probabilities: probabilities(r.Choices, all.Logprobs)}},
		{Finish: all.Finish},
	} {
		if !emit(e) {
			return errStopped
		}
	}
	return nil
}

// again reports whether another way may do better: the server did not know the
// constraint, or the text was no label.
func again(err error) bool {
	code := errs.CodeOf(err)
	return code == errs.InvalidRequest || code == errs.FormatInvalid
}

// pick asks once, held to the choices or not.
func (b *Backend) pick(ctx context.Context, d *dialect, r backend.Request, held bool) (*backend.Collected, string, error) {
	more := func(q *body) {
		q.Logprobs, q.TopLogprobs = d.alternatives > 0, d.alternatives
		if held && d.choose != nil {
			d.choose(q, r.Choices)
		}
	}
	all := &backend.Collected{}
	if err := b.ask(ctx, d, r, more, func(e chat.Event) bool { all.Add(e); return true }); err != nil {
		return nil, "", err
	}
	text := all.Text()
	if held && d.wrapped {
		text = unwrap(text)
	}
	label, ok := parseLabel(text, r.Choices)
	if !ok {
		return nil, "", errs.New(errs.FormatInvalid, fmt.Sprintf("the engine answered %.40q, which is no label", text), "the operator sets the engine's dialect to the server's kind")
	}
	return all, label, nil
}

// unwrap takes the label out of {"label": ...}; other text stays as it is.
func unwrap(text string) string {
	var v struct {
		Label string `json:"label"`
	}
	if json.Unmarshal([]byte(text), &v) == nil && v.Label != "" {
		return v.Label
	}
	return text
}

// spelt is the question with the labels at its end.
func spelt(r backend.Request) backend.Request {
	n := len(r.Messages) - 1
	if n < 0 {
		return r
	}
	last := r.Messages[n]
	last.Parts = append(last.Parts[:len(last.Parts):len(last.Parts)], chat.Part{Kind: "text", Text: "\nAnswer with exactly one of: " + strings.Join(r.Choices, ", ")})
	r.Messages = append(r.Messages[:n:n], last)
	return r
}

// parseLabel reads what an unconstrained model says for a label: "L2", " l2.",
// "model_id=L2", "L2 because ...".
func parseLabel(text string, choices []string) (string, bool) {
	words := strings.Fields(text)
	if len(words) == 0 {
		return "", false
	}
	for _, word := range words[:min(2, len(words))] {
		if i := strings.LastIndexAny(word, "=:"); i >= 0 && i < len(word)-1 {
			word = word[i+1:]
		}
		word = strings.Trim(word, "`'\"*.,;:!?()[]{}<>")
		for _, c := range choices {
			if strings.EqualFold(word, c) {
				return c, true
			}
		}
		if !strings.HasSuffix(words[0], ":") && !strings.HasSuffix(words[0], "=") {
			break // only "label: L2" may have its label second
		}
	}
	return "", false
}

// probabilities derives the probability of every choice from the logprobs along the
// one that was taken: each other choice leaves that path at one token, whose
// alternative must be among the likeliest. They are normalised over the choices.
// When any of them cannot be known the result is nil, never a guess.
func probabilities(choices []string, tokens []chat.TokenLogprob) map[string]float64 {
	logp := map[string]float64{}
	path, sum := "", 0.0
	for _, t := range tokens {
		piece := string(t.Bytes)
		if path == "" {
			piece = strings.TrimLeft(piece, " ")
		}
		for _, c := range choices {
			if _, known := logp[c]; known || !strings.HasPrefix(c, path) || strings.HasPrefix(c, path+piece) {
				continue
			}
			if lp, ok := branch(strings.TrimPrefix(c, path), path == "", t.Top); ok {
				logp[c] = sum + lp
			}
		}
		path, sum = path+piece, sum+t.Logprob
		for _, c := range choices {
			if c == path {
				logp[c] = sum
			}
		}
	}
	return normalise(choices, logp)
}

// branch finds the longest alternative that starts rest.
func branch(rest string, first bool, top []chat.TokenLogprob) (float64, bool) {
	best, lp := 0, math.Inf(-1)
	for _, alt := range top {
		piece := string(alt.Bytes)
		if first {
			piece = strings.TrimLeft(piece, " ")
		}
		if piece != "" && strings.HasPrefix(rest, piece) && len(piece) >= best {
			best, lp = len(piece), max(lp, alt.Logprob)
		}
	}
	return lp, best > 0
}

func normalise(choices []string, logp map[string]float64) map[string]float64 {
	total := 0.0
	for _, c := range choices {
		lp, ok := logp[c]
		if !ok || math.IsNaN(lp) {
			return nil
		}
		total += math.Exp(lp)
	}
	if total <= 0 || math.IsInf(total, 0) {
		return nil
	}
	out := map[string]float64{}
	for _, c := range choices {
		out[c] = math.Exp(logp[c]) / total
	}
	return out
}
