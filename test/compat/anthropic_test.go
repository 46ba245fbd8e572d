package compat

import "testing"

// The messages interface under Anthropic's own SDK, whose accumulator follows every stream.
func TestMessagesUnderTheSDK(t *testing.T) {
	s := serve(t, build(t))
	for name, scenarios := range map[string]string{ // together, since the SDK takes long to load
		"conversations": "models,five_turns,five_turns_streamed,two_sdks,async_together",
		"tools":         "forced_tools,any_tool,counting,stops,errors",
	} {
		t.Run(name, func(t *testing.T) { s.python(t, "anthropic_sdk.py", scenarios) })
	}
}
