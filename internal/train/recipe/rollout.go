package recipe

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"

	"macaron/internal/engine/lora"
	"macaron/internal/errs"
	"macaron/internal/train"
)

// rollouts are prompts in the batches of a run, and answers that are sampled to them.
type rollouts struct {
	r       *Recipe
	m       *Machine
	lines   []line
	prompts []row // tokens alone
	batches [][]int
}

func newRollouts(r *Recipe, m *Machine, lines []line) (*rollouts, error) {
	out := &rollouts{r: r, m: m}
	for i := range lines {
		tokens := lines[i].Tokens
		if tokens == nil {
			var err error
			if tokens, err = m.Encode(lines[i].chat(len(lines[i].Messages)), true); err != nil {
				return nil, fmt.Errorf("row %d: %w", i+1, err)
			}
		}
		if len(tokens)+r.RL.MaxTokens <= r.most(m) {
			out.lines, out.prompts = append(out.lines, lines[i]), append(out.prompts, row{tokens: tokens, group: lines[i].Group})
		}
	}
	if len(out.prompts) == 0 {
		return nil, errs.New(errs.InvalidRequest, "no prompt is left", "look at data.max_tokens and rl.max_tokens")
	}
	var err error
	out.batches, err = r.plan(out.prompts)
	return out, err
}

// taken is an answer and what the learner needs of it.
type taken struct {
	line       *line
	prompt     []int32
	answer     Answer
	advantages []float32 // by token of the answer
}

// sample answers the prompts of a batch, group times each. The seeds are a function of
// the recipe's seed and the place.
func (o *rollouts) sample(ctx context.Context, a *lora.Adapter, batch, group int) ([]taken, error) {
	var out []taken
	var ask []Prompt
	seeds := random(o.r.Seed, 1<<32, uint64(batch))
	for _, i := range o.batches[batch] {
		for range group {
			out = append(out, taken{line: &o.lines[i], prompt: o.prompts[i].tokens})
			ask = append(ask, Prompt{o.prompts[i].tokens, o.r.RL.MaxTokens, o.r.RL.Temperature, seeds.Uint64()})
		}
	}
	answers, err := o.m.Sample(ctx, a, ask)
	if err != nil {
		return nil, err
	}
	for i := range out {
		out[i].answer = answers[i]
	}
	return out, nil
}

// datum is an answer as a policy loss reads it, its advantages divided by the answers. A ratio
// of the sequence is over the whole answer.
func (k *taken) datum(answers int, l train.Loss) train.Datum {
	n, from := len(k.prompt)+len(k.answer.Tokens)-1, len(k.prompt)-1
	tokens := append(append([]int32{}, k.prompt...), k.answer.Tokens...)[:n]
	targets, q, adv := make([]int64, n), make([]float32, n), make([]float32, n)
	for i := range from {
		targets[i] = -1
	}
	for i, t := range k.answer.Tokens {
		targets[from+i], q[from+i], adv[from+i] = int64(t), k.answer.Logprobs[i], k.advantages[i]/float32(answers)
	}
	in := map[string]train.Tensor{"target_tokens": {Ints: targets}, "logprobs": {Floats: q}, "advantages": {Floats: adv}}
	if l.Sequence() {
		in["sequence_ratio_mask"] = train.Tensor{Floats: append(make([]float32, from), slices.Repeat([]float32{1}, n-from)...)}
	}
	return train.Datum{Tokens: tokens, Inputs: in}
}

// learn is the policy gradient of answers; those without any advantage are left out.
func (o *rollouts) learn(ctx context.Context, t *train.Trainer, all []taken, l train.Loss) (report, error) {
	var data []train.Datum
	rep := report{metrics: map[string]float64{}}
	for i := range all {
		rep.tokens += len(all[i].prompt) + len(all[i].answer.Tokens)
		for _, a := range all[i].advantages {
			if a != 0 {
				data = append(data, all[i].datum(len(all), l))
				break
			}
		}
	}
	if len(data) == 0 {
		rep.empty = true
		return rep, nil
	}
	m, err := o.r.passes(ctx, t, data, l)
	if err != nil {
		return rep, err
	}
	for from, to := range map[string]string{"loss:sum": "loss", "kl_sample_train_v1:mean": "kl_sample_train_v1", "kl_sample_train_v2:mean": "kl_sample_train_v2",
		"mismatch_ratio:max": "mismatch_ratio_max", "tokens_masked:mean": "tokens_masked", "ratio_clipped:mean": "ratio_clipped",
		"prefix_drift:max": "prefix_drift", "prefix_age:max": "prefix_age"} {
		if v, ok := m[from]; ok {
			rep.metrics[to] = v
		}
	}
	return rep, nil
}

