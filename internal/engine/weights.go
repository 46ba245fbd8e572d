package engine

import (
	"fmt"
	"slices"

	"macaron/internal/engine/kv"
	"macaron/internal/engine/lora"
	"macaron/internal/errs"
	"macaron/internal/ids"
)

// Overlay asks that the first Tokens of a prompt be computed with other adapters than the
// rest: a prefix that the other adapters have in the cache already is then read once for
// both. The answer is approximate: what the request's adapters make of it would differ if
// they had read the prompt themselves. It does not depend on what is cached; a prefix that
// is not there is computed with the other adapters.
type Overlay struct {
	Adapter *lora.Adapter // nil: the bare base
	Mix     lora.Mix      // several, instead of Adapter
	Tokens  int           // 0: none, and the answer is exact
}

// weights is what computes a sequence: before acts on the positions below from, mix on
// the others. Everything is in terms of content, so equal weights give equal bits.
type weights struct {
	mix    lora.Mix // canonical
	before lora.Mix // canonical
	from   int
	over   bool // before is an overlay, not what the adapters of mix ask for

	mixKey, beforeKey ids.Digest
}

// weigh works out what computes a prompt.
//
// An activated adapter acts from the last occurrence of its invocation tokens in the
// prompt on, as PEFT has it (calculate_alora_offsets); where they do not occur the base
// answers alone. Before them the sequence is the base's, exactly.
func (e *Engine) weigh(prompt []int32, a *lora.Adapter, m lora.Mix, o Overlay) (weights, error) {
	mix, err := e.mixture(a, m)
	if err != nil {
		return weights{}, err
	}
	w := weights{mix: mix, mixKey: mix.Key()}
	if activated(mix) {
		if w.from = lastIndex(prompt, mix[0].Adapter.Invocation); w.from < 0 {
			w = weights{}
		}
	}
	if o.Tokens == 0 {
		return w, nil
	}
	return w, e.overlay(&w, len(prompt), activated(mix), o)
}

func (e *Engine) overlay(w *weights, prompt int, dormant bool, o Overlay) error {
	before, err := e.mixture(o.Adapter, o.Mix)
	if err != nil {
		return err
	}
	if o.Tokens < 0 || o.Tokens >= prompt {
		return errs.New(errs.InvalidRequest, fmt.Sprintf("the overlay covers %d of the prompt's %d tokens", o.Tokens, prompt), "leave at least the last one to the request's own adapters").In("overlay")
	}
	if dormant || activated(before) {
		return errs.New(errs.InvalidRequest, "an activated adapter takes no part in an overlay", "it shares the base's prefix already, exactly").In("overlay")
	}
	if key := before.Key(); key != w.mixKey {
		w.before, w.beforeKey, w.from, w.over = before, key, o.Tokens, true
	}
	return nil
}

// mixture checks the adapters that a request names.
func (e *Engine) mixture(a *lora.Adapter, m lora.Mix) (lora.Mix, error) {
	if a != nil && len(m) > 0 {
		return nil, errs.New(errs.InvalidRequest, "the request names an adapter and a mixture", "name one of them").In("adapter")
	}
	if a != nil {
		m = lora.Only(a)
	}
	for _, w := range m {
		if w.Adapter != nil && w.Adapter.Layers() != e.model.Layers {
			return nil, errs.New(errs.InvalidRequest, "the adapter was loaded for another base", "load it with this engine").In("adapter")
		}
	}
	return m.Canonical()
}

func activated(m lora.Mix) bool { return len(m) == 1 && len(m[0].Adapter.Invocation) > 0 }

// lastIndex is where the last occurrence of part in tokens starts, -1 for none.
func lastIndex(tokens, part []int32) int {
	for at := len(tokens) - len(part); at >= 0; at-- {
		if slices.Equal(tokens[at:at+len(part)], part) {
			return at
		}
	}
	return -1
}

// at is the mixture of a position, and its key.
func (w *weights) at(pos int) (lora.Mix, ids.Digest) {
	if pos < w.from {
		return w.before, w.beforeKey
	}
	return w.mix, w.mixKey
}

// switched tells whether weights change within the sequence, or an adapter that can be
// activated is: its pages hang below the base's.
func (w *weights) switched() bool { return w.over || activated(w.mix) }

// cacheKey is what the index files the sequence's pages under. Pages of an overlay carry
// a digest of their own, so that they are found by requests with the same overlay only.
func (w *weights) cacheKey(base ids.Digest, salt string) (kv.Key, kv.Switch) {
	if !w.switched() {
		return kv.Key{Base: base, Adapter: w.mixKey, Salt: salt}, kv.Switch{}
	}
	with := w.mixKey
	if w.over {
		with = ids.DigestOf([]byte("overlay\n" + string(with)))
	}
	return kv.Key{Base: base, Adapter: w.beforeKey, Salt: salt}, kv.Switch{At: w.from, With: with}
}
