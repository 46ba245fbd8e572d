package exam

import (
	"encoding/json"
	"flag"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tiktoken-go/tokenizer"

	"macaron/internal/bench/ui4a"
	"macaron/internal/engine/token"
	"macaron/internal/engine/weights/gguf"
	"macaron/internal/testmodel"
)

var update = flag.Bool("update", false, "count tokens again")

func TestCardsAndTwinsAreCounted(t *testing.T) {
	cases, err := ui4a.Cases()
	if err != nil {
		t.Fatal(err)
	}
	codec, err := tokenizer.Get(tokenizer.O200kBase)
	if err != nil {
		t.Fatal(err)
	}
	f, err := gguf.Open(testmodel.Path(t))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	small, err := token.FromGGUF(f.Meta)
	if err != nil {
		t.Fatal(err)
	}
	count := func(text string) map[string]int {
		n, err := codec.Count(text)
		if err != nil {
			t.Fatal(err)
		}
		return map[string]int{"o200k_base": n, "smollm2-135m-instruct": len(small.Encode(text, false))}
	}
	got := map[string]Length{}
	for _, c := range cases {
		if c.Twin != "" {
			got[c.ID] = Length{Digest: digestOf(c), Card: count(c.Card), Twin: count(c.Twin)}
		}
	}
	if *update {
		b, err := json.MarshalIndent(got, "", " ")
		if err == nil {
			err = os.WriteFile("tokens.json", append(b, '\n'), 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
		return
	}
	for id := range got { // what was added since is told by --tokens
		if _, ok := lengths()[id]; !ok {
			delete(got, id)
		}
	}
	if d := cmp.Diff(lengths(), got); d != "" {
		t.Errorf("go test ./internal/bench/ui4a/exam -run Counted -update counts again:\n%s", d)
	}
}
