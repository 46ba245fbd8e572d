package recipe

import (
	"fmt"
	"maps"
	"slices"

	"macaron/internal/errs"
)

// batches shuffles rows and cuts them into the batches of one epoch: rows of one group
// stand together, at most batch of them and, counted without the beginning that a row
// shares with the batch's first one, at most batch_tokens tokens.
func (r *Recipe) batches(rows []row, epoch int) [][]int {
	rng := random(r.Seed, uint64(epoch))
	groups := map[string][]int{}
	for i := range rows {
		groups[rows[i].group] = append(groups[rows[i].group], i)
	}
	var out [][]int
	for _, name := range slices.Sorted(maps.Keys(groups)) {
		group := groups[name]
		rng.Shuffle(len(group), func(i, j int) { group[i], group[j] = group[j], group[i] })
		out = append(out, r.cut(rows, group)...)
	}
	rng.Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
	return out
}

func (r *Recipe) cut(rows []row, order []int) [][]int {
	var out [][]int
	var batch []int
	size := 0
	for _, i := range order {
		more := len(rows[i].tokens)
		if len(batch) > 0 {
			more -= shared(rows[batch[0]].tokens, rows[i].tokens)
		}
		if len(batch) > 0 && (len(batch) >= r.Run.Batch || r.Run.BatchTokens > 0 && size+more > r.Run.BatchTokens) {
			out = append(out, batch)
			batch, size, more = nil, 0, len(rows[i].tokens)
		}
		batch, size = append(batch, i), size+more
	}
	if len(batch) > 0 {
		out = append(out, batch)
	}
	return out
}

// shared is how many tokens two rows begin alike.
func shared(a, b []int32) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

// maxSteps bounds the batches of a run, which are in memory from its start.
const maxSteps = 1 << 22

// plan is the batch of every step of the run. Epochs have about as many steps as the first.
func (r *Recipe) plan(rows []row) ([][]int, error) {
	var out [][]int
	for epoch := 0; r.Run.Steps > 0 || epoch < r.Run.Epochs; epoch++ {
		if r.Run.Steps > maxSteps || epoch == 1 && r.Run.Steps == 0 && len(out) > maxSteps/r.Run.Epochs {
			return nil, errs.New(errs.TooLarge, fmt.Sprintf("the run would have more than %d steps", maxSteps), "lower run.steps or run.epochs")
		}
		for _, b := range r.batches(rows, epoch) {
			if r.Run.Steps > 0 && len(out) == r.Run.Steps {
				return out, nil
			}
			out = append(out, b)
		}
	}
	return out, nil
}
