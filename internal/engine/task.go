package engine

import (
	"context"
	"math"

	"macaron/internal/engine/constrain"
	"macaron/internal/engine/grammar"
	"macaron/internal/engine/kv"
	"macaron/internal/engine/sample"
)

// kind is what becomes of the rows of a task.
type kind uint8

const (
	answering kind = iota // the last row is sampled, again and again
	choosing              // the last row gives the logits of the labels' first tokens
	labelling             // rows give the probability of a label's next tokens
	scoring               // every row gives the probability of the next token
)

// task is one sequence that waits or runs. A request is one task, or for a choice one
// for the prompt and then one for every label that has more than one token to score.
type task struct {
	kind   kind
	ctx    context.Context
	stream *Stream
	weights
	key     kv.Key
	sw      kv.Switch
	session string
	yields  bool
	stamp   int64 // when it arrived, by the loop's clock

	tokens []int32 // to be fed, and fed: tokens[:seq.Len()]
	prompt int     // tokens of the caller's prompt
	limit  int     // most tokens of the sequence
	need   int     // the first position whose row is needed
	seq    *kv.Seq

	// answering
	sampling  sample.Params
	early     sample.Params // of the first min tokens, without the ends of a turn
	min       int
	history   *sample.History  // nil when nothing is penalised
	within    *grammar.Matcher // nil: any token may come
	mask      []uint64         // scratch memory of within
	maskOf    int              // position that mask is of
	light     bool             // log probabilities are not asked for
	whole     bool             // the answer ends within what is left
	left      int              // tokens still to sample
	top       int
	ignoreEOS bool
	scored    bool // the prompt's own tokens are reported, with promptTop alternatives
	promptTop int
	targets   [][]int32 // further tokens to score, by position
	stops     *stopper  // nil for none

	// choosing and labelling
	choice *choice
	label  int

	// labelling and scoring
	expect []int32 // expect[p+1] is the token to score at position p
	scores []float64
}

// choice gathers the parts of one.
type choice struct {
	plan  *constrain.Plan
	limit int       // most tokens of any sequence of it
	first []float32 // logits of plan.First
	rest  []float64 // by label
	open  int       // labels not yet scored
}

// pending is how many tokens are to be fed.
func (t *task) pending() int { return len(t.tokens) - t.seq.Len() }

// wanted is how many of the last rows are needed when n tokens are fed from position
// pos.
func (t *task) wanted(pos, n int) int { return min(n, max(0, pos+n-t.need)) }

// reuse is how many tokens may come from the cache: rows that are needed must be
// computed.
func (t *task) reuse() int { return min(t.need, len(t.tokens)-1) }

// known gives the token that follows position pos where it is not sampled.
func (t *task) known(pos int) (int32, bool) {
	switch {
	case t.expect != nil:
		return t.expect[pos+1], true
	case t.scored && pos+1 < t.prompt:
		return t.tokens[pos+1], true
	}
	return 0, false
}

// params are those of the token at a position.
func (t *task) params(pos int) sample.Params {
	if pos < t.prompt+t.min {
		return t.early
	}
	return t.sampling
}

// labels makes the tasks that score what follows the first token of each label.
func (t *task) labels() []*task {
	var out []*task
	c := t.choice
	for i, tail := range c.plan.Tails {
		if c.plan.Steps(i) == 0 || len(c.plan.Tails) == 1 {
			continue
		}
		l := &task{kind: labelling, ctx: t.ctx, stream: t.stream, weights: t.weights, key: t.key, sw: t.sw, session: t.session, yields: t.yields, choice: c, label: i, need: len(t.tokens)}
		l.expect = append(append([]int32(nil), t.tokens...), tail...)
		l.tokens = l.expect[:len(l.expect)-1]
		l.limit = len(l.tokens)
		out = append(out, l)
	}
	c.open = len(out)
	return out
}

// score gives the log probabilities of the targets at a position of the prompt.
func (t *task) score(pos int, logits []float32, norm float64) []float64 {
	if pos >= len(t.targets) {
		return nil
	}
	out := make([]float64, len(t.targets[pos]))
	for i, id := range t.targets[pos] {
		if out[i] = math.NaN(); id >= 0 {
			out[i] = float64(logits[id]) - norm
		}
	}
	return out
}
