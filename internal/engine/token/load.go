package token

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"macaron/internal/errs"
)

// maxVocab bounds the number of tokens; the largest known vocabulary has 262,144.
const maxVocab = 1 << 20

// Source is the metadata of a model file; gguf.Meta is one.
type Source interface {
	Has(key string) bool
	String(key string) (string, error)
	StringOr(key, def string) (string, error)
	UintOr(key string, def uint64) (uint64, error)
	BoolOr(key string, def bool) (bool, error)
	Strings(key string) ([]string, error)
	Ints(key string) ([]int64, error)
}

// turnEnds are the texts that end a turn or a text in some family of models. The
// files name only one of them as eos_token_id.
var turnEnds = []string{"<|im_end|>", "<|endoftext|>", "<|eot_id|>", "<|eom_id|>", "<|end_of_text|>", "<|end|>",
	"<|return|>", "<|call|>", "<end_of_turn>", "<|END_OF_TURN_TOKEN|>", "<EOT>", "</s>"}

func bad(format string, args ...any) error { return errs.Newf(errs.FormatInvalid, format, args...) }

// FromGGUF builds the tokenizer that a model file describes. A vocabulary of
// another algorithm or with an unknown pre-tokeniser is Unsupported; an
// inconsistent one is FormatInvalid.
func FromGGUF(meta Source) (*Tokenizer, error) {
	model, err := meta.String("tokenizer.ggml.model")
	if err != nil {
		return nil, err
	}
	if model != "gpt2" {
		return nil, errs.New(errs.Unsupported, fmt.Sprintf("the model's tokenizer is of kind %q; only byte-level BPE (\"gpt2\") is built in", model),
			"use a model with a byte-level BPE vocabulary, or serve this one through --upstream")
	}
	t := &Tokenizer{}
	if err := t.loadPre(meta); err != nil {
		return nil, err
	}
	if err := t.loadTokens(meta); err != nil {
		return nil, err
	}
	order, err := t.loadMerges(meta)
	if err != nil {
		return nil, err
	}
	if err := t.loadSpecials(meta); err != nil {
		return nil, err
	}
	t.hash = t.digest(order)
	return t, nil
}

func (t *Tokenizer) loadPre(meta Source) (err error) {
	if t.pre, err = meta.StringOr("tokenizer.ggml.pre", "default"); err != nil {
		return err
	}
	rule, ok := families[t.pre]
	if !ok {
		return errs.New(errs.Unsupported, fmt.Sprintf("the model's pre-tokeniser %q is not built in; these are: %s",
			t.pre, strings.Join(slices.Sorted(maps.Keys(families)), ", ")), "serve this model through --upstream")
	}
	t.split, t.whole = rule.split, rule.whole
	return nil
}

func (t *Tokenizer) loadTokens(meta Source) error {
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
	t.ids = make(map[string]int32, len(texts))
	t.kinds = make([]Kind, len(texts))
	t.ends = make([]uint32, 0, len(texts))
	for i, text := range texts {
		if kinds[i] < int64(Normal) || kinds[i] > int64(Byte) {
			return bad("token %d has the unknown type %d", i, kinds[i])
		}
		t.kinds[i] = Kind(kinds[i])
		t.addToken(int32(i), text)
	}
	for b := range t.bytes {
		t.bytes[b] = -1
		if id, ok := t.normal(string(byteToRune[b])); ok {
			t.bytes[b] = id
		}
	}
	return nil
}

// normal finds a token that merging can make, by its spelling.
func (t *Tokenizer) normal(spelling string) (int32, bool) {
	id, ok := t.ids[spelling]
	return id, ok && (t.kinds[id] == Normal || t.kinds[id] == Byte)
}

// addToken files one token under its spelling; of two with equal spelling the first
// counts. An entry that spells no bytes can be decoded, but no text encodes to it.
func (t *Tokenizer) addToken(id int32, text string) {
	k := t.kinds[id]
	ok := false
	if k == Normal || k == Byte {
		t.blob, ok = unmapped(t.blob, text)
	}
	if !ok {
		t.blob = append(t.blob, text...)
	}
	t.ends = append(t.ends, uint32(len(t.blob)))
	if _, dup := t.ids[text]; !dup {
		t.ids[text] = id
	}
	switch {
	case text == "":
	case k == Control || k == Unknown:
		t.added.add(text, id, true)
	case k == UserDefined:
		t.added.add(text, id, isTag(text))
	}
}

// isTag tells whether a user-defined token looks like markup, which steers models
// as control tokens do and so needs the same care.
func isTag(text string) bool {
	first, last := text[0], text[len(text)-1]
	return len(text) > 2 && (first == '<' && last == '>' || first == '[' && last == ']')
}

// loadMerges reads the merges, which name tokens by their spelling, and returns
// their pairs by rank.
func (t *Tokenizer) loadMerges(meta Source) (order []uint64, err error) {
	lines, err := meta.Strings("tokenizer.ggml.merges")
	if err != nil {
		return nil, err
	}
	t.merges = make(map[uint64]merge, len(lines))
	for rank, line := range lines {
		left, right, ok := strings.Cut(line, " ")
		if !ok {
			return nil, bad("merge %d (%q) is not a pair", rank, line)
		}
		l, okL := t.ids[left]
		r, okR := t.ids[right]
		id, okID := t.ids[left+right]
		if !okL || !okR || !okID {
			return nil, bad("merge %d (%q) uses a token that is not in the vocabulary", rank, line)
		}
		if _, dup := t.merges[pair(l, r)]; !dup {
			t.merges[pair(l, r)] = merge{rank: int32(rank), id: id}
			order = append(order, pair(l, r))
		}
	}
	return order, nil
}

func (t *Tokenizer) loadSpecials(meta Source) (err error) {
	if t.addBOS, err = meta.BoolOr("tokenizer.ggml.add_bos_token", false); err != nil {
		return err
	}
	if t.bos, err = t.special(meta, "bos"); err != nil {
		return err
	}
	if t.eos, err = t.special(meta, "eos"); err != nil {
		return err
	}
	t.eog = map[int32]bool{}
	for _, name := range []string{"eos", "eot", "eom"} {
		id, err := t.special(meta, name)
		if err != nil {
			return err
		}
		if id >= 0 {
			t.eog[id] = true
		}
	}
	for _, text := range turnEnds {
		if id, n := t.added.longest(text); n == len(text) && t.kinds[id] == Control {
			t.eog[id] = true
		}
	}
	return nil
}

// special reads tokenizer.ggml.NAME_token_id; -1 when the file has none.
func (t *Tokenizer) special(meta Source, name string) (int32, error) {
	key := "tokenizer.ggml." + name + "_token_id"
	if !meta.Has(key) {
		return -1, nil
	}
	id, err := meta.UintOr(key, 0)
	if err != nil {
		return -1, err
	}
	if id >= uint64(t.Vocab()) {
		return -1, bad("%s is %d, the vocabulary has %d tokens", key, id, t.Vocab())
	}
	return int32(id), nil
}
