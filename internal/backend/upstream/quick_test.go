package upstream

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"macaron/internal/backend/upstream/upstreamtest"
)

// What quick reads it reads as encoding/json does: the chunks of real servers, as recorded, and
// odd ones. Of the ordinary ones it leaves none.
func TestQuickReadsWhatJSONReads(t *testing.T) {
	chunks := []string{
		`{}`, `{"choices":[]}`, `{"choices":[{}]}`, `{"choices":[{"delta":null}]}`, `{"choices":[{"delta":{"content":null}},{}]}`, `{"choices":{}}`, `{"choices":[{"delta":[]}]}`,
		`{"usage":null,"choices":[{"delta":{"content":"a\nb\u00e9"}}]}`, `{"error":{"message":"x"}}`, `{"object":"error","message":"x"}`, `{"choices":[{"delta":{"content":[{"text":"x"}]}}]}`,
		`{"choices":[{"delta":{"tool_calls":[{"index":0}]}}]}`, `{"choices":[{"finish_reason":7}]}`, `{"usage":[]}`, `{"choices":[]} x`, `[]`,
		"{\"choices\":[{\"delta\":{\"content\":\"\xff\"}}]}",
	}
	read := 0
	for i, text := range append(chunks, recorded(t)...) {
		c, ok := quick([]byte(text))
		if !ok {
			continue
		}
		read++
		if _, bad := errorIn([]byte(text)); bad {
			t.Errorf("an error was read as a chunk: %s", text)
		}
		var want piece
		if err := json.Unmarshal([]byte(text), &want); err != nil || !reflect.DeepEqual(norm(c), norm(want)) {
			t.Errorf("%d %s: %v\n%+v\n%+v", i, text, err, c, want)
		}
	}
	if read < 20 {
		t.Errorf("only %d were read", read)
	}
}

// norm leaves out what nobody looks at: a content that is null, and no choice in a list.
func norm(c piece) piece {
	for i := range c.Choices {
		for _, d := range []*pieceDelta{c.Choices[i].Delta, c.Choices[i].Message} {
			if d != nil && string(d.Content) == "null" {
				d.Content = nil
			}
			if d != nil && len(d.ToolCalls) == 0 {
				d.ToolCalls = nil
			}
		}
	}
	if len(c.Choices) == 0 {
		c.Choices = nil
	}
	return c
}

// recorded are the chunks in the recordings of real servers.
func recorded(t *testing.T) (all []string) {
	t.Helper()
	files, err := filepath.Glob("testdata/exchanges/*.json")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		var r upstreamtest.Recording
		if err := json.Unmarshal(text, &r); err != nil {
			t.Fatal(err)
		}
		for _, e := range r.Exchanges {
			for line := range strings.Lines(e.Answer) {
				if data, some := strings.CutPrefix(strings.TrimSpace(line), "data: "); some && strings.HasPrefix(data, "{") {
					all = append(all, data)
				}
			}
		}
	}
	return all
}
