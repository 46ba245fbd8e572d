package token

import (
	"fmt"
	"strings"
)

// loadWordPiece reads a BERT vocabulary. GGUF marks the pieces that start a word with
// U+2581 and the others not at all.
func (t *Tokenizer) loadWordPiece(meta Source) ([]uint64, error) {
	t.algo, t.pre, t.blanks, t.split, t.strip = wordPiece, "bert", true, by(bertWord), stripAny
	lower, err := meta.BoolOr("tokenizer.ggml.normalizer.lowercase", true)
	if err != nil {
		return nil, err
	}
	strip, err := meta.BoolOr("tokenizer.ggml.normalizer.strip_accents", lower)
	if err != nil {
		return nil, err
	}
	t.bert = bertRules{clean: true, chinese: true, strip: strip, lower: lower}
	t.norm = t.bert.normalise
	rules, err := plainJSON(t.bert.asJSON())
	if err != nil {
		return nil, err
	}
	t.rules = ruleOf(rules)
	t.pieces = newWordPieces(0)
	t.rules += t.pieces.rules()
	id := int32(0)
	err = t.loadTokens(meta, func(text string, k Kind) []byte {
		defer func() { id++ }()
		if k != Normal {
			return t.pieces.special(text)
		}
		if word, starts := strings.CutPrefix(text, blank); starts {
			return t.addPiece(word, id, true)
		}
		return t.addPiece(text, id, false)
	})
	if err != nil {
		return nil, err
	}
	if t.unk, err = t.special(meta, "unknown"); err != nil {
		return nil, err
	}
	if t.unk < 0 {
		var ok bool
		if t.unk, ok = t.added.whole("[UNK]"); !ok {
			return nil, bad("the vocabulary names no unknown token")
		}
	}
	return nil, nil
}

func (p *wordPieces) rules() string {
	return fmt.Sprintf("words of %d, prefix %q, tidy %v\n", p.maxRunes, p.prefix, p.cleanup)
}

// addPiece files a piece, of two with equal text the first, and gives what it decodes to.
func (t *Tokenizer) addPiece(text string, id int32, starts bool) []byte {
	into := t.pieces.continues
	if starts {
		into = t.pieces.starts
	}
	if _, dup := into[text]; !dup && text != "" {
		into[text] = id
		t.longest = max(t.longest, len(text))
	}
	if starts {
		return t.pieces.special(text)
	}
	return t.pieces.clean(text)
}

// special is what a token that starts a word decodes to.
func (p *wordPieces) special(text string) []byte { return p.clean(" " + text) }

// tidy are the spaces that BERT's decoder takes out again, in its order.
var tidy = strings.NewReplacer(" .", ".", " ?", "?", " !", "!", " ,", ",", " ' ", "'", " n't", "n't", " 'm", "'m", " do not", " don't",
	" 's", "'s", " 've", "'ve", " 're", "'re")

func (p *wordPieces) clean(text string) []byte {
	if !p.cleanup {
		return []byte(text)
	}
	return []byte(tidy.Replace(text))
}
