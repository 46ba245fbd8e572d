package mint

import (
	"math"
	"time"

	"macaron/internal/train"
	"macaron/internal/train/curve"
)

// Curves takes what is measured of runs, a line for each optimizer step.
type Curves interface {
	Add(owner, run string, l curve.Line) error
	AddRows(owner, run string, rows []curve.Row) error
}

// passes are what the passes of a model since its last step came to.
type passes struct {
	loss, kl float64 // sums
	tokens   int64   // of the inputs
	scored   int64   // that kl is a sum over
	took     time.Duration
	any      bool

	reward, rewarded  float64 // sum over data, and how many data
	answers, level    int     // data that have advantages, and those whose advantages are all 0
	squaredAdvantages float64 // sum over answers of the square of an answer's mean advantage
}

// measure notes what an operation came to, once it is committed. A pass counts to the step
// that it is for; what a process did before a restart is not in the line of the step after.
func (s *Service) measure(m *model, asked body, r Result, took time.Duration) {
	p := &m.passes
	if b := asked.Forward; b != nil && !b.Only && r.Output != nil {
		s.lineage(m, b)
		p.any = true
		p.took += took
		p.loss += r.Output.Metrics["loss:sum"]
		if n := float64(len(b.Data)); b.Rewarded {
			p.reward, p.rewarded = p.reward+n*b.Reward, p.rewarded+n
		}
		for i, d := range b.Data {
			p.tokens += int64(len(d.Tokens))
			p.judge(d.Inputs["advantages"].Floats)
			if i < len(r.Output.Logprobs) {
				p.drift(d, r.Output.Logprobs[i])
			}
		}
		return
	}
	b := asked.Step
	if b == nil || s.o.Curves == nil {
		return
	}
	l := curve.Line{"step": float64(m.row.Steps), "learning_rate": b.Adam.LearningRate, "grad_norm": r.Metrics["grad_norm:mean"], "tokens": float64(p.tokens)}
	if p.any {
		l["loss"] = p.loss
	}
	if p.scored > 0 {
		l["kl"] = p.kl / float64(p.scored)
	}
	if p.rewarded > 0 {
		l["reward"] = p.reward / p.rewarded
	}
	if n := float64(p.answers); n > 0 {
		l["advantage"], l["level"] = math.Sqrt(p.squaredAdvantages/n), float64(p.level)/n
	}
	l.Stamp(s.o.Clock.Now(), p.tokens, p.took+took)
	*p = passes{}
	if err := s.o.Curves.Add(m.row.Owner, m.row.ID, l); err != nil {
		s.o.Log.Warn("what was measured of a step cannot be kept", "model", m.row.ID, "error", err)
	}
}

// judge counts an answer by its advantages. With those of GRPO, rewards less the mean of their
// group, the root of the mean square is the standard deviation of rewards within groups, and
// an answer without any is of a group that teaches nothing.
func (p *passes) judge(advantages []float32) {
	if len(advantages) == 0 {
		return
	}
	sum, n := 0.0, 0
	for _, a := range advantages {
		if a != 0 {
			sum, n = sum+float64(a), n+1
		}
	}
	if p.answers++; n == 0 {
		p.level++
		return
	}
	p.squaredAdvantages += sum / float64(n) * sum / float64(n)
}

// lineage notes what the data of a pass were made of, where their maker has said so.
func (s *Service) lineage(m *model, b *Forward) {
	rows := curve.RowsOf(m.row.Steps+1, m.row.Applied, b.Data)
	if len(rows) == 0 || s.o.Curves == nil {
		return
	}
	if err := s.o.Curves.AddRows(m.row.Owner, m.row.ID, rows); err != nil {
		s.o.Log.Warn("where rows came from cannot be kept", "model", m.row.ID, "error", err)
	}
}

// drift adds the difference of the log probabilities that tokens were sampled with and those
// that they were trained on with, where an advantage says that they are a sample's.
func (p *passes) drift(d train.Datum, now train.Tensor) {
	sampled, advantages := d.Inputs["logprobs"].Floats, d.Inputs["advantages"].Floats
	if len(sampled) != len(now.Floats) || len(advantages) != len(sampled) {
		return
	}
	for i, q := range sampled {
		if advantages[i] != 0 {
			p.kl += float64(q) - float64(now.Floats[i])
			p.scored++
		}
	}
}
