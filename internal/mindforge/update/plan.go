package update

import (
	"math/rand/v2"
	"slices"

	"macaron/internal/train"
)

// plan gives the rows of each optimizer step: a shuffle by the seed for each epoch, cut into
// batches. Of grpo a group stays whole: its advantages belong together.
func (s *Settings) plan(rows []Row, seed uint64) (steps [][]int, tokens int64) {
	units := s.units(rows)
	for epoch := range s.Epochs {
		r := rand.New(rand.NewPCG(seed, uint64(epoch)+1)) //nolint:gosec // an order is no secret
		r.Shuffle(len(units), func(i, j int) { units[i], units[j] = units[j], units[i] })
		for _, batch := range s.cut(units) {
			size := int64(0)
			for _, i := range batch {
				size += int64(len(rows[i].Tokens))
			}
			if s.Steps > 0 && len(steps) == s.Steps || s.Tokens > 0 && len(steps) > 0 && tokens+size > s.Tokens {
				return steps, tokens
			}
			steps, tokens = append(steps, batch), tokens+size
		}
	}
	return steps, tokens
}

// units are the rows that stay together.
func (s *Settings) units(rows []Row) (out [][]int) {
	at := map[string]int{}
	for i := range rows {
		if n, ok := at[rows[i].Group]; ok && s.Method == GRPO {
			out[n] = append(out[n], i)
			continue
		}
		at[rows[i].Group] = len(out)
		out = append(out, []int{i})
	}
	return out
}

func (s *Settings) cut(units [][]int) (out [][]int) {
	var batch []int
	for _, u := range units {
		if len(batch) > 0 && len(batch)+len(u) > s.Batch {
			out, batch = append(out, batch), nil
		}
		batch = append(slices.Clip(batch), u...)
	}
	if len(batch) > 0 {
		out = append(out, batch)
	}
	return out
}

// data are the rows of a step. Losses are sums: each row is divided by what the step has.
func (s *Settings) data(rows []Row, step []int) []train.Datum {
	whole := float64(len(step))
	if s.Method != GRPO {
		whole = 0
		for _, i := range step {
			whole += float64(rows[i].learned())
		}
	}
	out := make([]train.Datum, len(step))
	for n, i := range step {
		out[n] = rows[i].datum(s.Method, whole)
	}
	return out
}

// loss is what the method descends.
func (s *Settings) loss() train.Loss {
	if s.Method == GRPO {
		return train.Loss{Name: s.Loss}
	}
	return train.Loss{Name: "cross_entropy"}
}

// adam is the optimizer, the same at every step.
func (s *Settings) adam() train.Adam {
	a := train.DefaultAdam
	a.LearningRate, a.GradClipNorm = s.LearningRate, s.GradClip
	return a
}
