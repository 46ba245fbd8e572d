package grammar

import (
	"slices"
	"testing"
)

// toy is a vocabulary made of a list of texts; token 0 ends an answer, token 1 is
// another control token.
type toy []string

func newToy(texts ...string) toy { return append(toy{"<end>", "<tool>"}, texts...) }

func (t toy) Vocab() int              { return len(t) }
func (t toy) Piece(id int32) []byte   { return []byte(t[id]) }
func (t toy) IsControl(id int32) bool { return id < 2 }
func (t toy) EOG() []int32            { return []int32{0} }
func (t toy) ID(s string) (int32, bool) {
	i := slices.Index(t, s)
	return int32(i), i >= 0
}

func vocabOf(t testing.TB, tok Tokens) *Vocab {
	t.Helper()
	v, err := NewVocab(tok)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// allowed lists the tokens of a mask.
func allowed(t testing.TB, m *Matcher) []int32 {
	t.Helper()
	bits := make([]uint64, m.g.v.Words())
	if err := m.Mask(bits); err != nil {
		t.Fatal(err)
	}
	var ids []int32
	for id := range int32(m.g.v.Size()) {
		if bits[id>>6]>>(id&63)&1 != 0 {
			ids = append(ids, id)
		}
	}
	return ids
}

// letters is every text over an alphabet of one to n runes.
func letters(alphabet string, n int) []string {
	out, last := []string{}, []string{""}
	for range n {
		var next []string
		for _, s := range last {
			for _, r := range alphabet {
				next = append(next, s+string(r))
			}
		}
		out = append(out, next...)
		last = next
	}
	return out
}
