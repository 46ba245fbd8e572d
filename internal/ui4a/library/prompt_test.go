package library_test

import (
	"encoding/json"
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tiktoken-go/tokenizer"

	"macaron/internal/engine/token"
	"macaron/internal/engine/weights/gguf"
	"macaron/internal/ids"
	"macaron/internal/testmodel"
	"macaron/internal/ui4a/library"
)

var update = flag.Bool("update", false, "count the prompt's tokens again")

// most are the tokens that the prompt may have: it is a part of every prompt of a card.
const most = 1475

func TestPromptIsCounted(t *testing.T) {
	got := library.Count{Prompt: ids.DigestOf([]byte(library.Prompt())), Tokens: map[string]int{
		"o200k_base": o200k(t, library.Prompt()), "smollm2-135m-instruct": smol(t, library.Prompt()),
	}}
	if *update {
		b, err := json.MarshalIndent(got, "", "  ")
		if err == nil {
			err = os.WriteFile("tokens.json", append(b, '\n'), 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
		return
	}
	if d := cmp.Diff(library.Tokens(), got); d != "" {
		t.Errorf("go test ./internal/ui4a/library -update counts again:\n%s", d)
	}
	if n := got.Tokens["o200k_base"]; n > most {
		t.Errorf("the prompt has %d tokens, more than %d", n, most)
	}
}

func o200k(t *testing.T, text string) int {
	t.Helper()
	codec, err := tokenizer.Get(tokenizer.O200kBase)
	if err != nil {
		t.Fatal(err)
	}
	n, err := codec.Count(text)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func smol(t *testing.T, text string) int {
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
	return len(tok.Encode(text, false))
}

func TestPromptTeachesAllThatThereIs(t *testing.T) {
	text := library.Prompt()
	for _, m := range library.Modules() {
		if !strings.Contains(strings.ToLower(text), m.Name) {
			t.Errorf("nothing of %s", m.Name)
		}
		for _, e := range m.Exports {
			line := "\n- " + e.Name
			if (e.Kind == library.Component || e.Kind == library.Function) && !strings.Contains(text, line+":") && !strings.Contains(text, line+"(") {
				t.Errorf("nothing of %s in %s", e.Name, m.Name)
			}
		}
	}
	if strings.Contains(text, "{{") && !strings.Contains(text, "style={{") {
		t.Error("a placeholder is left")
	}
}

// What the prompt names must be there.
func TestPromptNamesWhatExists(t *testing.T) {
	text := library.Prompt()
	icons, _ := library.Find("$ui4a/icons")
	_, list, _ := strings.Cut(text, "such as ")
	list, _, _ = strings.Cut(list, ";")
	for name := range strings.SplitSeq(list, ", ") {
		if _, ok := icons.Export(name); !ok {
			t.Errorf("there is no icon %s", name)
		}
	}
	known := map[string]bool{}
	for _, f := range library.Classes() {
		for _, n := range f.Names {
			known[n] = true
		}
	}
	_, list, _ = strings.Cut(text, "bg- and border- with ")
	list, _, _ = strings.Cut(list, ".")
	for token := range strings.FieldsSeq(strings.Replace(list, " to ", " ", 1)) {
		for _, kind := range []string{"text-", "bg-", "border-"} {
			if !known[kind+token] {
				t.Errorf("there is no class %s%s", kind, token)
			}
		}
	}
}