// policy is GRPO, and PPO's clipped objective with several updates of a rollout.
type policy struct {
	*rollouts
	loss    train.Loss
	heldOut *rollouts
	now     []taken // of the batch that is learned
	metrics map[string]float64
}

func newPolicy(r *Recipe, m *Machine, lines, heldOut []line) (method, error) {
	p := &policy{loss: train.Loss{Name: r.RL.Loss, Config: r.RL.Config}}
	var err error
	if p.rollouts, err = newRollouts(r, m, lines); err != nil || len(heldOut) == 0 {
		return p, err
	}
	once := *r
	once.Run.Steps, once.Run.Epochs, once.Run.Batch, once.Run.BatchTokens = 0, 1, len(heldOut), 0
	p.heldOut, err = newRollouts(&once, m, heldOut)
	return p, err
}

func (p *policy) steps() int          { return len(p.batches) * p.r.RL.Updates }
func (p *policy) whole(step int) bool { return step%p.r.RL.Updates == 0 }

func (p *policy) pass(ctx context.Context, t *train.Trainer, step int) (report, error) {
	if p.whole(step) {
		a, err := t.Adapter()
		if err != nil {
			return report{}, err
		}
		if p.now, err = p.sample(ctx, a, step/p.r.RL.Updates, p.r.RL.Group); err != nil {
			return report{}, err
		}
		if p.metrics, err = p.judge(ctx, p.now, p.r.RL.Group); err != nil {
			return report{}, err
		}
	}
	rep, err := p.learn(ctx, t, p.now, p.loss)
	maps.Copy(rep.metrics, p.metrics)
	if kl, ok := rep.metrics["kl_sample_train_v1"]; ok {
		rep.metrics["kl"] = kl // as the training service calls it
	}
	return rep, err
}

// judge rewards all answers and gives each its advantage over the mean of its group, with
// normalise in units of the group's deviation.
func (o *rollouts) judge(ctx context.Context, all []taken, group int) (map[string]float64, error) {
	scores := make([]float64, len(all))
	var sum, length float64
	for i := range all {
		var err error
		if scores[i], err = o.r.RL.Reward.score(ctx, o.m, all[i].line, o.m.Decode(all[i].answer.Tokens)); err != nil {
			return nil, err
		}
		sum, length = sum+scores[i], length+float64(len(all[i].answer.Tokens))
	}
	for lo := 0; lo < len(all); lo += group {
		mean, deviation := moments(scores[lo : lo+group])
		for i := lo; i < lo+group; i++ {
			adv := scores[i] - mean
			if o.r.RL.Normalise {
				adv /= deviation + 1e-6
			}
			all[i].advantages = make([]float32, len(all[i].answer.Tokens))
			for j := range all[i].advantages {
				all[i].advantages[j] = float32(adv)
			}
		}
	}
	n := float64(len(all))
	return map[string]float64{"reward": sum / n, "answer_tokens": length / n}, nil
}

func moments(x []float64) (mean, deviation float64) {
	for _, v := range x {
		mean += v / float64(len(x))
	}
	for _, v := range x {
		deviation += (v - mean) * (v - mean) / float64(len(x))
	}
	return mean, math.Sqrt(deviation)
}

// evaluate is the mean reward of one answer to each held-out prompt.
func (p *policy) evaluate(ctx context.Context, t *train.Trainer) (map[string]float64, error) {
	if p.heldOut == nil {
		return nil, nil
	}
	a, err := t.Adapter()
	if err != nil {
		return nil, err
	}
	all, err := p.heldOut.sample(ctx, a, 0, 1)
	if err != nil {
		return nil, err
	}
	m, err := p.heldOut.judge(ctx, all, 1)
	return map[string]float64{"held_out_reward": m["reward"]}, err
}
