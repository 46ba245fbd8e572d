package session

import (
	"encoding/hex"
	"encoding/json"
	"testing"

	"macaron/internal/chat"
)

// The chain of docs/formats/log.md, whose links were computed apart from this code.
func TestChainIsAsDocumented(t *testing.T) {
	var at link
	for i, c := range []struct {
		m    chat.Message
		want string
	}{
		{chat.Text(chat.System, "not part of it"), "0000000000000000000000000000000000000000000000000000000000000000"},
		{chat.Text(chat.User, "hi"), "200597e7f5204f71a4a0077fd194d78774ffcd843689cc8dc3cf68e69f9c1e7e"},
		{chat.Message{Role: chat.Assistant, Parts: []chat.Part{{Kind: "text", Text: " ok\n"}}, Reasoning: "x", ToolCalls: []chat.ToolCall{{ID: "c1", Name: "f", Arguments: `{ "b": 1.0, "a": 2 }`}}}, "06c5bad0374b2db1c69e761452b40ccc20b57b5161c4376bd0f08c3448870df7"},
		{chat.Message{Role: chat.Tool, ToolCallID: "c1", Parts: []chat.Part{{Kind: "text", Text: "r"}}}, "61d3fb3dcfa7f1bda2797d77520632f1a51e4f9b05d74f65c23b2ac465c33ed0"},
	} {
		at = extend(at, c.m)
		if got := hex.EncodeToString(at[:]); got != c.want {
			t.Errorf("link %d is %s", i, got)
		}
	}
}

func TestIdentity(t *testing.T) {
	text := func(s ...string) chat.Message {
		m := chat.Message{Role: chat.Assistant}
		for _, s := range s {
			m.Parts = append(m.Parts, chat.Part{Kind: "text", Text: s})
		}
		return m
	}
	call := func(id, name, args string) chat.Message {
		return chat.Message{Role: chat.Assistant, ToolCalls: []chat.ToolCall{{ID: id, Name: name, Arguments: args}}}
	}
	image := func(raw string) chat.Message {
		return chat.Message{Role: chat.User, Parts: []chat.Part{{Kind: "image", Raw: json.RawMessage(raw)}}}
	}
	thought := text("a")
	thought.Reasoning, thought.Name = "r", "n"
	named := chat.Text(chat.User, "a")
	named.Name = "bob"
	for _, pair := range [][2]chat.Message{
		{text("a"), text(" a\n")}, {text(), text("")}, {text("a"), text("", "a")}, {text("a"), thought},
		{call("1", "f", `{"a":1,"b":2}`), call("1", "f", ` {"b": 2, "a": 1.0}`)}, {call("1", "f", ""), call("1", "f", "{}")},
		{image(`{"url":"x"}`), image(`{ "url" : "\u0078" }`)},
	} {
		if !same(pair[0], pair[1]) {
			t.Errorf("%+v is not %+v", pair[0], pair[1])
		}
	}
	for _, pair := range [][2]chat.Message{
		{text("a"), text("b")}, {text("a", "b"), text("ab")}, {text("a"), chat.Text(chat.User, "a")}, {chat.Text(chat.User, "a"), chat.Text(chat.User, "a ")},
		{call("1", "f", `{"a":1}`), call("1", "f", `{"a":2}`)}, {call("1", "f", `{}`), call("2", "f", `{}`)}, {call("1", "f", `{}`), call("1", "g", `{}`)},
		{call("1", "f", `not json`), call("1", "f", `not  json`)}, {image(`{"url":"x"}`), image(`{"url":"y"}`)}, {named, chat.Text(chat.User, "a")},
		{chat.Message{Role: chat.Tool, ToolCallID: "1"}, chat.Message{Role: chat.Tool, ToolCallID: "2"}},
	} {
		if same(pair[0], pair[1]) {
			t.Errorf("%+v is taken for %+v", pair[0], pair[1])
		}
	}
}
