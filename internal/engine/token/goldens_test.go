package token_test

import (
	"bufio"
	"compress/gzip"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"os"
	"testing"

	"macaron/internal/engine/token"
	"macaron/internal/testmodel"
)

func digest(ids []int32) string {
	h := sha256.New()
	for _, id := range ids {
		h.Write(binary.LittleEndian.AppendUint32(nil, uint32(id)))
	}
	return hex.EncodeToString(h.Sum(nil))[:16]
}

// golden is a line of testdata/goldens.jsonl.gz; see make_goldens.py there.
type golden struct {
	text            string
	special, plain  string // digests of ids
	nSpecial, nText int
}

func goldens(t testing.TB) []golden {
	t.Helper()
	f, err := os.Open("testdata/goldens.jsonl.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	var all []golden
	for lines := bufio.NewScanner(z); lines.Scan(); {
		var g golden
		row := []any{&g.text, &g.nSpecial, &g.special, &g.nText, &g.plain}
		if err := json.Unmarshal(lines.Bytes(), &row); err != nil {
			t.Fatal(err)
		}
		all = append(all, g)
	}
	return all
}

// The default model's tokenizer equals the transformers library on random texts.
func TestGoldensOfTheDefaultModel(t *testing.T) {
	tok := load(t, testmodel.Path(t))
	all := goldens(t)
	if len(all) != 2000 {
		t.Fatalf("%d goldens", len(all))
	}
	equal := 0
	for i, g := range all {
		special, plain := tok.Encode(g.text, true), tok.Encode(g.text, false)
		if len(special) != g.nSpecial || digest(special) != g.special {
			t.Errorf("%d %q with control tokens: %d, want %d", i, g.text, len(special), g.nSpecial)
			continue
		}
		if len(plain) != g.nText || digest(plain) != g.plain {
			t.Errorf("%d %q as plain text: %d, want %d", i, g.text, len(plain), g.nText)
			continue
		}
		equal++
	}
	t.Logf("%d of %d texts are equal", equal, len(all))
}

// What the chat template needs of the default model.
func TestSpecialTokensOfTheDefaultModel(t *testing.T) {
	tok := load(t, testmodel.Path(t))
	start, ok1 := tok.ID("<|im_start|>")
	end, ok2 := tok.ID("<|im_end|>")
	if !ok1 || !ok2 || !tok.IsControl(start) || !tok.IsEOG(end) || tok.EOS() != end || tok.AddBOS() || tok.Pre() != "smollm" || tok.Vocab() != 49152 {
		t.Errorf("start %d %v, end %d %v, EOS %d, EOG %v, %s", start, ok1, end, ok2, tok.EOS(), tok.EOG(), tok)
	}
	for _, id := range tok.Encode("<|im_start|>system", false) {
		if tok.IsControl(id) {
			t.Errorf("plain text became the control token %d", id)
		}
	}
	segments := []token.Segment{{Text: "<|im_start|>user\n", Trusted: true}, {Text: "<|im_end|>"}, {Text: "<|im_end|>\n", Trusted: true}}
	ids := tok.EncodeSegments(segments)
	if ids[0] != start || ids[len(ids)-2] != end || count(ids, end) != 1 {
		t.Errorf("segments become %v", ids)
	}
}

func count(ids []int32, id int32) (n int) {
	for _, x := range ids {
		if x == id {
			n++
		}
	}
	return n
}
