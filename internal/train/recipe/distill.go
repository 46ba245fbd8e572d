package recipe

import (
	"context"
	"fmt"
	"math"
	"slices"

	"macaron/internal/engine/lora"
	"macaron/internal/errs"
	"macaron/internal/train"
)

// told is a line as the teacher sees it: with its own system text, if the recipe has one.
func (d *Distill) told(l line) line {
	if d.System == "" || l.Messages == nil {
		return l
	}
	rest, moved := l.Messages, 1
	if rest[0].Role == "system" {
		rest, moved = rest[1:], 0
	}
	l.Messages = append([]message{{"system", d.System}}, rest...)
	l.Train = slices.Clone(l.Train)
	for i := range l.Train {
		l.Train[i] += moved
	}
	return l
}

// soft learns the teacher's likeliest tokens at every place of the rows' answers: cross
// entropy with their probabilities, made to sum to 1, as weights. That is the divergence
// from the teacher to the student but for a constant.
type soft struct {
	sft
	m       *Machine
	teacher *lora.Adapter
	seen    []row              // the rows as the teacher sees them
	targets map[int][][]Likely // by row: at each learned place
}

func newSoft(r *Recipe, m *Machine, lines, heldOut []line, teacher *lora.Adapter) (method, error) {
	plain, err := newSFT(r, m, lines, heldOut)
	if err != nil {
		return nil, err
	}
	s := &soft{sft: *plain.(*sft), m: m, teacher: teacher, targets: map[int][][]Likely{}}
	for i := range lines {
		own, err := r.encodeAll(m, lines[i:i+1])
		if err != nil {
			return nil, err
		}
		l := r.Distill.told(lines[i])
		seen, err := m.encode(&l)
		if err != nil {
			return nil, err
		}
		if len(own) == 0 {
			continue
		}
		if err := r.sees(m, &lines[i], len(seen.tokens), 1); err != nil { // the engine wants room for one more
			return nil, err
		}
		if a, b := len(own[0].places()), len(seen.places()); a != b {
			return nil, errs.Newf(errs.InvalidRequest, "%s has %d tokens to learn, as the teacher sees it %d", r.place(&lines[i]), a, b)
		}
		s.seen = append(s.seen, seen)
	}
	return s, nil
}

// sees refuses a row that does not fit into the context as the teacher sees it, with room for
// more tokens: it would fail at the step that reaches it.
func (r *Recipe) sees(m *Machine, l *line, tokens, room int) error {
	if tokens+room <= m.Context {
		return nil
	}
	return errs.New(errs.ContextExceeded, fmt.Sprintf("%s has %d tokens as the teacher sees it and needs room for %d more; the context holds %d", r.place(l), tokens, room, m.Context),
		"shorten distill.system, or leave long rows out with data.max_tokens")
}

// place says where a row to train on stands.
func (r *Recipe) place(l *line) string {
	return fmt.Sprintf("line %d of %s", l.at, r.path(r.Data.Train))
}

func (s *soft) pass(ctx context.Context, t *train.Trainer, step int) (report, error) {
	var data []train.Datum
	rep := report{}
	total := 0.0
	for _, i := range s.batches[step] {
		total += float64(len(s.rows[i].places()))
	}
	for _, i := range s.batches[step] {
		if err := s.ask(ctx, i); err != nil {
			return rep, err
		}
		data = append(data, s.rows[i].soft(s.targets[i], s.r.Distill.Top, total))
		rep.tokens += len(s.rows[i].tokens)
	}
	m, err := s.r.passes(ctx, t, data, crossEntropy)
	rep.metrics = map[string]float64{"loss": m["loss:sum"], "learned_tokens": total}
	return rep, err
}

// places are where a row learns.
func (w *row) places() []int {
	var out []int
	for i, v := range w.weights {
		if i > 0 && v != 0 {
			out = append(out, i)
		}
	}
	return out
}

