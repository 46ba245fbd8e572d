package vllm

import (
	"os"
	"strings"
	"testing"
)

// The page names every field that is read.
func TestThePageNamesEveryField(t *testing.T) {
	b, err := os.ReadFile("../../../docs/engine/server.md")
	if err != nil {
		t.Fatal(err)
	}
	page := strings.ReplaceAll(string(b), "`guided_*`", "`guided_json` `guided_regex` `guided_choice` `guided_grammar`")
	var e embedding
	for _, fields := range []map[string]reader{sampling, text, conversation, inChat, embeddingFields(&e)} {
		for name := range fields {
			if !strings.Contains(page, "`"+name+"`") && !strings.Contains(page, "`"+name+":") {
				t.Errorf("docs/engine/server.md does not name %q", name)
			}
		}
	}
}
