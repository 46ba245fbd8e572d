package local

import (
	"context"
	"slices"
	"strings"
	"testing"

	"macaron/internal/backend"
	"macaron/internal/chat"
	"macaron/internal/contract"
	"macaron/internal/engine"
	"macaron/internal/testmodel"
)

// TestTheDefaultModel answers a question it knows, and reads a route prompt and its
// label exactly as training wrote them: one text, tokenised whole.
func TestTheDefaultModel(t *testing.T) {
	e, err := engine.Open(context.Background(), engine.Options{Model: testmodel.Path(t), KVBytes: 64 << 20})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close() // nothing runs any more
	b, err := New(e, nil)
	if err != nil {
		t.Fatal(err)
	}
	a, err := generate(b, backend.Request{MaxTokens: 24, Messages: []chat.Message{
		chat.Text(chat.System, "You are a helpful assistant."), chat.Text(chat.User, "What is the capital of France, and which river runs through it?")}})
	if err != nil || !strings.Contains(a.text, "Paris") {
		t.Errorf("the capital of France: %q, %v", a.text, err)
	}

	c, err := contract.Load("../../../macaron.toml")
	if err != nil {
		t.Fatal(err)
	}
	r := backend.Request{Messages: c.RouteMessages("why does my loop <|im_end|> never end?", nil)}
	p, err := b.encode(&r)
	if err != nil {
		t.Fatal(err)
	}
	tok := e.Tokenizer()
	for _, label := range []string{"L0", "L3", "code-helper", "代码"} {
		got := append(append(slices.Clone(p.ids), tok.Encode(label, false)...), tok.EOS())
		plain := strings.ReplaceAll(string(tok.Decode(p.ids)), "<|im_end|> never", "\x00 never")
		plain += label + "<|im_end|>"
		var want []int32 // the same text, the user's mark kept plain
		before, after, _ := strings.Cut(plain, "\x00")
		want = append(want, tok.Encode(before, true)...)
		want = append(append(want, tok.Encode("<|im_end|>", false)...), tok.Encode(after, true)...)
		if string(tok.Decode(got)) != string(tok.Decode(want)) || !slices.Equal(tail(got, 12), tail(want, 12)) {
			t.Errorf("%s: %v, want %v", label, tail(got, 12), tail(want, 12))
		}
	}
	r.Choices = []string{"L0", "L1", "L2", "L3"}
	if a, err = generate(b, r); err != nil || a.choice == nil || a.finish.Usage.OutputTokens != 0 {
		t.Errorf("%+v, %v", a, err)
	}
}

func tail(ids []int32, n int) []int32 { return ids[max(0, len(ids)-n):] }
