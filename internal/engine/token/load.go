package token

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"macaron/internal/errs"
)

// Source is the metadata of a model file; gguf.Meta is one.
type Source interface {
	Has(key string) bool
	String(key string) (string, error)
	StringOr(key, def string) (string, error)
	UintOr(key string, def uint64) (uint64, error)
	BoolOr(key string, def bool) (bool, error)
	Strings(key string) ([]string, error)
	Ints(key string) ([]int64, error)
	Floats(key string) ([]float64, error)
}

// loaders are the algorithms by the name that GGUF gives them.
var loaders = map[string]func(*Tokenizer, Source) (ranked []uint64, err error){
	"gpt2": (*Tokenizer).loadBytes, "llama": (*Tokenizer).loadPieces, "bert": (*Tokenizer).loadWordPiece,
	"gemma4": (*Tokenizer).loadRunes,
}

// FromGGUF builds the tokenizer that a model file describes. A vocabulary of
// another algorithm or with an unknown pre-tokeniser is Unsupported; an
// inconsistent one is FormatInvalid.
func FromGGUF(meta Source) (*Tokenizer, error) {
	model, err := meta.String("tokenizer.ggml.model")
	if err != nil {
		return nil, err
	}
	load := loaders[model]
	if load == nil {
		return nil, errs.New(errs.Unsupported, fmt.Sprintf("the model's tokenizer is of kind %q; built in are: bert (WordPiece), gemma4 (BPE over runes), gpt2 (byte-level BPE), llama (SentencePiece BPE)", model),
			"use a model with one of these vocabularies, or serve this one through --upstream")
	}
	t := &Tokenizer{unk: -1}
	ranked, err := load(t, meta)
	if err != nil {
		return nil, err
	}
	if err := t.loadSpecials(meta); err != nil {
		return nil, err
	}
	t.hash = t.digest(ranked)
	return t, nil
}

// loadBytes reads a byte-level vocabulary and returns its merges by rank.
func (t *Tokenizer) loadBytes(meta Source) ([]uint64, error) {
	name, err := meta.StringOr("tokenizer.ggml.pre", "default")
	if err != nil {
		return nil, err
	}
	rule, ok := families[name]
	if !ok {
		return nil, errs.New(errs.Unsupported, fmt.Sprintf("the model's pre-tokeniser %q is not built in; these are: %s",
			name, strings.Join(slices.Sorted(maps.Keys(families)), ", ")), "serve this model through --upstream")
	}
	t.algo, t.pre, t.split, t.whole = bpeBytes, name, rule.split, rule.whole
	err = t.loadTokens(meta, func(text string, k Kind) []byte {
		if k == Normal || k == Byte {
			if b, ok := unmapped(nil, text); ok {
				return b
			}
		}
		return []byte(text)
	})
	if err != nil {
		return nil, err
	}
	t.findBytes()
	return t.loadMerges(meta)
}

func (t *Tokenizer) loadMerges(meta Source) ([]uint64, error) {
	lines, err := meta.Strings("tokenizer.ggml.merges")
	if err != nil {
		return nil, err
	}
	return t.rank(len(lines), func(i int) (left, right string, ok bool) { return strings.Cut(lines[i], " ") })
}

// loadRunes reads a vocabulary that spells spaces as SentencePiece does, but has merges.
// Lines are words.
func (t *Tokenizer) loadRunes(meta Source) ([]uint64, error) {
	t.algo, t.pre, t.fuse = bpeRunes, "gemma4", true
	t.norm, t.split = replaced(" ", blank), by(runOf(newline))
	if err := t.loadTokens(meta, decodedPiece); err != nil {
		return nil, err
	}
	if err := t.findFallback(); err != nil {
		return nil, err
	}
	return t.loadMerges(meta)
}

// loadTokens reads tokens and their kinds; decoded gives the text of a token.
func (t *Tokenizer) loadTokens(meta Source, decoded func(text string, k Kind) []byte) error {
	texts, err := meta.Strings("tokenizer.ggml.tokens")
	if err != nil {
		return err
	}
	kinds, err := meta.Ints("tokenizer.ggml.token_type")
	if err != nil {
		return err
	}
	if len(texts) == 0 || len(texts) > maxVocab || len(kinds) != len(texts) {
		return bad("the vocabulary has %d tokens and %d token types; they must be equally many, 1 to %d", len(texts), len(kinds), maxVocab)
	}
	t.lexicon = newLexicon(len(texts))
	for i, text := range texts {
		if kinds[i] < int64(Normal) || kinds[i] > int64(Byte) {
			return bad("token %d has the unknown type %d", i, kinds[i])
		}
		k := Kind(kinds[i])
		t.append(text, decoded(text, k), k)
		if err := t.addWhole(text, k, int32(i)); err != nil {
			return err
		}
	}
	return nil
}

// addWhole files a token that is taken as a whole. SentencePiece finds those with spaces
// in the normalised text, where U+2581 is one.
func (t *Tokenizer) addWhole(text string, k Kind, id int32) error {
	switch {
	case k != Control && k != Unknown && k != UserDefined:
		return nil
	case k == UserDefined && t.algo == bpeScores && strings.ContainsAny(text, " "+blank) && !isTag(text):
		return t.addToken(&t.later, t.spelled(text), k, addedToken{id: id})
	}
	return t.addToken(&t.added, text, k, addedToken{id: id})
}

// findBytes finds the token of each byte of a byte-level vocabulary.
func (t *Tokenizer) findBytes() {
	for b := range t.bytes {
		t.bytes[b] = -1
		if id, ok := t.normal(string(byteToRune[b])); ok {
			t.bytes[b] = id
		}
	}
}

// rank files n merges, which name tokens by their spelling, and returns their pairs by
// rank. A merge that would make a control token is left out: text never becomes one.
func (t *Tokenizer) rank(n int, at func(int) (left, right string, ok bool)) (ranked []uint64, err error) {
	t.merges = make(map[uint64]merge, n)
	for rank := range n {
		left, right, ok := at(rank)
		if !ok {
			return nil, bad("merge %d (%q) is not a pair", rank, errs.Clip(left))
		}
		l, okL := t.ids[left]
		r, okR := t.ids[right]
		id, okID := t.ids[left+right]
		if !okL || !okR || !okID {
			return nil, bad("merge %d (%q) uses a token that is not in the vocabulary", rank, errs.Clip(left+" "+right))
		}
		if _, dup := t.merges[pair(l, r)]; !dup && !t.IsControl(id) {
			t.merges[pair(l, r)] = merge{rank: uint32(rank), id: id}
			ranked = append(ranked, pair(l, r))
		}
	}
	return ranked, nil
}
