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
type rowLimits struct {
	prompt int // without sequences that decode
	mixed  int // beside sequences that decode
	chunk  int // of one prompt, before it is the next one's turn
}

var defaultRows = rowLimits{prompt: 512, mixed: 128, chunk: 128}

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
// then chunks to sessions in turn and to the prompts of each in turn, starting with the
// one after that which was served first the last time. Chunks end at page borders where
// they do not end a prompt.
func schedule(running []*task, turn int, rows rowLimits) []part {
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
	budget := rows.prompt
	if len(parts) > 0 {
		budget = rows.mixed
	}
	given := make([]int, len(prompts))
	lanes := lanesOf(prompts)
	for round, again := 0, true; again && budget > 0; round++ {
		again = false
		for i := range lanes {
			lane := lanes[(i+turn)%len(lanes)]
			for j := range lane { // the first of the lane that takes some
				k := lane[(j+round+turn/len(lanes))%len(lane)]
				n := chunk(prompts[k], given[k], min(budget, rows.chunk))
				given[k] += n
				budget -= n
				if n > 0 {
					again = true
					break
				}
			}
		}
	}
	for i, t := range prompts {
		if given[i] > 0 {
			parts = append(parts, part{t, given[i]})
		}
	}
	return parts
}

// lanesOf gives the indices of the prompts session by session: each session moves as fast
// as every other. A prompt without a session is one by itself.
func lanesOf(prompts []*task) [][]int {
	var lanes [][]int
	of := map[string]int{}
	for i, t := range prompts {
		at, known := of[t.session]
		if !known || t.session == "" {
			at = len(lanes)
			lanes, of[t.session] = append(lanes, nil), at
		}
		lanes[at] = append(lanes[at], i)
	}
	return lanes
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
