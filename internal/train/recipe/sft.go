package recipe

import (
	"context"
	"fmt"
	"maps"
	"math"

	"macaron/internal/errs"
	"macaron/internal/train"
)

// method is one way to train. Its passes of a step are a function of recipe, data and the
// trainer's state.
type method interface {
	steps() int // optimizer steps of the whole run
	// pass adds the gradients of a step; nothing was added when the report is empty.
	pass(ctx context.Context, t *train.Trainer, step int) (report, error)
	// whole tells whether a run can go on at a step from the trainer's state alone.
	whole(step int) bool
	evaluate(ctx context.Context, t *train.Trainer) (map[string]float64, error)
}

// report is what the passes of a step did.
type report struct {
	metrics map[string]float64
	tokens  int
	empty   bool
}

var crossEntropy = train.Loss{Name: "cross_entropy"}

// sft learns the rows' answers.
type sft struct {
	r       *Recipe
	rows    []row
	heldOut []row
	batches [][]int
}

func newSFT(r *Recipe, m *Machine, lines, heldOut []line) (method, error) {
	s := &sft{r: r}
	var err error
	if s.rows, err = r.encodeAll(m, lines); err != nil {
		return nil, err
	}
	if s.heldOut, err = r.encodeAll(m, heldOut); err != nil {
		return nil, err
	}
	if len(s.rows) == 0 {
		return nil, errs.New(errs.InvalidRequest, "no row is left to train on", "look at data.max_tokens and at what the rows learn")
	}
	s.batches, err = r.plan(s.rows)
	return s, err
}

// encodeAll encodes lines and leaves out those that are too long or learn nothing.
func (r *Recipe) encodeAll(m *Machine, lines []line) ([]row, error) {
	var out []row
	for i := range lines {
		one, err := m.encode(&lines[i])
		if err != nil {
			return nil, fmt.Errorf("row %d: %w", i+1, err)
		}
		if len(one.tokens) <= r.most(m) && one.weight() != 0 {
			out = append(out, one)
		}
	}
	return out, nil
}

// most is the longest row that is taken.
func (r *Recipe) most(m *Machine) int {
	if n := r.Data.MaxTokens; n > 0 && n < m.Context {
		return n
	}
	return m.Context
}

// weight is how much a row learns: the sum of its weights without their signs, since what is
// unlearned counts as what is learned does. It is what means are taken over.
func (w *row) weight() float64 {
	sum := 0.0
	for i, v := range w.weights {
		if i > 0 {
			sum += math.Abs(float64(v))
		}
	}
	return sum
}

// datum is a row as a loss reads it, its weights divided by the batch's.
func (w *row) datum(total float64) train.Datum {
	n := len(w.tokens) - 1
	targets, weights := make([]int64, n), make([]float32, n)
	for i := range n {
		targets[i] = -1
		if v := w.weights[i+1]; v != 0 {
			targets[i], weights[i] = int64(w.tokens[i+1]), float32(float64(v)/total)
		}
	}
	return train.Datum{Tokens: w.tokens[:n], Inputs: map[string]train.Tensor{"target_tokens": {Ints: targets}, "weights": {Floats: weights}}}
}

// pick makes the data of some rows, and gives the sum of their weights.
func pick(rows []row, which []int) (data []train.Datum, weight float64, tokens int) {
	for _, i := range which {
		weight += rows[i].weight()
	}
	for _, i := range which {
		data = append(data, rows[i].datum(weight))
		tokens += len(rows[i].tokens)
	}
	return data, weight, tokens
}

func (s *sft) steps() int     { return len(s.batches) }
func (s *sft) whole(int) bool { return true }

func (s *sft) pass(ctx context.Context, t *train.Trainer, step int) (report, error) {
	data, weight, tokens := pick(s.rows, s.batches[step])
	loss, err := s.r.passes(ctx, t, data, crossEntropy)
	return report{metrics: map[string]float64{"loss": loss["loss:sum"], "learned_tokens": weight}, tokens: tokens}, err
}

// passes is ForwardBackward in chunks; sums of metrics add up, and others are of the last.
func (r *Recipe) passes(ctx context.Context, t *train.Trainer, data []train.Datum, l train.Loss) (map[string]float64, error) {
	l = r.loss(l)
	size := len(data)
	if r.Run.ChunkRows > 0 {
		size = r.Run.ChunkRows
	}
	all := map[string]float64{}
	for lo := 0; lo < len(data); lo += size {
		out, err := t.ForwardBackward(ctx, data[lo:min(lo+size, len(data))], l)
		if err != nil {
			return nil, err
		}
		loss := all["loss:sum"]
		for k, v := range out.Metrics {
			all[k] = v
		}
		all["loss:sum"] += loss
	}
	return all, nil
}

// loss is a loss with the recipe's way of gradients.
func (r *Recipe) loss(l train.Loss) train.Loss {
	way, err := train.ParseWay(r.Run.Gradient)
	if err != nil || way == train.Exact { // the name was checked
		return l
	}
	config := map[string]float64{"prefix_mode": float64(way), "prefix_refresh": float64(r.Run.PrefixRefresh), "prefix_drift": r.Run.PrefixDrift}
	maps.Copy(config, l.Config)
	return train.Loss{Name: l.Name, Config: config}
}

// evaluate is the mean loss of a held-out token.
func (s *sft) evaluate(ctx context.Context, t *train.Trainer) (map[string]float64, error) {
	return meanLoss(ctx, t, s.heldOut)
}

func meanLoss(ctx context.Context, t *train.Trainer, rows []row) (map[string]float64, error) {
	if len(rows) == 0 {
		return nil, nil
	}
	const portion = 32
	var loss, weight float64
	for lo := 0; lo < len(rows); lo += portion {
		var data []train.Datum
		for i := lo; i < min(lo+portion, len(rows)); i++ {
			data = append(data, rows[i].datum(1))
			weight += rows[i].weight()
		}
		out, err := t.Forward(ctx, data, crossEntropy)
		if err != nil {
			return nil, err
		}
		loss += out.Metrics["loss:sum"]
	}
	return map[string]float64{"held_out_loss": loss / weight}, nil
}
