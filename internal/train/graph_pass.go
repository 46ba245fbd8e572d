package train

import (
	"context"

	"macaron/internal/engine/kernel"
	"macaron/internal/engine/lora"
	"macaron/internal/engine/model"
)

// pass is one call of a graph.
type pass struct {
	g        *Graph
	m        *model.Model
	ctx      context.Context
	mix      lora.Mix
	seqs     []Sequence
	slope    Slope    // nil: forward only
	to       *targets // where gradients go
	logprobs [][]float32
	slopes   [][]float32 // by sequence, once its log probabilities are complete

	pool  *kernel.Pool // of the piece that runs
	step  *model.Step
	arena *model.Arena
	free  []int32 // pages
	list  []model.Run
	kept  []float32
	head  headRoom
	back  backRoom
}

// run computes all sequences.
func (p *pass) run(ctx context.Context) error {
	if err := p.g.check(p.seqs); err != nil {
		return err
	}
	select {
	case p.g.free <- struct{}{}:
		defer func() { <-p.g.free }()
	case <-ctx.Done():
		return canceled(ctx)
	}
	p.ctx = ctx
	p.logprobs, p.slopes = make([][]float32, len(p.seqs)), make([][]float32, len(p.seqs))
	for i, s := range p.seqs {
		p.logprobs[i] = make([]float32, len(s.Targets))
	}
	least := p.g.o.Least
	if p.g.o.Unshared {
		least = 0
	}
	root := plant(p.seqs, least)
	pages := root.room(p.g.o.Rows)
	if err := p.do(func() {
		p.arena = p.m.NewArena(pages, p.g.o.Mode)
		p.step = p.m.NewStep(p.pool, p.arena)
	}); err != nil {
		return err
	}
	for page := pages - 1; page >= 0; page-- {
		p.free = append(p.free, int32(page))
	}
	return p.below(root)
}

// do runs a piece of work when it is its turn.
func (p *pass) do(piece func()) error {
	return p.g.turns.Do(p.ctx, func(pool *kernel.Pool) {
		p.pool = pool
		piece()
	})
}

// below computes everything that continues a stretch.
func (p *pass) below(s *stretch) error {
	for _, k := range s.packs(p.g.o.Rows) {
		if err := p.visit(k); err != nil {
			return err
		}
	}
	return nil
}

// visit computes a pack with everything that continues it.
func (p *pass) visit(k *pack) error {
	err := p.open(k)
	if err == nil {
		err = p.inside(k)
	}
	if cerr := p.close(k); err == nil {
		err = cerr
	}
	return err
}

// inside computes a pack forward, what continues it, and the pack backward.
func (p *pass) inside(k *pack) error {
	if err := p.forward(k); err != nil {
		return err
	}
	for _, s := range k.stretches {
		p.deliver(s)
		if err := p.below(s); err != nil {
			return err
		}
	}
	if p.slope == nil {
		return nil
	}
	return p.backward(k.living(p.g.o.Rows))
}

// deliver asks for the slopes of the sequences that end in a stretch: their log
// probabilities are complete.
func (p *pass) deliver(s *stretch) {
	if p.slope == nil {
		return
	}
	for _, i := range s.ends {
		p.slopes[i] = append([]float32(nil), p.slope(i, p.logprobs[i])...)
		live := false
		for at := s; at.parent != nil; at = at.parent {
			live = live || at.steep(p.seqs[i].K, p.slopes[i])
			at.live = at.live || live
		}
	}
}

// steep tells whether a sequence's log probabilities have a slope at positions of s.
func (s *stretch) steep(k int, slopes []float32) bool {
	for _, f := range slopes[s.lo*k : s.hi*k] {
		if f != 0 {
			return true
		}
	}
	return false
}
