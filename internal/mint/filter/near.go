package filter

import (
	"context"

	"macaron/internal/trajectory"
)

// Near remembers texts and finds those that a new one is like, by MinHash over shingles of
// words and then by the exact Jaccard similarity of the two.
type Near struct {
	shingle int
	doubles *doubles
	texts   []string
}

// NewNear makes one of shingles of so many words.
func NewNear(shingle int) *Near {
	return &Near{shingle: shingle, doubles: newDoubles(1 << 20)}
}

// Closest gives the remembered text that a text is most like, and how much (0 to 1). Texts
// that are little alike are not found: 0.
func (n *Near) Closest(text string) (of int, similarity float64) {
	of = -1
	shingles := grams(wordsOf(text), n.shingle)
	for _, i := range n.doubles.near(signature(shingles)) {
		if s := jaccard(shingles, grams(wordsOf(n.texts[i]), n.shingle)); s > similarity {
			of, similarity = i, s
		}
	}
	return of, similarity
}

// Add remembers a text, as the next number from 0.
func (n *Near) Add(text string) {
	n.doubles.add(signature(grams(wordsOf(text), n.shingle)), hashWord(text))
	n.texts = append(n.texts, text)
}

// Template names a request by what does not change from one use of a template to the next;
// 0: it is too short to say.
func Template(request string) uint64 { return template(request) }

// Screen says why a run is nothing to learn from, by the same rules as a dataset's rows but for
// duplicates; "" if it is. What has personal data or secrets in it always goes.
func Screen(ctx context.Context, set Settings, index *Index, t trajectory.Trainable) (reason, detail string, err error) {
	if err := set.check(); err != nil {
		return "", "", err
	}
	// A run may say its answer by a call, and its calls are what is looked for.
	set.PII.Action, set.Rows, set.Length.MinAnswer = "drop", "messages", 0
	c := ofRun(t)
	c.calls = false
	return (&Filter{set: set, index: index, pii: map[string]int{}}).judge(ctx, c)
}
