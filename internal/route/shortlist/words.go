package shortlist

import (
	"math"
	"strings"
	"unicode"
)

// The constants of BM25 as they are usually taken (Robertson and Zaragoza, 2009).
const (
	k1 = 1.2
	b  = 0.75
)

// index is BM25 over short texts.
type index struct {
	counts  []map[string]float64 // of each text
	lengths []float64
	mean    float64
	idf     map[string]float64
}

func newIndex(texts []string) *index {
	x := &index{idf: map[string]float64{}}
	for _, t := range texts {
		count := map[string]float64{}
		list := terms(t)
		for _, w := range list {
			count[w]++
		}
		for w := range count {
			x.idf[w]++
		}
		x.counts, x.lengths = append(x.counts, count), append(x.lengths, float64(len(list)))
		x.mean += float64(len(list)) / float64(len(texts))
	}
	n := float64(len(texts))
	for w, in := range x.idf {
		x.idf[w] = math.Log(1 + (n-in+0.5)/(in+0.5))
	}
	return x
}

// scores gives one for each text; 0 means that no word is shared. A word of the request
// counts once, and words are summed as they come, so that equal requests give equal bits.
func (x *index) scores(request string) []float64 {
	out := make([]float64, len(x.counts))
	seen := map[string]bool{}
	for _, w := range terms(request) {
		if seen[w] || x.idf[w] == 0 {
			continue
		}
		seen[w] = true
		for i, count := range x.counts {
			f := count[w]
			out[i] += x.idf[w] * f * (k1 + 1) / (f + k1*(1-b+b*x.lengths[i]/x.mean))
		}
	}
	return out
}

// terms are the words of a text in lower case without their plural; of writing without
// spaces the pairs of neighbours.
func terms(text string) []string {
	var out []string
	for _, w := range strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r) }) {
		if runes := []rune(w); dense(runes[0]) {
			for i := range max(1, len(runes)-1) {
				out = append(out, string(runes[i:min(i+2, len(runes))]))
			}
			continue
		}
		if !stop[w] {
			out = append(out, singular(w))
		}
	}
	return out
}

func dense(r rune) bool { return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana) }

// singular is Harman's S-stemmer (How effective is suffixing?, 1991).
func singular(w string) string {
	switch {
	case strings.HasSuffix(w, "ies") && !strings.HasSuffix(w, "eies") && !strings.HasSuffix(w, "aies") && len(w) > 4:
		return w[:len(w)-3] + "y"
	case strings.HasSuffix(w, "es") && !strings.HasSuffix(w, "aes") && !strings.HasSuffix(w, "ees") && !strings.HasSuffix(w, "oes") && len(w) > 3:
		return w[:len(w)-1]
	case strings.HasSuffix(w, "s") && !strings.HasSuffix(w, "us") && !strings.HasSuffix(w, "ss") && len(w) > 3:
		return w[:len(w)-1]
	}
	return w
}

// stop are words of requests that say nothing about what they are about.
var stop = setOf("a an the and or of to in on at for from by with as is are was be am it its this that these those there here " +
	"i me my we us our you your he she they them his her their what which who how when where why do does did can could will would " +
	"should have has had not no but if so than then about into out up get got make need want help please give tell show some any just")

func setOf(words string) map[string]bool {
	set := map[string]bool{}
	for _, w := range strings.Fields(words) {
		set[w] = true
	}
	return set
}
