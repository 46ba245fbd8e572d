package upstream

import (
	"strings"
	"testing"

	"macaron/internal/backend"
	"macaron/internal/chat"
)

// An answer that is begun goes on where the server can do that; elsewhere its beginning ends
// the question. Nobody else's request says a word of it.
func TestAnswersThatAreBegun(t *testing.T) {
	r := backend.Request{Messages: []chat.Message{chat.Text(chat.User, "which?")}, Begun: "model_id=", Quiet: true}
	for _, d := range dialects {
		if d.write != nil {
			continue // an API of its own, whose messages are the same
		}
		q := compose("m", d, r)
		text, err := d.encode(q, r)
		if err != nil {
			t.Fatal(err)
		}
		want, flags := `[{"role":"user","content":"which?\nmodel_id="}]`, 0
		if d.templated {
			want, flags = `[{"role":"user","content":"which?"},{"role":"assistant","content":"model_id="}]`, 3
		}
		if !strings.Contains(string(text), `"messages":`+want) {
			t.Errorf("%s: %s", d.name, text)
		}
		said := 0
		for _, field := range []string{`"continue_final_message":true`, `"add_generation_prompt":false`, `"chat_template_kwargs":{"enable_thinking":false}`} {
			said += strings.Count(string(text), field)
		}
		if said != flags {
			t.Errorf("%s: %s", d.name, text)
		}
	}
	plainly := r
	plainly.Begun, plainly.Quiet = "", false
	if text, err := compose("m", vllm, plainly).encode(); err != nil || strings.Contains(string(text), "template") || strings.Contains(string(text), "final") {
		t.Errorf("%s %v", text, err)
	}
}
