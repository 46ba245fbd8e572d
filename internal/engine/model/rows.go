package model

import (
	"math"

	"macaron/internal/engine/kernel"
)

// tasks are the parts of a step that work row by row, bound once so that a step does
// not allocate.
type tasks struct {
	s                                         *Step
	embed, normalise, rotate, exact, activate func(worker, task int)
}

// rowsPerTask rows are worth handing to another thread.
const rowsPerTask = 4

func (t *tasks) bind(s *Step) {
	t.s = s
	t.embed, t.normalise, t.rotate = t.each(embedRow), t.each(normaliseRow), t.each(rotateRow)
	t.exact, t.activate = t.each(attendExact), t.each(activateRow)
}

// each makes a task out of work on one row.
func (t *tasks) each(f func(s *Step, row int)) func(worker, task int) {
	return func(_, task int) {
		s := t.s
		for r := task * rowsPerTask; r < min(len(s.rows), (task+1)*rowsPerTask); r++ {
			f(s, r)
		}
	}
}

func (s *Step) perRow(f func(worker, task int)) {
	s.pool.Run((len(s.rows)+rowsPerTask-1)/rowsPerTask, f)
}

// embed fills x with the rows of the tokens.
func (s *Step) embed() { s.perRow(s.tasks.embed) }

func embedRow(s *Step, r int) {
	d := s.m.D
	x := s.x[r*d:][:d]
	s.m.embed.Row(int(s.rows[r].token), x)
	if s.m.family.scaled {
		kernel.Scale(x, float32(math.Sqrt(float64(d))))
	}
}

// normalise computes h = norm(x) * weight, with add after x += y, or with post after
// x += norm(y) * post.
func (s *Step) normalise(post, weight []float32, add bool) {
	s.norms.post, s.norms.weight, s.norms.add = post, weight, add
	s.perRow(s.tasks.normalise)
}

func normaliseRow(s *Step, r int) {
	d := s.m.D
	x := s.x[r*d:][:d]
	if s.norms.add {
		y := s.y[r*d:][:d]
		if s.norms.post != nil {
			kernel.RMSNorm(y, y, s.norms.post, s.m.Eps)
		}
		kernel.Add(x, y)
	}
	kernel.RMSNorm(s.h[r*d:][:d], x, s.norms.weight, s.m.Eps)
}

// rotateAndStore finishes queries, keys and values (biases, normalised heads), turns
// queries and keys by their positions and writes keys and values to the pages of the
// layer.
func (s *Step) rotateAndStore(layer int) {
	s.at = layer
	s.perRow(s.tasks.rotate)
}

func rotateRow(s *Step, r int) {
	m, at, l := s.m, s.rows[r], &s.m.layers[s.at]
	qd, kd := m.H*m.C, m.G*m.C
	q, k, v := s.q[r*qd:][:qd], s.k[r*kd:][:kd], s.v[r*kd:][:kd]
	if l.qBias != nil {
		kernel.Add(q, l.qBias)
		kernel.Add(k, l.kBias)
		kernel.Add(v, l.vBias)
	}
	if l.qNorm != nil {
		s.inside.keepHeads(r, q, k)
		m.normaliseHeads(q, l.qNorm)
		m.normaliseHeads(k, l.kNorm)
	}
	l.rope.Apply(q, m.H, at.pos)
	l.rope.Apply(k, m.G, at.pos)
	s.arena.put(s.runs[at.run].Pages[at.pos/kernel.PageTokens], s.at, at.pos%kernel.PageTokens, k, v)
}

// normaliseHeads normalises each head of x by itself.
func (m *Model) normaliseHeads(x, weight []float32) {
	for ; len(x) > 0; x = x[m.C:] {
		kernel.RMSNorm(x[:m.C], x[:m.C], weight, m.Eps)
	}
}

// activate computes act = act(gate) * up.
func (s *Step) activate() { s.perRow(s.tasks.activate) }

func activateRow(s *Step, r int) {
	f := s.m.F
	s.m.activate(s.act[r*f:][:f], s.gate[r*f:][:f], s.up[r*f:][:f])
}

func (m *Model) activate(dst, gate, up []float32) {
	if m.family.gelu {
		kernel.GeGLU(dst, gate, up)
		return
	}
	kernel.SwiGLU(dst, gate, up)
}
