package engine

import (
	"macaron/internal/engine/grammar"
	"macaron/internal/engine/sample"
	"macaron/internal/errs"
)

// Constraints is the engine's vocabulary, for which grammars are made. It is built when
// it is first asked for.
func (e *Engine) Constraints() (*grammar.Vocab, error) { return e.vocab() }

// constrain begins the grammar of a request.
func (e *Engine) constrain(t *task, r *Request) error {
	if r.Grammar == nil {
		return nil
	}
	v := r.Grammar.Vocab()
	switch mine, err := e.Constraints(); {
	case err != nil:
		return err
	case v != mine:
		return errs.New(errs.InvalidRequest, "the grammar was made for another vocabulary", "make it with this engine's Constraints").In("grammar")
	case v.Size() > e.model.V:
		return errs.New(errs.FormatInvalid, "the vocabulary has tokens that the model does not have", "use another model file")
	case len(r.Choices) > 0 || r.IgnoreEOS:
		return errs.New(errs.InvalidRequest, "a grammar goes neither with choices nor with ignored ends", "ask for one of them").In("grammar")
	}
	t.within, t.mask, t.light, t.whole = r.Grammar.Start(), make([]uint64, v.Words()), r.NoLogprobs && r.TopLogprobs == 0, r.Whole
	return nil
}

// pick samples a token, within the grammar if there is one. It runs in the pool beside
// other rows, so that finding a mask holds up nobody else's.
func (t *task) pick(logits []float32, s *sample.Sampler, position int) (int32, error) {
	p := t.params(position)
	if t.within == nil {
		return s.Pick(logits, p, t.history, position), nil
	}
	if err := t.masked(position); err != nil {
		return 0, err
	}
	id, ok := s.PickWithin(logits, t.mask, p, t.history, position)
	if !ok {
		return 0, errs.New(errs.Unsupported, "the model's vocabulary has no token that continues the answer within its grammar", "allow other texts there, or use another model")
	}
	if t.whole && !t.ends(id) {
		return t.nearer(id, logits, s, position)
	}
	return id, nil
}

// ends tells whether the answer can still come to its end when a token is taken: with one
// token more for each byte that is missing then, and one to end with. What was so before a
// token stays so behind it, since the shortest text can always be gone on with.
func (t *task) ends(id int32) bool {
	behind := t.within.Clone()
	if behind.Accept(id) != nil {
		return false
	}
	ended := behind.Done() && !behind.Accepting()
	return ended || behind.Rest() <= t.left-2
}

// nearer samples among the tokens that begin the shortest text to the end, in the place of
// one that leads too far. Where the end was out of reach before, that one stays.
func (t *task) nearer(far int32, logits []float32, s *sample.Sampler, position int) (int32, error) {
	if t.within.Rest() > t.left-1 {
		return far, nil
	}
	t.maskOf = 0
	t.within.Nearer(t.mask)
	if id, ok := s.PickWithin(logits, t.mask, t.params(position), t.history, position); ok {
		return id, nil
	}
	return far, nil
}

// masked finds the mask of a position, once.
func (t *task) masked(position int) error {
	if t.maskOf == position {
		return nil
	}
	if err := t.within.Mask(t.mask); err != nil {
		return err
	}
	t.maskOf = position
	return nil
}

// follow tells the grammar which token was taken.
func (t *task) follow(id int32) error {
	if t.within == nil {
		return nil
	}
	return t.within.Accept(id)
}
