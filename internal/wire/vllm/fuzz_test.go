package vllm

import (
	"encoding/json"
	"testing"
)

// FuzzDecode: no body makes a decoder fail otherwise than by an error, and what is taken
// is within the bounds.
func FuzzDecode(f *testing.F) {
	for _, g := range goldens {
		f.Add([]byte(g.body))
	}
	for _, s := range []string{
		`{"prompt":[[1],[2]],"structured_outputs":{"json":{"type":"object"}}}`, `{"messages":[],"lora":[{"id":0,"scale":1e9}]}`, `{"logit_bias":{"1":1e300}}`,
		`{"prompt":"a","guided_json":"{}","response_format":{"type":"json_schema","json_schema":{"schema":{}}}}`, `{"n":64,"stop":["a"],"stop_token_ids":[1]}`,
		`{"input":["a"],"encoding_format":"base64","dimensions":3}`, `{"prompt":[]}`, `{"structured_outputs":null}`, `{"prompt":[null]}`, `{"":""}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		if !json.Valid(body) { // refused before
			return
		}
		if q, err := decode(body, text, sampling); err == nil && q.finishCompletion() == nil {
			if q.n < 1 || q.n > maxChoices || len(q.prompts) > listPrompts || q.MaxTokens < 1 {
				t.Fatalf("%s gives %+v", body, q)
			}
		}
		if q, err := decode(body, conversation, sampling); err == nil && q.finishChat() == nil && len(q.Messages) == 0 {
			t.Fatalf("%s gives no messages", body)
		}
		var e embedding
		_, _ = decode(body, embeddingFields(&e))
		_, _ = decode(body, inChat)
	})
}
