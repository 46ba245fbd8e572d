package filter

import (
	"context"
	"slices"
)

// Contaminated says what of a row stands in an evaluation set.
type Contaminated struct {
	Set   string
	How   string  // ngram, overlap, embedding
	Score float64 // share of the item's words, or cosine; 1 of an n-gram
}

// Index answers whether a text has something of an evaluation item in it.
type Index struct {
	Sets    []EvalSet
	n       int                // words of an n-gram
	grams   map[uint64]int32   // hash -> set; of items with fewer than n words, that of the whole
	short   []int              // lengths of those, in words
	bags    map[uint64][]int32 // word -> items
	items   []evalItem
	embed   Embedder
	vectors [][]float32 // [items, d]
}

type evalItem struct {
	set   int32
	words int // different ones, or pairs of them where there are no spaces
	text  string
}

const (
	leastWords = 4 // shorter items are anybody's words
	leastBag   = 6 // different words that an overlap needs
	// overlapped is the share of an item's words that a message of about its length has, from
	// which it is the item, put in another order or with some words changed.
	overlapped = 0.8
)

// NewIndex makes the index of some sets. embed may be nil.
func NewIndex(ctx context.Context, sets []EvalSet, n int, embed Embedder) (*Index, error) {
	x := &Index{Sets: sets, n: n, grams: map[uint64]int32{}, bags: map[uint64][]int32{}, embed: embed}
	for i, s := range sets {
		for _, text := range s.Items {
			x.add(int32(i), text)
		}
	}
	slices.Sort(x.short)
	x.short = slices.Compact(x.short)
	if embed == nil {
		return x, nil
	}
	const batch = 32
	for part := range slices.Chunk(x.items, batch) {
		var texts []string
		for _, it := range part {
			texts = append(texts, clipped(it.text))
		}
		v, _, err := embed.Embed(ctx, texts)
		if err != nil {
			return nil, err
		}
		x.vectors = append(x.vectors, v...)
	}
	return x, nil
}

func (x *Index) add(set int32, text string) {
	words := wordsOf(text)
	if len(words) < leastWords {
		return
	}
	if len(words) < x.n {
		x.short = append(x.short, len(words))
	}
	for _, g := range grams(words, x.n) {
		x.grams[g] = set
	}
	bag := bagOf(words)
	for _, w := range bag {
		if len(bag) >= leastBag {
			x.bags[w] = append(x.bags[w], int32(len(x.items)))
		}
	}
	x.items = append(x.items, evalItem{set, len(bag), text})
}

// bagOf gives the different words of a text; of scripts without spaces pairs of characters,
// since single ones are in every text.
func bagOf(words []string) []uint64 {
	var out []uint64
	seen := map[uint64]bool{}
	for i, w := range words {
		h := hashWord(w)
		if first := []rune(w)[0]; unspaced(first) {
			if i+1 == len(words) {
				continue
			}
			h = mix(h ^ hashWord(words[i+1]))
		}
		if !seen[h] {
			seen[h], out = true, append(out, h)
		}
	}
	return out
}

// Check looks at a text by words: runs of them first, then their overlap with an item.
func (x *Index) Check(text string) (Contaminated, bool) {
	words := wordsOf(text)
	for _, n := range append(slices.Clone(x.short), x.n) {
		if len(words) < n {
			break
		}
		for _, g := range grams(words, n) {
			if set, ok := x.grams[g]; ok {
				return Contaminated{x.Sets[set].Name, "ngram", 1}, true
			}
		}
	}
	return x.overlap(words)
}

func (x *Index) overlap(words []string) (Contaminated, bool) {
	bag := bagOf(words)
	if len(bag) < leastBag {
		return Contaminated{}, false
	}
	counts := map[int32]int{}
	for _, w := range bag {
		for _, i := range x.bags[w] {
			counts[i]++
		}
	}
	best, score := int32(-1), 0.0
	for i, n := range counts {
		it := x.items[i]
		s := float64(n) / float64(it.words)
		if s >= overlapped && len(bag) <= 2*it.words && (s > score || s == score && i < best) {
			best, score = i, s
		}
	}
	if best < 0 {
		return Contaminated{}, false
	}
	return Contaminated{x.Sets[x.items[best].set].Name, "overlap", score}, true
}

// Alike looks at texts by meaning, where there is an encoder.
func (x *Index) Alike(ctx context.Context, texts []string, least float64) (Contaminated, bool, error) {
	if x.embed == nil || least == 0 || len(texts) == 0 || len(x.vectors) == 0 {
		return Contaminated{}, false, nil
	}
	clip := make([]string, len(texts))
	for i, t := range texts {
		clip[i] = clipped(t)
	}
	vectors, _, err := x.embed.Embed(ctx, clip)
	if err != nil {
		return Contaminated{}, false, err
	}
	best, score := 0, -1.0
	for _, v := range vectors {
		for i, w := range x.vectors {
			if c := inner(v, w); c > score {
				best, score = i, c
			}
		}
	}
	return Contaminated{x.Sets[x.items[best].set].Name, "embedding", score}, score >= least, nil
}

// inner is the product of two vectors, summed in one order.
func inner(a, b []float32) float64 {
	sum := float32(0)
	for i, x := range a {
		sum += x * b[i]
	}
	return float64(sum)
}

// clipped bounds what is embedded: encoders see some hundred tokens.
func clipped(text string) string {
	const most = 1000
	if runes := []rune(text); len(runes) > most {
		return string(runes[:most])
	}
	return text
}
