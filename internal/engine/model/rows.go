package model

import "macaron/internal/engine/kernel"

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
	s.m.embed.Row(int(s.rows[r].token), s.x[r*d:][:d])
}

// normalise computes h = norm(x) * weight, with add after x += y.
func (s *Step) normalise(weight []float32, add bool) {
	s.norms.weight, s.norms.add = weight, add
	s.perRow(s.tasks.normalise)
}

func normaliseRow(s *Step, r int) {
	d := s.m.D
	x := s.x[r*d:][:d]
	if s.norms.add {
		kernel.Add(x, s.y[r*d:][:d])
	}
	kernel.RMSNorm(s.h[r*d:][:d], x, s.norms.weight, s.m.Eps)
}

// rotateAndStore turns queries and keys by their positions and writes keys and values
// to the pages of the layer.
func (s *Step) rotateAndStore(layer int) {
	s.at = layer
	s.perRow(s.tasks.rotate)
}

func rotateRow(s *Step, r int) {
	m, at := s.m, s.rows[r]
	qd, kd := m.H*m.C, m.G*m.C
	m.rope.Apply(s.q[r*qd:][:qd], m.H, at.pos)
	k := s.k[r*kd:][:kd]
	m.rope.Apply(k, m.G, at.pos)
	s.arena.put(s.runs[at.run].Pages[at.pos/kernel.PageTokens], s.at, at.pos%kernel.PageTokens, k, s.v[r*kd:][:kd])
}

// activate computes gate = silu(gate) * up.
func (s *Step) activate() { s.perRow(s.tasks.activate) }

func activateRow(s *Step, r int) {
	f := s.m.F
	g := s.gate[r*f:][:f]
	kernel.SwiGLU(g, g, s.up[r*f:][:f])
}
