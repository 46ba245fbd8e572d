package engine

import (
	"cmp"
	"slices"

	"macaron/internal/engine/lora"
	"macaron/internal/engine/sample"
)

// headRows is how many rows go through the head at once.
const headRows = 32

// results turns the final hidden states of a step into tokens and probabilities.
type results struct {
	l      *loop
	rows   []rowResult
	hidden []float32 // of rows
	logits []float32 // [headRows, v]
	mixes  []lora.Mix
	block  int // first row of the block that workers sample
	pick   func(worker, i int)

	few   []rowResult // rows whose grammar allows few tokens
	at    []float32   // of few
	masks func(worker, i int)
}

// rowResult is one row whose whole distribution is needed.
type rowResult struct {
	task    *task
	pos     int
	mix     lora.Mix // the adapters of this row
	id      int32
	logprob float64
	top     []sample.Logprob
	rank    int       // of a scored token of the prompt
	targets []float64 // of a position of the prompt
	err     error
}

func (o *results) bind() {
	o.masks = func(_, i int) { o.rows[i].mask() }
	o.pick = func(worker, i int) {
		v := o.l.e.model.V
		o.rows[o.block+i].resolve(o.logits[i*v:][:v], &o.l.samplers[worker])
	}
}

// emit hands out the results of a step: hidden holds the wanted rows of its runs.
func (o *results) emit(hidden []float32) {
	o.rows, o.hidden = o.rows[:0], o.hidden[:0]
	d := o.l.e.model.D
	for i, p := range o.l.stretches {
		run := &o.l.runs[i]
		own := hidden[:run.Want*d]
		hidden = hidden[run.Want*d:]
		if p.task.kind == choosing {
			o.choose(p.task, own, p.mix)
			continue
		}
		o.hidden = append(o.hidden, own...)
		for j := range run.Want {
			o.rows = append(o.rows, rowResult{task: p.task, pos: run.Pos + p.n - run.Want + j, mix: p.mix})
		}
	}
	o.narrow()
	o.resolve()
	o.rows = append(o.rows, o.few...)
	slices.SortStableFunc(o.rows, func(a, b rowResult) int { return cmp.Compare(a.pos, b.pos) }) // a task's rows may stand apart
	for i := range o.rows {
		o.deliver(&o.rows[i])
	}
}

// resolve computes the head and then each row's token, block by block.
func (o *results) resolve() {
	v, d := o.l.e.model.V, o.l.e.model.D
	for o.block = 0; o.block < len(o.rows); o.block += headRows {
		n := min(headRows, len(o.rows)-o.block)
		if cap(o.logits) < n*v {
			o.logits = make([]float32, n*v)
		}
		o.logits = o.logits[:n*v]
		o.mixes = o.mixes[:0]
		for i := range n {
			o.mixes = append(o.mixes, o.rows[o.block+i].mix)
		}
		o.l.step.Logits(o.logits, o.hidden[o.block*d:][:n*d], o.mixes)
		o.l.pool.Run(n, o.pick)
	}
}

// resolve takes the token out of a row's logits: the one that is known, or a sampled
// one. It runs beside others.
func (r *rowResult) resolve(logits []float32, s *sample.Sampler) {
	t := r.task
	norm := sample.Norm(logits)
	id, known := t.known(r.pos)
	switch {
	case !known:
		r.top = sample.Top(logits, norm, t.top)
		id, r.err = t.pick(logits, s, r.pos+1)
	case t.scored:
		r.top, r.rank = sample.Top(logits, norm, t.promptTop), sample.Rank(logits, id)
		r.targets = t.score(r.pos, logits, norm)
	}
	r.id = id
	r.logprob = float64(logits[r.id]) - norm
}

// deliver gives a row's result to its task.
func (o *results) deliver(r *rowResult) {
	t := r.task
	switch t.kind {
	case answering:
		o.answer(r)
	case labelling:
		t.choice.rest[t.label] += r.logprob
		if r.pos == len(t.tokens)-1 {
			o.l.finish(t)
			if t.choice.open--; t.choice.open == 0 {
				t.chosen()
			}
		}
	case scoring:
		t.scores = append(t.scores, r.logprob)
		if r.pos == len(t.tokens)-1 {
			o.l.finish(t)
			t.stream.push(Token{Last: true})
		}
	}
}

// answer appends a sampled token to its sequence.
func (o *results) answer(r *rowResult) {
	t := r.task
	if r.pos+1 < t.prompt {
		t.stream.score(PromptToken{ID: r.id, Logprob: r.logprob, Rank: r.rank, Top: r.top, Targets: r.targets})
		return
	}
	if r.err == nil {
		r.err = t.follow(r.id)
	}
	if r.err != nil {
		o.l.finish(t)
		t.stream.fail(r.err)
		return
	}
	o.l.stats.OutputTokens++
	t.left--
	tok := Token{ID: r.id, Logprob: r.logprob, Top: r.top}
	switch {
	case o.l.e.tok.IsEOG(r.id) && !t.ignoreEOS:
		tok.Last, tok.Reason = true, Stop
	case t.stops.met(r.id):
		tok.Last, tok.Reason = true, Stop
	case t.left == 0:
		tok.Last, tok.Reason = true, Length
	}
	if tok.Last {
		o.l.finish(t)
	} else {
		t.need = len(t.tokens)
		t.tokens = append(t.tokens, r.id)
		if t.history != nil {
			t.history.Add(r.id)
		}
	}
	t.stream.push(tok)
}

// choose takes the logits of the labels' first tokens and starts the labels.
func (o *results) choose(t *task, hidden []float32, mix lora.Mix) {
	if len(hidden) == 0 {
		return // the prompt is not through yet
	}
	c := t.choice
	c.first = make([]float32, len(c.plan.First))
	o.l.step.LogitsOf(c.first, hidden, c.plan.First, mix)
	o.l.finish(t)
	labels := t.labels()
	if len(labels) == 0 {
		t.chosen()
		return
	}
	o.l.queue = append(labels, o.l.queue...)
}

// chosen delivers a choice whose labels are all scored.
func (t *task) chosen() {
	p, best := t.choice.plan.Probabilities(t.choice.first, t.choice.rest)
	t.stream.push(Token{Last: true, Choice: &Choice{Index: best, Probabilities: p}})
}
