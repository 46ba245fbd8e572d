package openai

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"macaron/internal/chat"
	"macaron/internal/clock"
	"macaron/internal/obs"
	"macaron/internal/turn"
)

// everything is a turn with each kind of event.
func everything(_ context.Context, out turn.Sink) error {
	r := turn.Report{Turn: "trn_1", Session: "ses_1", Adapter: "L2", Revision: "sha256:aa", Reason: "model", Probabilities: map[string]float64{"L0": 0.25, "L2": 0.75}, Contract: "sha256:bb"}
	if err := out.Chosen(r); err != nil {
		return err
	}
	for _, e := range []chat.Event{
		{Start: &chat.Start{PromptTokens: 3}},
		{Reasoning: "hm"},
		{Text: "Hi <b>", Tokens: []chat.TokenLogprob{{ID: 7, Bytes: []byte("Hi <b>"), Logprob: -0.5}}},
		{ToolCall: &chat.ToolCallDelta{Index: 0, ID: "c1", Name: "f"}},
		{ToolCall: &chat.ToolCallDelta{Index: 0, Arguments: `{"a":1}`}},
	} {
		if err := out.Event(e); err != nil {
			return err
		}
	}
	r.Hops = []turn.HopReport{{Hop: "answer", Adapter: "L2", PromptTokens: 3, CachedTokens: 1, OutputTokens: 2, FirstMS: 1.5, TotalMS: 2}}
	return out.Done(r, chat.FinishTools, chat.Usage{PromptTokens: 3, CachedTokens: 1, OutputTokens: 2})
}

const (
	report = `"macaron":{"turn":"trn_1","session":"ses_1","adapter":"L2","revision":"sha256:aa","reason":"model","probabilities":{"L0":0.25,"L2":0.75},"contract":"sha256:bb","hops":[{"hop":"answer","adapter":"L2","prompt_tokens":3,"cached_tokens":1,"output_tokens":2,"first_ms":1.5,"total_ms":2}],"ignored":["store"]}`
	spent  = `"usage":{"prompt_tokens":3,"completion_tokens":2,"total_tokens":5,"prompt_tokens_details":{"cached_tokens":1}}`
	lp     = `"logprobs":{"content":[{"token":"Hi \u003cb\u003e","logprob":-0.5,"bytes":[72,105,32,60,98,62]}],"refusal":null}`
)

func golden(t *testing.T, fields string) string {
	t.Helper()
	srv := httptest.NewServer(Handler(Deps{Turns: acting(everything), Owner: func(*http.Request) string { return "local" }, Clock: &clock.Fixed{T: time.Unix(1, 0)}, Log: obs.Discard(), Failed: func(string) {}}))
	client := &http.Client{Transport: &http.Transport{}}
	defer srv.Close()
	defer client.CloseIdleConnections()
	resp, err := client.Post(srv.URL+"/v1/chat/completions", "application/json",
		strings.NewReader(`{"model":"macaron","messages":[{"role":"user","content":"x"}],"store":true,"logprobs":true`+fields+`}`))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestTheStreamByteForByte(t *testing.T) {
	chunk := func(choice string) string {
		return `data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1,"model":"macaron","choices":[` + choice + `]`
	}
	want := chunk(`{"index":0,"delta":{"role":"assistant","content":""},"logprobs":null,"finish_reason":null}`) + "}\n\n" +
		chunk(`{"index":0,"delta":{"reasoning_content":"hm"},"logprobs":null,"finish_reason":null}`) + "}\n\n" +
		chunk(`{"index":0,"delta":{"content":"Hi \u003cb\u003e"},`+lp+`,"finish_reason":null}`) + "}\n\n" +
		chunk(`{"index":0,"delta":{"tool_calls":[{"index":0,"id":"c1","type":"function","function":{"name":"f","arguments":""}}]},"logprobs":null,"finish_reason":null}`) + "}\n\n" +
		chunk(`{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{\"a\":1}"}}]},"logprobs":null,"finish_reason":null}`) + "}\n\n" +
		chunk(`{"index":0,"delta":{},"logprobs":null,"finish_reason":"tool_calls"}`) + "," + report + "}\n\n" +
		chunk(``) + "," + spent + "," + report + "}\n\n" +
		"data: [DONE]\n\n"
	if d := cmp.Diff(strings.Split(want, "\n\n"), strings.Split(golden(t, `,"stream":true,"stream_options":{"include_usage":true}`), "\n\n")); d != "" {
		t.Error(d)
	}
	without := golden(t, `,"stream":true`)
	if strings.Contains(without, `"usage"`) || !strings.HasSuffix(without, report+"}\n\ndata: [DONE]\n\n") {
		t.Errorf("usage that was not asked for, or a wrong end: %s", without)
	}
}

func TestTheWholeByteForByte(t *testing.T) {
	want := `{"id":"chatcmpl-1","object":"chat.completion","created":1,"model":"macaron","choices":[{"index":0,` +
		`"message":{"role":"assistant","content":"Hi \u003cb\u003e","refusal":null,"reasoning_content":"hm","tool_calls":[{"id":"c1","type":"function","function":{"name":"f","arguments":"{\"a\":1}"}}]},` +
		lp + `,"finish_reason":"tool_calls"}],` + spent + "," + report + "}\n"
	if d := cmp.Diff(want, golden(t, "")); d != "" {
		t.Error(d)
	}
}
