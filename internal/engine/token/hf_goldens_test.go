package token_test

import (
	"bufio"
	"compress/gzip"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"os"
	"slices"
	"testing"
	"unicode/utf8"

	"macaron/internal/engine/token"
)

// hfGolden is a line of testdata/hf_goldens.jsonl.gz; see make_hf_goldens.py there.
type hfGolden struct {
	Name              string
	Tokenizer, Config json.RawMessage
	Front, Back       []int32
	Rows              []string
}

// unzipped gives the lines of a file of goldens to each.
func unzipped(t testing.TB, path string, each func(line []byte)) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(z)
	lines.Buffer(nil, 64<<20)
	for lines.Scan() {
		each(lines.Bytes())
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
}

func hfGoldens(t testing.TB) (texts []string, all []hfGolden) {
	t.Helper()
	unzipped(t, "testdata/hf_goldens.jsonl.gz", func(line []byte) {
		if texts == nil {
			if err := json.Unmarshal(line, &texts); err != nil {
				t.Fatal(err)
			}
			return
		}
		var g hfGolden
		if err := json.Unmarshal(line, &g); err != nil {
			t.Fatal(err)
		}
		all = append(all, g)
	})
	return texts, all
}

func short(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:4])
}

func shortIDs(ids []int32) string {
	var b []byte
	for _, id := range ids {
		b = binary.LittleEndian.AppendUint32(b, uint32(id))
	}
	return short(b)
}

// Every shape of tokenizer.json gives the ids and the text that the tokenizers library
// gives.
func TestGoldensOfHuggingFaceFiles(t *testing.T) {
	texts, all := hfGoldens(t)
	if len(all) < 20 || len(texts) < 500 {
		t.Fatalf("%d tokenizers, %d texts", len(all), len(texts))
	}
	for _, g := range all {
		t.Run(g.Name, func(t *testing.T) {
			tok, err := token.FromJSON(g.Tokenizer, g.Config)
			if err != nil {
				t.Fatal(err)
			}
			if front, back := tok.Frame(); !slices.Equal(front, g.Front) || !slices.Equal(back, g.Back) {
				t.Errorf("around a text stand %v and %v, want %v and %v", front, back, g.Front, g.Back)
			}
			wrong := 0
			for i, text := range texts {
				plain := tok.Encode(text, false)
				back := tok.Decode(plain)
				got := shortIDs(tok.Encode(text, true)) + shortIDs(plain) + short(back)
				if !utf8.Valid(back) { // the library writes U+FFFD in several ways
					got = got[:16] + g.Rows[i][16:]
				}
				if got != g.Rows[i] {
					if wrong++; wrong < 6 {
						t.Errorf("%d %q: %s, want %s: %v, plain %v, back %q", i, text, got, g.Rows[i], tok.Encode(text, true), plain, back)
					}
				}
			}
			t.Logf("%d of %d texts are equal", len(texts)-wrong, len(texts))
		})
	}
}
