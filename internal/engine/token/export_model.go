package token

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// vocab lists the tokens of the model, in the order of their ids. Added tokens at its end
// are not part of it: the library numbers them itself, in order.
func (x *exporter) vocab(spelled func(id int) string) (object, error) {
	n := len(x.texts)
	for n > 0 && x.whole(n-1) {
		n--
	}
	seen := make(map[string]bool, n)
	list := make(object, 0, n)
	for id := range n {
		text := spelled(id)
		if seen[text] {
			text = fmt.Sprintf("<|unreachable %d|>", id) // of two equal spellings the first counts
		}
		if !utf8.ValidString(text) {
			return nil, x.cannot(fmt.Sprintf("token %d is not UTF-8", id))
		}
		seen[text] = true
		list = append(list, member{text, id})
	}
	return list, nil
}

// bpe is a model by merges.
func (x *exporter) bpe() (any, error) {
	vocab, err := x.vocab(x.content)
	if err != nil {
		return nil, err
	}
	merges, err := x.merges()
	if err != nil {
		return nil, err
	}
	var unk any
	runes := x.t.algo != bpeBytes
	if runes && x.t.unk >= 0 {
		unk = x.texts[x.t.unk]
	}
	return object{{"type", "BPE"}, {"dropout", nil}, {"unk_token", unk}, {"continuing_subword_prefix", nil}, {"end_of_word_suffix", nil},
		{"fuse_unk", runes}, {"byte_fallback", runes}, {"ignore_merges", x.t.whole}, {"vocab", vocab}, {"merges", merges}}, nil
}

// merges lists them by rank: those of the file, or those that the scores mean.
func (x *exporter) merges() ([][2]string, error) {
	if x.t.algo == bpeScores {
		return x.scored(), nil
	}
	lines, err := x.meta.Strings("tokenizer.ggml.merges")
	if err != nil {
		return nil, err
	}
	list := make([][2]string, len(lines))
	for i, line := range lines {
		list[i][0], list[i][1], _ = strings.Cut(line, " ")
	}
	return list, nil
}

// scored gives a merge for every way to make a piece of two others, by descending score.
// Of equal scores the longer left part comes first, so that a run of one letter is paired
// from the left, as by scores.
func (x *exporter) scored() [][2]string {
	type scoredMerge struct {
		pair  [2]string
		score float32
	}
	var all []scoredMerge
	for id, text := range x.texts {
		if got, ok := x.t.normal(text); !ok || int(got) != id {
			continue
		}
		for i := range text {
			if i == 0 {
				continue
			}
			_, left := x.t.normal(text[:i])
			_, right := x.t.normal(text[i:])
			if left && right {
				all = append(all, scoredMerge{[2]string{text[:i], text[i:]}, x.t.scores[id]})
			}
		}
	}
	slices.SortStableFunc(all, func(a, b scoredMerge) int {
		return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(len(b.pair[0]), len(a.pair[0])))
	})
	list := make([][2]string, len(all))
	for i := range all {
		list[i] = all[i].pair
	}
	return list
}

// wordPieceModel is a model by pieces.
func (x *exporter) wordPieceModel() (any, error) {
	vocab, err := x.vocab(func(id int) string {
		text := x.texts[id]
		if word, starts := strings.CutPrefix(text, blank); starts || x.t.kinds[id] != Normal {
			return word
		}
		return x.t.pieces.prefix + text
	})
	return object{{"type", "WordPiece"}, {"unk_token", x.texts[x.t.unk]}, {"continuing_subword_prefix", x.t.pieces.prefix},
		{"max_input_chars_per_word", x.t.pieces.maxRunes}, {"vocab", vocab}}, err
}
