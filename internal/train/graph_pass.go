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
	way      Way
	mix      lora.Mix
	seqs     []Sequence
	slope    Slope    // nil: forward only
	to       *targets // where gradients go
	resident *Kept    // nil: prompts go with the pass
	logprobs [][]float32
	slopes   [][]float32 // by sequence, once its log probabilities are complete
	found    Found
	now      Memory
	watch    map[int][]float32 // log probabilities by prompts that were captured before
	drift    float64           // largest difference to them

	pool                    *kernel.Pool // of the piece that runs
	step                    *model.Step
	arena                   *model.Arena
	file                    scratch // of pages, nil: in memory
	sumsInFile, tapesInFile bool
	free                    []int32 // pages
	seen                    []int32 // those that were brought
	list                    []model.Run
	kept                    []float32
	head                    headRoom
	back                    backRoom
	insides                 insides
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
	defer p.insides.drop()
	p.logprobs, p.slopes = make([][]float32, len(p.seqs)), make([][]float32, len(p.seqs))
	root := p.plant()
	err := p.prepare(root)
	if err == nil {
		err = p.all(root)
	}
	if cerr := p.finish(root, err); err == nil {
		err = cerr
	}
	return err
}

// plant makes the tree of the sequences.
func (p *pass) plant() *stretch {
	least, fixed := p.g.o.Least, p.way == ResponseOnly || p.way == Resident
	if p.way == Plain {
		least = 0
	}
	root := plant(p.seqs, least, fixed)
	if p.way == Resident {
		root.askNothing()
	}
	return root
}

// all computes what is below the root, with what a resident prefix was before.
func (p *pass) all(root *stretch) error {
	if p.resident == nil {
		return p.below(root)
	}
	before, err := p.resident.renew(p, root)
	if err != nil {
		return err
	}
	if err := p.below(root); err != nil {
		return err
	}
	p.resident.compare(p, before)
	return nil
}

// do runs a piece of work when it is its turn.
func (p *pass) do(piece func()) error {
	err := p.g.turns.Do(p.ctx, func(pool *kernel.Pool) {
		p.pool = pool
		piece()
	})
	p.weigh()
	return err
}

// below computes everything that continues a stretch.
func (p *pass) below(s *stretch) error {
	for _, k := range s.packs(p.g.o.rowsBy()) {
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

// inside computes a pack forward, what continues it, and the pack backward, unless it is a
// prompt that gradients do not enter.
func (p *pass) inside(k *pack) error {
	if !k.stretches[0].kept {
		if err := p.forward(k); err != nil {
			return err
		}
	}
	for _, s := range k.stretches {
		if s.fixed && p.resident != nil {
			s.kept = true
		}
		p.deliver(s)
		if err := p.below(s); err != nil {
			return err
		}
	}
	if !p.keeps(k) {
		return nil
	}
	if err := p.backward(k.living(p.g.o.rowsBy())); err != nil {
		return err
	}
	p.release(k)
	return nil
}

// keeps tells whether a pack is computed backward later.
func (p *pass) keeps(k *pack) bool { return p.slope != nil && !k.stretches[0].fixed }

// deliver asks for the slopes of the sequences that end in a stretch: their log
// probabilities are complete.
func (p *pass) deliver(s *stretch) {
	if p.slope == nil {
		return
	}
	for _, i := range s.ends {
		slopes := p.slope(i, p.logprobsOf(i))
		p.seeDrift(i)
		p.logprobs[i] = nil
		if s.fixed {
			continue
		}
		p.slopes[i] = append([]float32(nil), slopes...)
		live := false
		for at := s; at.parent != nil; at = at.parent {
			live = live || at.steep(p.seqs[i].K, p.slopes[i])
			at.live = at.live || live
		}
	}
}

// logprobsOf is the log probabilities of a sequence, zeros until they are known.
func (p *pass) logprobsOf(i int) []float32 {
	if p.logprobs[i] == nil {
		p.logprobs[i] = make([]float32, len(p.seqs[i].Targets))
	}
	return p.logprobs[i]
}

// release forgets the slopes of sequences that need them no more: gradients do not enter
// what they continue.
func (p *pass) release(k *pack) {
	for _, s := range k.stretches {
		if s.parent.fixed || s.parent.parent == nil {
			for _, i := range s.ends {
				p.slopes[i] = nil
			}
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
