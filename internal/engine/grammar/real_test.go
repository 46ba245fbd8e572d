package grammar

import (
	"math/bits"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"macaron/internal/engine/token"
	"macaron/internal/engine/weights/gguf"
	"macaron/internal/testmodel"
	"macaron/internal/testvectors"
)

// defaultVocab is the vocabulary of the default model: 49,152 tokens.
func defaultVocab(t testing.TB) *Vocab {
	t.Helper()
	f, err := gguf.Open(testmodel.Path(t))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	tok, err := token.FromGGUF(f.Meta)
	if err != nil {
		t.Fatal(err)
	}
	return vocabOf(t, tok)
}

// largeVocab is a vocabulary of 262,144 tokens whose pieces are read here, without a
// tokenizer: a space is U+2581 and <0x0A> is a byte.
func largeVocab(t testing.TB) *Vocab {
	t.Helper()
	f, err := gguf.Open(testvectors.Path(t, "ggml-vocab-gemma-4.gguf"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	texts, err := f.Meta.Strings("tokenizer.ggml.tokens")
	if err != nil {
		t.Fatal(err)
	}
	kinds, err := f.Meta.Ints("tokenizer.ggml.token_type")
	if err != nil {
		t.Fatal(err)
	}
	l := &large{pieces: texts, kinds: kinds}
	for i, s := range texts {
		l.pieces[i] = strings.ReplaceAll(s, "▁", " ")
		if n, err := strconv.ParseUint(strings.TrimSuffix(strings.TrimPrefix(s, "<0x"), ">"), 16, 8); err == nil && kinds[i] == int64(token.Byte) {
			l.pieces[i] = string([]byte{byte(n)})
		}
		if kinds[i] == int64(token.Control) {
			l.last = int32(i)
		}
	}
	return vocabOf(t, l)
}

type large struct {
	pieces []string
	kinds  []int64
	last   int32
}

func (l *large) Vocab() int            { return len(l.pieces) }
func (l *large) Piece(id int32) []byte { return []byte(l.pieces[id]) }
func (l *large) IsControl(id int32) bool {
	return l.kinds[id] != int64(token.Normal) && l.kinds[id] != int64(token.Byte) && l.kinds[id] != int64(token.UserDefined)
}
func (l *large) EOG() []int32            { return []int32{l.last} }
func (l *large) ID(string) (int32, bool) { return 0, false }

// stroll takes random tokens of masks until the text is complete. A text that grows long
// is brought to its end: then tokens that close something are preferred, and a text that
// may end does. It gives nothing if even so there is no end.
func stroll(t testing.TB, g *Grammar, shut []int32, r *rand.Rand, most int) string {
	t.Helper()
	m, v := g.Start(), g.v
	mask := make([]uint64, v.Words())
	var text strings.Builder
	for n := 0; n < 12*most; n++ {
		if err := m.Mask(mask); err != nil {
			t.Fatal(err)
		}
		id, ok := draw(mask, r)
		if !ok {
			t.Fatalf("nothing is allowed behind %q", text.String())
		}
		if m.Done() || m.Accepting() && (n > most || r.IntN(20) == 0) {
			return text.String()
		}
		if n > most && r.IntN(3) > 0 {
			for _, c := range shut {
				if mask[c>>6]>>(c&63)&1 != 0 {
					id = c
					break
				}
			}
		}
		if slices.Contains(v.end, id) {
			return text.String()
		}
		if err := m.Accept(id); err != nil {
			t.Fatalf("token %d of the mask behind %q: %v", id, text.String(), err)
		}
		text.Write(v.tok.Piece(id))
	}
	return ""
}

// closers are the tokens that lead to the end of a document soonest.
func closers(v *Vocab) (out []int32) {
	for _, want := range []string{`"`, `\\`, "}", "]", ":", "0", "1", "n", "é", "x", "-", "."} {
		for id := range int32(v.size) {
			if string(v.tok.Piece(id)) == want && !v.tok.IsControl(id) {
				out = append(out, id)
				break
			}
		}
	}
	return out
}

// draw takes a random token of a mask.
func draw(mask []uint64, r *rand.Rand) (int32, bool) {
	n := 0
	for _, w := range mask {
		n += bits.OnesCount64(w)
	}
	if n == 0 {
		return 0, false
	}
	at := r.IntN(n)
	for i, w := range mask {
		for ; w != 0; w &= w - 1 {
			if at--; at < 0 {
				return int32(i*64 + bits.TrailingZeros64(w)), true
			}
		}
	}
	return 0, false
}

// walks lets every schema of the corpus make documents, which the validator must accept.
func walks(t *testing.T, v *Vocab, rounds int) {
	r := rand.New(rand.NewPCG(7, uint64(v.Size())))
	n, endless, shut := 0, 0, closers(v)
	for _, x := range examples(t) {
		g, err := v.JSONSchema([]byte(x.schema), SchemaOptions{})
		if err != nil {
			continue // TestDocumentsAgreeWithAValidator knows which
		}
		s := oracle(x.schema)
		for range rounds {
			doc := stroll(t, g, shut, r, 12)
			if n++; doc == "" {
				endless++
			} else if !valid(t, s, doc) {
				t.Errorf("%s\nmade %s", x.schema, doc)
			}
		}
	}
	if t.Logf("%d documents, %d without end", n, endless); n < 1000 || endless > n/20 {
		t.Errorf("%d documents, %d without end", n, endless)
	}
}

func TestWalksMakeValidDocuments(t *testing.T) { walks(t, defaultVocab(t), 7) }

func TestWalksMakeValidDocumentsOfALargeVocabulary(t *testing.T) { walks(t, largeVocab(t), 7) }
