package update

import (
	"context"

	"macaron/internal/mindforge/update/tinkerclient"
)

// descend takes the steps of a job, and gives what was measured: the loss of the first and
// of the last step, and of grpo how far the trained adapter is from the one that acted, at
// the first step (0 where both are one engine's) and at the most.
func descend(ctx context.Context, m *tinkerclient.Model, j *Job) (map[string]float64, error) {
	s, rows := &j.Settings, j.Selected.Rows
	steps, tokens := s.plan(rows, j.Seed)
	out := map[string]float64{"tokens": float64(tokens), "rows": float64(len(rows)), "steps": float64(len(steps)), "reward": j.Selected.Report.Reward,
		"forms": j.Selected.Report.Forms}
	for i, step := range steps {
		got, err := m.Backward(ctx, s.data(rows, step), s.loss())
		if err != nil {
			return nil, err
		}
		if _, err := m.Step(ctx, s.adam()); err != nil {
			return nil, err
		}
		measure(out, got.Metrics, i == 0)
	}
	return out, nil
}

const kl = "kl_sample_train_v1:mean"

// measure takes up what a pass told.
func measure(out, got map[string]float64, first bool) {
	loss := got["loss:sum"]
	if first {
		out["loss_first"] = loss
	}
	out["loss_last"] = loss
	v, ok := got[kl]
	switch {
	case !ok:
	case first:
		out["kl_first"], out["kl_most"] = v, v
	case v > out["kl_most"]:
		out["kl_most"] = v
	}
}
