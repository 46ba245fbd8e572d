package app

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"

	"macaron/internal/chat"
	"macaron/internal/wire/sse"
)

// query is a request in no API's words.
type query struct {
	api, model, who, system string
	stream, tools, train    bool // train: the person consents
	messages                []chat.Message
	previous, conversation  string // of the Responses API
}

// reply is what an answer says, read out of any API's words.
type reply struct {
	status          int
	code            string // of an error
	response        string
	text, finish    string
	calls           []chat.ToolCall
	in, cached, out float64
	macaron         object
	whole           object // of Responses, the object
}

var schema = object{"type": "object"}

// body puts the query in its API's words.
func (q *query) body() (path string, o object) {
	o = object{"model": q.model, "stream": q.stream}
	switch q.api {
	case "messages":
		path, o["max_tokens"], o["metadata"], o["messages"] = "/v1/messages", 100, object{"user_id": q.who}, blocks(q.messages)
		if q.system != "" {
			o["system"] = q.system
		}
		o["tools"] = []any{object{"name": "find", "input_schema": schema}}
	case "responses":
		path, o["input"] = "/v1/responses", items(q.messages)
		o["tools"] = []any{object{"type": "function", "name": "find", "parameters": schema}}
		for name, v := range map[string]string{"instructions": q.system, "previous_response_id": q.previous, "conversation": q.conversation, "user": q.who} {
			if v != "" {
				o[name] = v
			}
		}
	default:
		path, o["user"], o["stream_options"] = "/v1/chat/completions", q.who, object{"include_usage": true}
		if !q.stream {
			delete(o, "stream_options")
		}
		var all []any
		if q.system != "" {
			all = append(all, object{"role": "system", "content": q.system})
		}
		o["messages"] = append(all, plain(q.messages)...)
		o["tools"] = []any{object{"type": "function", "function": object{"name": "find", "parameters": schema}}}
	}
	if !q.tools {
		delete(o, "tools")
	}
	return path, o
}

// plain gives messages as Chat Completions has them.
func plain(messages []chat.Message) (all []any) {
	for _, m := range messages {
		o := object{"role": string(m.Role), "content": m.Text()}
		var calls []any
		for _, c := range m.ToolCalls {
			calls = append(calls, object{"id": c.ID, "type": "function", "function": object{"name": c.Name, "arguments": c.Arguments}})
		}
		if calls != nil {
			o["tool_calls"] = calls
		}
		if m.ToolCallID != "" {
			o["tool_call_id"] = m.ToolCallID
		}
		all = append(all, o)
	}
	return all
}

// items gives messages as Responses has them.
func items(messages []chat.Message) (all []any) {
	for _, m := range messages {
		switch {
		case m.Role == chat.Tool:
			all = append(all, object{"type": "function_call_output", "call_id": m.ToolCallID, "output": m.Text()})
			continue
		case m.Text() != "":
			all = append(all, object{"role": string(m.Role), "content": m.Text()})
		}
		for _, c := range m.ToolCalls {
			all = append(all, object{"type": "function_call", "call_id": c.ID, "name": c.Name, "arguments": c.Arguments})
		}
	}
	return all
}

// blocks gives messages as Messages has them: results and the words behind them are one.
func blocks(messages []chat.Message) (all []any) {
	var results []any
	for i, m := range messages {
		var content []any
		switch {
		case m.Role == chat.Tool:
			results = append(results, object{"type": "tool_result", "tool_use_id": m.ToolCallID, "content": m.Text()})
			if i+1 < len(messages) {
				continue
			}
			all = append(all, object{"role": "user", "content": results})
			continue
		case results != nil && m.Role == chat.User:
			content = results
		case results != nil:
			all = append(all, object{"role": "user", "content": results})
		}
		results = nil
		if m.Text() != "" {
			content = append(content, object{"type": "text", "text": m.Text()})
		}
		for _, c := range m.ToolCalls {
			content = append(content, object{"type": "tool_use", "id": c.ID, "name": c.Name, "input": json.RawMessage(c.Arguments)})
		}
		all = append(all, object{"role": string(m.Role), "content": content})
	}
	return all
}

// tell sends a query and reads the answer, whole or event by event.
func (s *site) tell(ctx context.Context, q *query) (a reply, err error) {
	path, o := q.body()
	text, err := json.Marshal(o)
	if err != nil {
		return a, err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, s.base+path, bytes.NewReader(text))
	if err != nil {
		return a, err
	}
	r.Header.Set("Content-Type", "application/json")
	if q.train {
		consenting(r)
	}
	resp, err := s.http.Do(r)
	if err != nil {
		return a, err
	}
	defer resp.Body.Close()
	a.status = resp.StatusCode
	if q.stream && a.status == http.StatusOK {
		return a, a.stream(q.api, resp.Body)
	}
	body, err := io.ReadAll(resp.Body)
	var answer object
	if err == nil {
		err = json.Unmarshal(body, &answer)
	}
	if err == nil {
		a.read(q.api, answer)
	}
	return a, err
}

