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

// choose asks for exactly one of the choices in the way that the server supports,
// and once more in the plain way when that gave none.
func (b *Backend) choose(ctx context.Context, r backend.Request, emit func(chat.Event) bool) error {
	model, err := b.model(r.Revision)
	if err != nil {
		return err
	}
	events, err := b.ask(ctx, model, b.Dialect, r)
	if again(err) {
		events, err = b.ask(ctx, model, "plain", r)
	}
	if err != nil {
		return err
	}
	for _, e := range events {
		if !emit(e) {
			return errStopped
		}
	}
	return nil
}

// again reports whether the plain way may do better: the server did not know the
// constraint, or the text was no label.
func again(err error) bool {
	code := errs.CodeOf(err)
	return code == errs.InvalidRequest || code == errs.FormatInvalid
}

func (b *Backend) ask(ctx context.Context, model, dialect string, r backend.Request) ([]chat.Event, error) {
	request := compose(model, dialect, r)
	constrain(&request, dialect, r.Choices)
	text, err := json.Marshal(request)
	if err != nil {
		return nil, errs.Wrap(errs.Internal, err, "the request to the engine cannot be written as JSON", "")
	}
	var all backend.Collected
	if err := b.stream(ctx, model, text, func(e chat.Event) bool { all.Add(e); return true }); err != nil {
		return nil, err
	}
	label, ok := parseLabel(all.Text(), r.Choices)
	if !ok {
		return nil, errs.New(errs.FormatInvalid, fmt.Sprintf("the engine answered %.40q, which is no label", all.Text()), "set upstream.dialect to the server's kind")
	}
	return []chat.Event{
		{Start: &all.Start},
		{Choice: &chat.Choice{Label: label, Probabilities: probabilities(r.Choices, all.Logprobs)}},
		{Finish: all.Finish},
	}, nil
}

// constrain adds what the dialect knows; auto sends all of them, since a server
// that does not know one passes over it or refuses, and then the plain way follows.
func constrain(b *body, dialect string, choices []string) {
	if dialect == "plain" {
		return
	}
	b.Logprobs, b.TopLogprobs = true, 20
	if dialect == "vllm" || dialect == "auto" || dialect == "" {
		b.StructuredOutputs, b.GuidedChoice = &structured{Choice: choices}, choices
	}
	if dialect == "llama" || dialect == "auto" || dialect == "" {
		b.Grammar = grammar(choices)
	}
}

func grammar(choices []string) string {
	quoted := make([]string, len(choices))
	for i, c := range choices {
		quoted[i] = `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(c) + `"`
	}
	return "root ::= " + strings.Join(quoted, " | ")
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
