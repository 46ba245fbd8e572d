package anthropic

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"macaron/internal/wire/wiretest"
)

// Every field that the SDK publishes is honoured, refused or reported.
func TestPublishedFields(t *testing.T) {
	base := map[string]string{"model": `"macaron"`, "max_tokens": "2000", "messages": `[{"role":"user","content":"x"}]`, "tools": `[{"name":"f","input_schema":{"type":"object"}}]`}
	found := wiretest.Published(t, base, map[string]string{
		"cache_control": `{"type":"ephemeral"}`, "container": `"c"`, "diagnostics": `{"a":1}`, "inference_geo": `"eu"`, "max_tokens": "7", "messages": `[{"role":"user","content":"y"}]`,
		"metadata": `{"user_id":"u"}`, "model": `"macaron/L2"`, "output_config": `{"effort":"low"}`, "service_tier": `"auto"`, "speed": `"fast"`, "stop_sequences": `["x"]`, "stream": "true",
		"system": `"be brief"`, "thinking": `{"type":"enabled","budget_tokens":1024}`, "tool_choice": `{"type":"any"}`, "tools": `[{"name":"g","input_schema":{"type":"object"}}]`,
		"user_profile_id": `"p"`, "workspace_id": `"w"`,
	}, func(b []byte) (wiretest.Decoded, error) {
		r, err := decode(b, false)
		if err != nil {
			return wiretest.Decoded{}, err
		}
		d := wiretest.Decoded{Ignored: r.ignored}
		r.ignored = nil
		d.Request = *r
		return d, nil
	})
	for name, how := range map[string]string{"system": "honoured", "container": "refused", "speed": "reported"} {
		if diff := cmp.Diff(how, found[name]); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}
