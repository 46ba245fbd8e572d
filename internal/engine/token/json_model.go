package token

import (
	"encoding/json"
	"fmt"
	"strings"
)

// modelJSON is what all models may have as members.
type modelJSON struct {
	Type         string           `json:"type"`
	Vocab        map[string]int64 `json:"vocab"`
	Merges       []mergeJSON      `json:"merges"`
	Unk          *string          `json:"unk_token"`
	Dropout      *float64         `json:"dropout"`
	Prefix       *string          `json:"continuing_subword_prefix"`
	Suffix       *string          `json:"end_of_word_suffix"`
	FuseUnk      bool             `json:"fuse_unk"`
	ByteFallback bool             `json:"byte_fallback"`
	IgnoreMerges bool             `json:"ignore_merges"`
	MaxWord      *int             `json:"max_input_chars_per_word"`
}

// mergeJSON is a merge: ["left", "right"], or "left right" in older files.
type mergeJSON struct {
	left, right string
	ok          bool
}

// UnmarshalJSON reads either form.
func (m *mergeJSON) UnmarshalJSON(b []byte) error {
	if len(b) > 0 && b[0] == '[' {
		var both []string
		if err := json.Unmarshal(b, &both); err != nil {
			return err
		}
		if m.ok = len(both) == 2; m.ok {
			m.left, m.right = both[0], both[1]
		}
		return nil
	}
	var line string
	if err := json.Unmarshal(b, &line); err != nil {
		return err
	}
	m.left, m.right, m.ok = strings.Cut(line, " ")
	return nil
}

// modelJSON reads vocabulary, added tokens and merges, and returns the merges by rank.
func (t *Tokenizer) modelJSON(raw json.RawMessage, added []addedJSON) ([]uint64, error) {
	kind, err := typeOf(raw, "the model")
	if err != nil {
		return nil, err
	}
	if kind != "BPE" && kind != "WordPiece" && kind != "" {
		return nil, unsupported(fmt.Sprintf("model is of type %q", kind), "BPE, WordPiece")
	}
	var m modelJSON
	if err := strict(raw, &m, "model"); err != nil {
		return nil, err
	}
	if kind == "WordPiece" || kind == "" && m.MaxWord != nil {
		return nil, t.wordPieceJSON(m, added)
	}
	return t.bpeJSON(m, added)
}

func (t *Tokenizer) bpeJSON(m modelJSON, added []addedJSON) ([]uint64, error) {
	if m.Dropout != nil && *m.Dropout != 0 || m.Prefix != nil && *m.Prefix != "" || m.Suffix != nil && *m.Suffix != "" {
		return nil, unsupported("BPE has a dropout, a continuing_subword_prefix or an end_of_word_suffix", "")
	}
	if (t.algo == bpeBytes) != (t.decoded == nil) {
		return nil, unsupported("pre-tokenizer and decoder do not belong together: one is ByteLevel, the other is not", "")
	}
	t.whole, t.fuse = m.IgnoreMerges, m.FuseUnk
	if t.whole != families[t.pre].whole || m.ByteFallback || m.FuseUnk {
		t.rules += fmt.Sprintf("ignore merges %v, fallback %v, fuse %v\n", t.whole, m.ByteFallback, m.FuseUnk)
	}
	err := t.vocabJSON(m, added, func(text string, k Kind) []byte {
		switch {
		case k != Normal && k != Byte:
			return []byte(text)
		case t.decoded != nil:
			return t.decoded(text, k)
		}
		if b, ok := unmapped(nil, text); ok {
			return b
		}
		return []byte(text)
	})
	if err != nil {
		return nil, err
	}
	if t.algo == bpeBytes {
		t.findBytes()
	} else if err := t.findFallback(); err != nil {
		return nil, err
	}
	if err := t.unknownJSON(m); err != nil {
		return nil, err
	}
	return t.rank(len(m.Merges), func(i int) (left, right string, ok bool) {
		return m.Merges[i].left, m.Merges[i].right, m.Merges[i].ok
	})
}

