package compat

import "testing"

func TestClientsOfOthers(t *testing.T) {
	s := serve(t, build(t))
	for _, scenario := range []string{"models", "five_turns", "five_turns_streamed", "forced", "tools", "errors", "async_together"} {
		t.Run("openai/"+scenario, func(t *testing.T) { s.python(t, "sdk.py", scenario) })
	}
	t.Run("curl/five_turns", func(t *testing.T) { s.curlConversation(t, false) })
	t.Run("curl/five_turns_streamed", func(t *testing.T) { s.curlConversation(t, true) })
}
