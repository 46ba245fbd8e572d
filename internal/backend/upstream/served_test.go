package upstream

import (
	"strings"
	"testing"

	"macaron/internal/backend"
	"macaron/internal/chat"
)

// Token ids are kept if they are whole and each has its log probability; the client who
// did not ask for log probabilities gets none.
func TestServedIDsAreKeptOnlyWhole(t *testing.T) {
	const (
		first = `{"choices":[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}],"prompt_token_ids":[5,6]}`
		one   = `{"choices":[{"index":0,"delta":{"content":"a"},"logprobs":{"content":[{"token":"a","logprob":-0.5}]},"token_ids":[7]}]}`
		bare  = `{"choices":[{"index":0,"delta":{"content":"a"},"logprobs":null,"token_ids":[7]}]}`
		none  = `{"choices":[{"index":0,"delta":{"content":"a"},"logprobs":{"content":[{"token":"a","logprob":-0.5}]}}]}`
		minus = `{"choices":[{"index":0,"delta":{"content":"a"},"logprobs":{"content":[{"token":"a","logprob":-0.5}]},"token_ids":[-7]}]}`
		last  = `{"choices":[{"index":0,"delta":{},"logprobs":{"content":[{"token":"<end>","logprob":-0.25}]},"finish_reason":"stop","token_ids":[2]}]}`
		two   = `{"choices":[],"usage":{"prompt_tokens":2,"completion_tokens":2}}`
		three = `{"choices":[],"usage":{"prompt_tokens":2,"completion_tokens":3}}`
		more  = `{"choices":[],"usage":{"prompt_tokens":3,"completion_tokens":2}}`
	)
	for _, c := range []struct {
		name   string
		pieces []string
		kept   bool
	}{
		{"whole", []string{first, one, last, two}, true},
		{"a piece is missing", []string{first, last, two}, false},
		{"a piece without ids", []string{first, none, last, two}, false},
		{"ids without log probabilities", []string{first, bare, last, two}, false},
		{"a negative id", []string{first, minus, last, two}, false},
		{"the usage counts more", []string{first, one, last, three}, false},
		{"another prompt", []string{first, one, last, more}, false},
		{"two prompts", []string{first, first, one, last, two}, false},
		{"no prompt", []string{one, last, two}, false},
	} {
		all := &backend.Collected{}
		p := &parser{backend: New(Config{}), emit: func(e chat.Event) bool { all.Add(e); return true }, served: &served{}, silent: true}
		if err := p.read("text/event-stream", strings.NewReader("data: "+strings.Join(append(c.pieces, "[DONE]"), "\n\ndata: ")+"\n\n")); err != nil {
			t.Fatal(c.name, err)
		}
		f := all.Finish
		if kept := len(f.Raw) == 2 && f.Raw[0] == 7 && f.Logps[1] == -0.25 && len(f.Prompt) == 2; kept != c.kept || !kept && f.Raw != nil {
			t.Errorf("%s: %+v", c.name, f)
		}
		if len(all.Logprobs) > 0 {
			t.Errorf("%s: the client gets %+v", c.name, all.Logprobs)
		}
	}
}