func (t *Tokenizer) wordPieceJSON(m modelJSON, added []addedJSON) error {
	t.pieces = newWordPieces(len(m.Vocab))
	t.pieces.cleanup = t.tidy
	if t.algo == bpeBytes || m.Prefix == nil || *m.Prefix == "" || m.Unk == nil || len(m.Merges) > 0 {
		return unsupported("WordPiece is with ByteLevel, or without continuing_subword_prefix or unk_token", "")
	}
	if t.algo, t.strip = wordPiece, stripAny; m.MaxWord != nil {
		if *m.MaxWord < 1 || *m.MaxWord > maxWordLimit {
			return bad("max_input_chars_per_word is %d, 1 to %d are allowed", *m.MaxWord, maxWordLimit)
		}
		t.pieces.maxRunes = *m.MaxWord
	}
	t.pieces.prefix = *m.Prefix
	t.rules += t.pieces.rules()
	id := int32(0)
	err := t.vocabJSON(m, added, func(text string, k Kind) []byte {
		defer func() { id++ }()
		if k != Normal {
			return t.pieces.special(text)
		}
		if rest, continues := strings.CutPrefix(text, *m.Prefix); continues && rest != "" {
			return t.addPiece(rest, id, false)
		}
		return t.addPiece(text, id, true)
	})
	if err != nil {
		return err
	}
	return t.unknownJSON(m)
}

// vocabJSON files the vocabulary with the added tokens in it, by id. An id that nothing
// has is an unused token.
func (t *Tokenizer) vocabJSON(m modelJSON, added []addedJSON, decoded func(string, Kind) []byte) error {
	list, kinds, err := merged(m, added)
	if err != nil {
		return err
	}
	t.lexicon = newLexicon(len(list))
	texts := make(map[int64]string, len(added))
	for _, a := range added {
		if texts[a.ID], err = t.addedJSON(a, kinds[a.ID]); err != nil {
			return err
		}
	}
	for i, text := range list {
		if x, ok := texts[int64(i)]; ok && kinds[i] != Normal {
			t.append(text, decoded(x, kinds[i]), kinds[i])
			continue
		}
		t.append(text, decoded(text, kinds[i]), kinds[i])
	}
	return nil
}

// merged lists all tokens and their kinds by id.
func merged(m modelJSON, added []addedJSON) (list []string, kinds []Kind, err error) {
	n := int64(0)
	for text, id := range m.Vocab {
		if id < 0 || id >= maxVocab {
			return nil, nil, bad("a token has the id %d, 0 to %d are allowed", id, maxVocab-1)
		}
		n = max(n, id+1)
		if len(text) > maxPiece {
			return nil, nil, bad("token %d has %d bytes, at most %d are allowed", id, len(text), maxPiece)
		}
	}
	for _, a := range added {
		if a.ID < 0 || a.ID >= maxVocab {
			return nil, nil, bad("an added token has the id %d, 0 to %d are allowed", a.ID, maxVocab-1)
		}
		n = max(n, a.ID+1)
	}
	if n == 0 {
		return nil, nil, bad("the vocabulary is empty")
	}
	if tokens := len(m.Vocab) + len(added); n > 2*int64(tokens)+1024 {
		return nil, nil, bad("the vocabulary has %d places for %d tokens", n, tokens)
	}
	list, kinds = make([]string, n), make([]Kind, n)
	for i := range kinds {
		kinds[i] = Unused
	}
	for text, id := range m.Vocab {
		if kinds[id] != Unused {
			return nil, nil, bad("two tokens have the id %d", id)
		}
		list[id], kinds[id] = text, Normal
		if _, isByte := byteOf(text); isByte && m.ByteFallback {
			kinds[id] = Byte
		}
	}
	return list, kinds, place(m, added, list, kinds)
}

// place puts the added tokens among the others.
func place(m modelJSON, added []addedJSON, list []string, kinds []Kind) error {
	for _, a := range added {
		if id, ok := m.Vocab[a.Content]; ok && id != a.ID || !ok && kinds[a.ID] != Unused && list[a.ID] != a.Content {
			return bad("the added token %d is another token of the vocabulary", a.ID)
		}
		list[a.ID] = a.Content
		switch {
		case a.Special:
			kinds[a.ID] = Control
		case kinds[a.ID] == Unused || a.Content != "" && isTag(a.Content):
			kinds[a.ID] = UserDefined
		} // one that the model has too can also be made by merging
		if m.Unk != nil && *m.Unk == a.Content && !a.Special {
			kinds[a.ID] = Unknown
		}
	}
	return nil
}

// unknownJSON finds the unknown token.
func (t *Tokenizer) unknownJSON(m modelJSON) error {
	t.unk = -1
	if m.Unk == nil || *m.Unk == "" {
		return nil
	}
	id, ok := t.ids[*m.Unk]
	if !ok {
		return bad("the unknown token %.60q is not in the vocabulary", *m.Unk)
	}
	t.unk = id
	return nil
}