// ask takes the teacher's likeliest tokens of a row.
func (s *soft) ask(ctx context.Context, i int) error {
	if s.targets[i] != nil {
		return nil
	}
	all, err := s.m.Top(ctx, s.teacher, s.seen[i].tokens, s.r.Distill.Top)
	if err != nil {
		return err
	}
	for _, at := range s.seen[i].places() { // as many as the row's own
		s.targets[i] = append(s.targets[i], all[at-1])
	}
	return nil
}

// soft is a row's datum with k targets at each learned place.
func (w *row) soft(targets [][]Likely, k int, total float64) train.Datum {
	n := len(w.tokens) - 1
	ids, weights := slices.Repeat([]int64{-1}, n*k), make([]float32, n*k)
	for j, at := range w.places() {
		sum := 0.0
		for _, l := range targets[j] {
			sum += math.Exp(l.Logprob)
		}
		for c, l := range targets[j] {
			ids[(at-1)*k+c], weights[(at-1)*k+c] = int64(l.Token), float32(math.Exp(l.Logprob)/sum/total)
		}
	}
	shape := []int64{int64(n), int64(k)}
	return train.Datum{Tokens: w.tokens[:n], Inputs: map[string]train.Tensor{"target_tokens": {Ints: ids, Shape: shape}, "weights": {Floats: weights, Shape: shape}}}
}

// own learns from the student's own answers: each token's advantage is how much likelier
// it was to the teacher, so that the gradient is that of the divergence from the student
// to the teacher, token by token.
type own struct {
	*rollouts
	teacher *lora.Adapter
	seen    [][]int32 // the prompts as the teacher sees them
	byLine  map[*line]int
}

func newOwn(r *Recipe, m *Machine, lines []line, teacher *lora.Adapter) (method, error) {
	all, err := newRollouts(r, m, lines)
	if err != nil {
		return nil, err
	}
	o := &own{rollouts: all, teacher: teacher, byLine: map[*line]int{}}
	for i := range all.lines {
		seen := all.prompts[i].tokens
		if l := r.Distill.told(all.lines[i]); l.Messages != nil {
			if seen, err = m.Encode(l.chat(len(l.Messages)), true); err != nil {
				return nil, err
			}
		}
		if err := r.sees(m, &all.lines[i], len(seen), r.RL.MaxTokens); err != nil {
			return nil, err
		}
		o.seen = append(o.seen, seen)
		o.byLine[&all.lines[i]] = i
	}
	return o, nil
}

func (o *own) steps() int     { return len(o.batches) }
func (o *own) whole(int) bool { return true }

func (o *own) pass(ctx context.Context, t *train.Trainer, step int) (report, error) {
	a, err := t.Adapter()
	if err != nil {
		return report{}, err
	}
	all, err := o.sample(ctx, a, step, o.r.RL.Group)
	if err != nil {
		return report{}, err
	}
	kl, n := 0.0, 0
	for i := range all {
		p, err := o.think(ctx, &all[i])
		if err != nil {
			return report{}, err
		}
		all[i].advantages = make([]float32, len(p))
		for j, q := range all[i].answer.Logprobs {
			all[i].advantages[j] = p[j] - q
			kl, n = kl+float64(q-p[j]), n+1
		}
	}
	rep, err := o.learn(ctx, t, all, train.Loss{Name: "importance_sampling"})
	if rep.metrics != nil {
		rep.metrics["teacher_kl"] = kl / math.Max(1, float64(n))
	}
	return rep, err
}

// think is the teacher's log probability of each token of an answer.
func (o *own) think(ctx context.Context, k *taken) ([]float32, error) {
	prompt := o.seen[o.byLine[k.line]]
	tokens := append(slices.Clone(prompt), k.answer.Tokens...)
	w := row{tokens: tokens, weights: make([]float32, len(tokens))}
	for i := len(prompt); i < len(tokens); i++ {
		w.weights[i] = 1
	}
	p, err := o.m.Passes.Logprobs(ctx, o.teacher, []train.Sequence{w.sequence()})
	if err != nil {
		return nil, err
	}
	return p[0][len(prompt)-1:], nil
}

func (o *own) evaluate(context.Context, *train.Trainer) (map[string]float64, error) { return nil, nil }
