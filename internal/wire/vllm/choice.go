package vllm

import (
	"math"
	"slices"

	"macaron/internal/backend"
	"macaron/internal/chat"
	"macaron/internal/engine/sample"
)

// spell writes a choice as the text that it is, token by token. The log probabilities are
// those of the constrained answer: a token's share of the probability of all labels that
// begin like this one so far.
func (a *api) spell(r *backend.Request, c *chat.Choice) chat.Event {
	ids := make([][]int32, len(r.Choices))
	for i, label := range r.Choices {
		ids[i] = a.Tokens.Encode(label, false)
	}
	taken := ids[slices.Index(r.Choices, c.Label)]
	e := chat.Event{Text: c.Label, Choice: c}
	for at, id := range taken {
		mass, total := map[int32]float64{}, 0.0
		for i, label := range r.Choices {
			if len(ids[i]) < at || !slices.Equal(ids[i][:at], taken[:at]) {
				continue
			}
			p := c.Probabilities[label]
			if total += p; len(ids[i]) > at {
				mass[ids[i][at]] += p
			}
		}
		t := chat.TokenLogprob{ID: id, Bytes: a.Tokens.Piece(id), Logprob: math.Log(mass[id] / total)}
		for _, alt := range likeliest(mass, total, r.Sampling.TopLogprobs) {
			t.Top = append(t.Top, chat.TokenLogprob{ID: alt.ID, Bytes: a.Tokens.Piece(alt.ID), Logprob: alt.Logprob})
		}
		e.Tokens = append(e.Tokens, t)
	}
	return e
}

func likeliest(mass map[int32]float64, total float64, n int) []sample.Logprob {
	var out []sample.Logprob
	for id, m := range mass {
		out = append(out, sample.Logprob{ID: id, Logprob: math.Log(m / total)})
	}
	slices.SortFunc(out, func(a, b sample.Logprob) int {
		switch {
		case a.Logprob > b.Logprob || a.Logprob == b.Logprob && a.ID < b.ID:
			return -1
		}
		return 1
	})
	return out[:min(n, len(out))]
}
