package compat

import "testing"

func TestClientsOfOthers(t *testing.T) {
	s := serve(t, build(t))
	for _, scenario := range []string{"models", "five_turns", "five_turns_streamed", "forced", "tools", "forced_tools", "errors", "async_together"} {
		t.Run("openai/"+scenario, func(t *testing.T) { s.python(t, "sdk.py", scenario) })
	}
	t.Run("curl/five_turns", func(t *testing.T) { s.curlConversation(t, false) })
	t.Run("curl/five_turns_streamed", func(t *testing.T) { s.curlConversation(t, true) })
}

// Conversations of five turns, in each of which a tool is forced and answered, whole and streamed,
// by every client at once: as many sessions as there are conversations, none of which meet.
func TestToolConversationsOfMany(t *testing.T) {
	s := serve(t, build(t))
	t.Run("clients", func(t *testing.T) {
		for script, scenarios := range map[string]string{
			"langchain_sdk.py": "chat,chat_streamed,responses,responses_streamed,structured",
			"llm_cli.py":       "whole,streamed",
		} {
			t.Run(script, func(t *testing.T) { t.Parallel(); s.python(t, script, scenarios) })
		}
		for script, scenarios := range map[string]string{
			"openai.mjs": "chat,chat_streamed,runner,responses,responses_streamed",
			"vercel.mjs": "compatible,compatible_streamed,responses,responses_streamed,messages,messages_streamed",
		} {
			t.Run(script, func(t *testing.T) { t.Parallel(); s.node(t, script, scenarios) })
		}
	})
}

// The fields that the installed SDKs publish are those whose treatment the tests of internal/wire prove.
func TestPublishedFieldsAreKnown(t *testing.T) { (&server{}).python(t, "fields.py", "check", "../..") }
