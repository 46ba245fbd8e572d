package model

import (
	"macaron/internal/engine/kernel"
	"macaron/internal/engine/lora"
)

// Run is a stretch of consecutive tokens of one sequence in a step. A step may hold
// several runs of one sequence that follow each other with different adapters: a layer
// stores the keys and values of all rows before any row looks at them.
type Run struct {
	Tokens []int32 // at positions Pos, Pos+1, ...
	Pos    int
	Pages  []int32  // the sequence's page table, pages for these tokens included
	Mix    lora.Mix // the adapters of these tokens; kept until the step is over
	Want   int      // how many of the last tokens need their final hidden state
}

// Step is the working memory of Forward, for one goroutine. Its buffers grow to the
// largest step and stay.
type Step struct {
	m     *Model
	pool  *kernel.Pool
	arena *Arena
	mode  kernel.Mode

	runs   []Run
	rows   []row            // [n]
	groups []group          // neighbouring rows of one mixture
	seqs   []kernel.AttnSeq // one per run
	pages  [][]*kernel.Page // [run], of the current layer

	x, y       []float32 // [n, d]: residual stream, output of a part
	h          []float32 // [n, d]: normalised input of a part
	q, att     []float32 // [n, h*c]
	k, v       []float32 // [n, g*c]
	gate, up   []float32 // [n, f]
	act        []float32 // [n, f]: act(gate) * up; gate's own memory, see LayerInside
	low        []float32 // results of the adapters' first halves
	acts       kernel.Acts
	ahead      []*kernel.Ahead  // what the products of a step read, in their order, see ahead
	list       []kernel.Product // of one dispatch
	lows       []kernel.LowRank // of its products
	picked     []float32        // [wanted, d], the result
	pickedActs kernel.Acts
	picks      []group // neighbouring rows of one mixture among those of Logits

	at    int // layer of the row tasks
	norms struct {
		post, weight []float32
		add          bool
	}
	tasks    tasks
	inside   *Interior // of the layer that Recall computes, else nil
	recalled *Interior // its memory
	restored Interior  // of Restore
	last     *Interior // what Recall or Restore gave last
}

// row is where a row of the step belongs.
type row struct {
	run, pos int
	token    int32
}

// group is rows [lo, hi) of one mixture.
type group struct {
	lo, hi int
	mix    lora.Mix
}

// NewStep makes a step over an arena, of the arena's mode.
func (m *Model) NewStep(p *kernel.Pool, a *Arena) *Step {
	s := &Step{m: m, pool: p, arena: a, mode: a.mode}
	s.tasks.bind(s)
	s.plan()
	return s
}

// lay spreads the runs over rows. Runs of one mixture should be neighbours, then each
// adapter's matrices are read once per step.
func (s *Step) lay(runs []Run) int {
	m := s.m
	s.runs, s.rows, s.groups, s.seqs = runs, s.rows[:0], s.groups[:0], s.seqs[:0]
	for i, r := range runs {
		lo := len(s.rows)
		for j, t := range r.Tokens {
			s.rows = append(s.rows, row{i, r.Pos + j, t})
		}
		s.seqs = append(s.seqs, kernel.AttnSeq{Pos0: r.Pos, N: len(r.Tokens), Row0: lo})
		if g := len(s.groups); g > 0 && s.groups[g-1].mix.Equal(r.Mix) {
			s.groups[g-1].hi = len(s.rows)
		} else {
			s.groups = append(s.groups, group{lo, len(s.rows), r.Mix})
		}
		for _, p := range r.Pages[:(r.Pos+len(r.Tokens)+kernel.PageTokens-1)/kernel.PageTokens] {
			s.arena.touch(p) // before threads need it
		}
		for len(s.pages) <= i {
			s.pages = append(s.pages, nil)
		}
	}
	n := len(s.rows)
	s.x, s.y, s.h = grow(s.x, n*m.D), grow(s.y, n*m.D), grow(s.h, n*m.D)
	s.q, s.att = grow(s.q, n*m.H*m.C), grow(s.att, n*m.H*m.C)
	s.k, s.v = grow(s.k, n*m.G*m.C), grow(s.v, n*m.G*m.C)
	s.gate, s.up = grow(s.gate, n*m.F), grow(s.up, n*m.F)
	s.act = s.gate
	return n
}

func grow(s []float32, n int) []float32 {
	if cap(s) < n {
		return make([]float32, n, n+n/4)
	}
	return s[:n]
}
