package engine

import (
	"cmp"
	"slices"

	"macaron/internal/engine/kv"
	"macaron/internal/engine/lora"
	"macaron/internal/ids"
)

// Rows of a step. A row costs the more the longer a step takes: with sequences that
// decode, a step takes few rows of prompts, so that nobody's next token waits long.
const (
	promptRows = 512 // without sequences that decode
	mixedRows  = 128 // beside sequences that decode
	chunkRows  = 128 // of one prompt, before it is the next one's turn
)

// part is how many tokens of a task the next step feeds.
type part struct {
	task *task
	n    int
}

// stretch is consecutive tokens of a task under one mixture.
type stretch struct {
	task   *task
	pos, n int
	mix    lora.Mix
	key    ids.Digest // of mix
}

// stretches cuts parts where the weights change, and puts those of one mixture side by
// side, so that its matrices are read once; any fixed order does.
func stretches(out []stretch, parts []part) []stretch {
	for _, p := range parts {
		t, pos, end := p.task, p.task.seq.Len(), p.task.seq.Len()+p.n
		for pos < end {
			to := end
			if pos < t.from {
				to = min(end, t.from)
			}
			mix, key := t.at(pos)
			out = append(out, stretch{t, pos, to - pos, mix, key})
			pos = to
		}
	}
	slices.SortStableFunc(out, func(a, b stretch) int { return cmp.Compare(a.key, b.key) })
	return out
}

// schedule shares out the rows of the next step: one to every sequence that decodes,
// then chunks to prompts in turn, starting with the one after the prompt that was
// served first the last time. Chunks end at page borders where they do not end a
// prompt.
func schedule(running []*task, turn int) []part {
	var parts []part
	var prompts []*task
	for _, t := range running {
		if t.pending() == 1 {
			parts = append(parts, part{t, 1})
		} else {
			prompts = append(prompts, t)
		}
	}
	if len(prompts) == 0 {
		return parts
	}
	budget := promptRows
	if len(parts) > 0 {
		budget = mixedRows
	}
	given := make([]int, len(prompts))
	for again := true; again && budget > 0; {
		again = false
		for i := range prompts {
			i = (i + turn) % len(prompts)
			n := chunk(prompts[i], given[i], min(budget, chunkRows))
			given[i] += n
			budget -= n
			again = again || n > 0
		}
	}
	for i, t := range prompts {
		if given[i] > 0 {
			parts = append(parts, part{t, given[i]})
		}
	}
	return parts
}

// chunk is how many more tokens a prompt gets that was given some already, at most
// budget.
func chunk(t *task, given, budget int) int {
	left := t.pending() - given
	if left <= budget {
		return left
	}
	at := t.seq.Len() + given
	end := (at + budget) / kv.PageTokens * kv.PageTokens
	return max(0, end-at)
}