// read takes a whole answer.
func (a *reply) read(api string, o object) {
	if e := at[object](o, "error"); e != nil {
		a.code = at[string](e, "code") + at[string](e, "type")
		if o["object"] == nil {
			return
		}
	}
	a.macaron = at[object](o, "macaron")
	switch api {
	case "messages":
		for _, b := range at[[]any](o, "content") {
			a.text += at[string](b, "text")
			if at[string](b, "type") == "tool_use" {
				a.calls = append(a.calls, chat.ToolCall{ID: at[string](b, "id"), Name: at[string](b, "name"), Arguments: jsonOf(at[object](b, "input"))})
			}
		}
		a.finish = at[string](o, "stop_reason")
		a.spent(at[object](o, "usage"), "input_tokens", "output_tokens", "cache_read_input_tokens")
	case "responses":
		a.whole, a.response, a.finish, a.text = o, at[string](o, "id"), at[string](o, "status"), outputText(o)
		for _, i := range at[[]any](o, "output") {
			if at[string](i, "type") == "function_call" {
				a.calls = append(a.calls, chat.ToolCall{ID: at[string](i, "call_id"), Name: at[string](i, "name"), Arguments: at[string](i, "arguments")})
			}
		}
		a.spent(at[object](o, "usage"), "input_tokens", "output_tokens", "input_tokens_details", "cached_tokens")
	default:
		choice := at[[]any](o, "choices")[0]
		a.text, a.finish = at[string](choice, "message", "content"), at[string](choice, "finish_reason")
		for _, c := range at[[]any](choice, "message", "tool_calls") {
			a.calls = append(a.calls, chat.ToolCall{ID: at[string](c, "id"), Name: at[string](c, "function", "name"), Arguments: at[string](c, "function", "arguments")})
		}
		a.spent(at[object](o, "usage"), "prompt_tokens", "completion_tokens", "prompt_tokens_details", "cached_tokens")
	}
}

// spent takes the usage; Messages counts what was read from a cache apart.
func (a *reply) spent(u object, in, out string, cached ...string) {
	a.in, a.out, a.cached = at[float64](u, in), at[float64](u, out), at[float64](u, cached...)
	if len(cached) == 1 {
		a.in += a.cached
	}
}

func jsonOf(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(b)
}

// stream reads events and holds their order against the API's.
func (a *reply) stream(api string, body io.Reader) error {
	r, n, last := sse.NewReader(body, 1<<20), 0, ""
	read := map[string]func(n int, name string, o object) error{"messages": a.block, "responses": a.numbered, "chat": a.chunk}[api]
	for ; ; n++ {
		e, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		if last = string(e.Data); last == "[DONE]" {
			continue
		}
		var o object
		if err := json.Unmarshal(e.Data, &o); err != nil {
			return err
		}
		if f := at[object](o, "error"); f != nil {
			a.code = at[string](f, "code") + at[string](f, "type")
			continue
		}
		if err := read(n, e.Name, o); err != nil {
			return err
		}
	}
	if api == "chat" && a.code == "" && last != "[DONE]" {
		return fmt.Errorf("the last event is %s", last)
	}
	if a.finish == "" && a.code == "" {
		return errors.New("the stream has no end")
	}
	return nil
}

func (a *reply) chunk(n int, _ string, o object) error {
	if m := at[object](o, "macaron"); m != nil {
		a.macaron = m
	}
	if u := at[object](o, "usage"); u != nil {
		a.spent(u, "prompt_tokens", "completion_tokens", "prompt_tokens_details", "cached_tokens")
	}
	choices := at[[]any](o, "choices")
	if len(choices) == 0 {
		return nil
	}
	if (n == 0) != (at[string](choices[0], "delta", "role") == "assistant") || a.finish != "" {
		return fmt.Errorf("chunk %d out of order: %v", n, o)
	}
	a.text += at[string](choices[0], "delta", "content")
	a.finish = at[string](choices[0], "finish_reason")
	for _, c := range at[[]any](choices[0], "delta", "tool_calls") {
		i := int(at[float64](c, "index"))
		for len(a.calls) <= i {
			a.calls = append(a.calls, chat.ToolCall{})
		}
		a.calls[i].ID += at[string](c, "id")
		a.calls[i].Name += at[string](c, "function", "name")
		a.calls[i].Arguments += at[string](c, "function", "arguments")
	}
	return nil
}

func (a *reply) block(n int, name string, o object) error {
	if kind := at[string](o, "type"); kind != name || (n == 0) != (kind == "message_start") {
		return fmt.Errorf("event %d is %s, %s", n, name, kind)
	}
	switch name {
	case "content_block_start":
		if b := at[object](o, "content_block"); b["type"] == "tool_use" {
			a.calls = append(a.calls, chat.ToolCall{ID: at[string](b, "id"), Name: at[string](b, "name")})
		}
	case "content_block_delta":
		a.text += at[string](o, "delta", "text")
		if piece := at[string](o, "delta", "partial_json"); piece != "" {
			a.calls[len(a.calls)-1].Arguments += piece
		}
	case "message_delta":
		a.finish, a.macaron = at[string](o, "delta", "stop_reason"), at[object](o, "macaron")
		a.spent(at[object](o, "usage"), "input_tokens", "output_tokens", "cache_read_input_tokens")
	}
	return nil
}

func (a *reply) numbered(n int, name string, o object) error {
	if at[float64](o, "sequence_number") != float64(n) || o["type"] != name || (n == 0) != (name == "response.created") {
		return fmt.Errorf("event %d is %s, number %v", n, name, o["sequence_number"])
	}
	if ends := []string{"response.completed", "response.failed", "response.incomplete"}; !slices.Contains(ends, name) {
		if name == "response.output_text.delta" {
			a.text += at[string](o, "delta")
		}
		return nil
	}
	text := a.text
	a.read("responses", at[object](o, "response"))
	if strings.TrimSpace(text) != strings.TrimSpace(a.text) {
		return fmt.Errorf("the pieces are %q, the whole is %q", text, a.text)
	}
	return nil
}
