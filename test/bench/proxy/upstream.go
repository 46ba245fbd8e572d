package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
)

// upstream is a scripted engine that answers at once, as vLLM would: a label to a question
// that is held to labels, a line to a request for 192 tokens, fifteen words to everything
// else. The first word is the nonce of the last message that has one.
type upstream struct {
	word time.Duration // between two words of a stream; 0 sends it in one burst
}

// routed is the label of every route hop. The peer writes no summaries of L0.
const routed = "L2"

// swiftly in a request asks for its answer in one burst.
const swiftly = "swiftly"

// endlessly in a request asks for an answer that does not end while its reader is there.
const endlessly = "endlessly"

func (u upstream) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch {
	case r.Method == http.MethodPost && r.URL.Path == "/v1/chat/completions":
		u.complete(w, r)
	case r.URL.Path == "/v1/models":
		models(w)
	case r.URL.Path == "/health", r.Method == http.MethodDelete: // the peer's gateway frees routing keys
		fmt.Fprintln(w, "{}")
	case r.URL.Path == "/version":
		fmt.Fprintln(w, `{"version":"0.32.0"}`)
	default:
		http.NotFound(w, r)
	}
}

func models(w http.ResponseWriter) {
	var all []map[string]any
	for _, name := range []string{"base", "L0", "L1", "L2", "L3"} {
		all = append(all, map[string]any{"id": name, "object": "model", "owned_by": "vllm", "root": name, "max_model_len": 1 << 20})
	}
	_ = json.NewEncoder(w).Encode(map[string]any{"object": "list", "data": all}) // the client is gone
}

func (u upstream) complete(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	text := answer(nonceIn(body))
	switch {
	case has(body, `"structured_outputs":`):
		text = routed
	case has(body, `"max_tokens":192`):
		text = "The user asked for words and got fifteen of them."
	}
	if u.word > 0 && bytes.Contains(body, []byte(swiftly)) {
		u.word = 0
	}
	if bytes.Contains(body, []byte(endlessly)) && text != routed {
		u.forever(w, r)
		return
	}
	if has(body, `"stream":true`) {
		u.stream(w, r, text)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	fmt.Fprintf(w, `{"id":"chatcmpl-1","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,"message":{"role":"assistant","content":%q},"finish_reason":"stop"}],%s}`, text, usage)
}

const usage = `"usage":{"prompt_tokens":200,"completion_tokens":15,"total_tokens":215,"prompt_tokens_details":{"cached_tokens":128}}`

// has looks for a member of an object; Python's json writes a space before values.
func has(body []byte, member string) bool {
	return bytes.Contains(body, []byte(member)) || bytes.Contains(body, []byte(strings.Replace(member, `":`, `": `, 1)))
}

func (u upstream) stream(w http.ResponseWriter, r *http.Request, text string) {
	w.Header().Set("Content-Type", "text/event-stream")
	var out bytes.Buffer
	chunk := func(rest string) {
		out.WriteString(`data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1,"model":"m",` + rest + "}\n\n")
	}
	chunk(`"choices":[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}]`)
	for _, word := range strings.SplitAfter(text, " ") {
		chunk(fmt.Sprintf(`"choices":[{"index":0,"delta":{"content":%q},"finish_reason":null}]`, word))
		if u.word > 0 && !u.pause(w, r, &out) {
			return
		}
	}
	chunk(`"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]`)
	chunk(`"choices":[],` + usage)
	out.WriteString("data: [DONE]\n\n")
	_, _ = w.Write(out.Bytes()) // the client is gone
}

// pause sends what is written and waits for the next word, unless the client leaves.
func (u upstream) pause(w http.ResponseWriter, r *http.Request, out *bytes.Buffer) bool {
	if _, err := w.Write(out.Bytes()); err != nil {
		return false
	}
	out.Reset()
	w.(http.Flusher).Flush()
	select {
	case <-time.After(u.word):
		return true
	case <-r.Context().Done():
		return false
	}
}

// forever streams words until nobody reads them.
func (u upstream) forever(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/event-stream")
	words := fmt.Sprintf(`data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"content":%q},"finish_reason":null}]}`+"\n\n", strings.Repeat("word ", 40))
	for r.Context().Err() == nil {
		if _, err := io.WriteString(w, words); err != nil {
			return
		}
		w.(http.Flusher).Flush()
	}
}
