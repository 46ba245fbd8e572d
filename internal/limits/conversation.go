package limits

import (
	"fmt"
	"strings"

	"macaron/internal/chat"
	"macaron/internal/errs"
)

// Conversation checks a list of messages, and that the last is one that can be answered.
// Calls that were made before them are given by their ids.
func Conversation(messages []chat.Message, made ...string) error {
	if err := Messages(messages, made...); err != nil {
		return err
	}
	return last(messages)
}

// Messages checks a list of messages: its size, the roles, and that tool results answer
// calls, theirs or those made before them.
func Messages(messages []chat.Message, made ...string) error {
	if len(messages) == 0 {
		return errs.New(errs.InvalidRequest, "messages is empty", "send at least one user message").In("messages")
	}
	if len(messages) > MessageCount {
		return errs.New(errs.TooLarge, fmt.Sprintf("messages has %d items, more than %d", len(messages), MessageCount), "start a new conversation").In("messages")
	}
	calls := map[string]bool{}
	for _, id := range made {
		calls[id] = true
	}
	for i, m := range messages {
		if err := message(fmt.Sprintf("messages[%d]", i), m, calls); err != nil {
			return err
		}
	}
	return nil
}

func message(field string, m chat.Message, calls map[string]bool) error {
	size := len(m.Reasoning)
	for _, p := range m.Parts {
		size += len(p.Text) + len(p.Raw)
	}
	if size > TextBytes {
		return errs.New(errs.TooLarge, fmt.Sprintf("%s has %d bytes, more than %d", field, size, TextBytes), "shorten it").In(field)
	}
	if len(m.ToolCalls) > 0 && m.Role != chat.Assistant {
		return errs.Newf(errs.InvalidRequest, "%s has tool calls but is not an assistant message", field).In(field + ".tool_calls")
	}
	for i, c := range m.ToolCalls {
		if c.ID == "" || c.Name == "" {
			at := fmt.Sprintf("%s.tool_calls[%d]", field, i)
			return errs.Newf(errs.InvalidRequest, "%s needs an id and a function name", at).In(at)
		}
		calls[c.ID] = true
	}
	if m.Role == chat.Tool && !calls[m.ToolCallID] {
		return errs.New(errs.OrphanToolTurn, fmt.Sprintf("%s answers the tool call %q, which no message before it made", field, errs.Clip(m.ToolCallID)),
			"send the assistant message with that call first").In(field + ".tool_call_id")
	}
	if len(m.Parts) == 0 && len(m.ToolCalls) == 0 && m.Role != chat.Tool && m.Role != chat.Assistant {
		return errs.Newf(errs.InvalidRequest, "%s has no content", field).In(field + ".content")
	}
	return nil
}

// last refuses a conversation that waits for nobody: an assistant's own words are
// not a request.
func last(messages []chat.Message) error {
	i := len(messages) - 1
	switch messages[i].Role {
	case chat.User, chat.Tool:
		return nil
	}
	field := fmt.Sprintf("messages[%d]", i)
	return errs.New(errs.InvalidRequest, fmt.Sprintf("the last message has the role %q, so there is nothing to answer", messages[i].Role),
		"end with a user or tool message").In(field + ".role")
}

// Tools checks the offered functions and that the choice names one of them.
func Tools(tools []chat.ToolDef, choice chat.ToolChoice) error {
	total, known := 0, map[string]bool{}
	for i, t := range tools {
		field := fmt.Sprintf("tools[%d]", i)
		if err := toolName(field+".function.name", t.Name); err != nil {
			return err
		}
		if known[t.Name] {
			return errs.Newf(errs.InvalidRequest, "the tool %s is defined twice", t.Name).In(field + ".function.name")
		}
		known[t.Name] = true
		size := len(t.Parameters) + len(t.Description)
		if total += size; size > ToolBytes || total > ToolsBytes {
			return errs.New(errs.TooLarge, fmt.Sprintf("the tools are larger than %d bytes each or %d in all", ToolBytes, ToolsBytes), "shorten the descriptions").In(field)
		}
	}
	switch choice.Mode {
	case "", "auto", "none":
		return nil
	}
	if len(tools) == 0 {
		return errs.New(errs.InvalidRequest, "tool_choice asks for a tool, but there are no tools", "send tools, or tool_choice \"none\"").In("tool_choice")
	}
	if choice.Mode == "function" && !known[choice.Name] {
		return errs.Newf(errs.InvalidRequest, "tool_choice names %q, which is not among the tools", errs.Clip(choice.Name)).In("tool_choice")
	}
	return nil
}

func toolName(field, s string) error {
	bad := strings.IndexFunc(s, func(c rune) bool {
		return !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.ContainsRune("_-.", c))
	})
	if s == "" || len(s) > 64 || bad >= 0 {
		return errs.New(errs.InvalidRequest, fmt.Sprintf("%q is not a tool name", errs.Clip(s)), "use 1 to 64 of A-Z a-z 0-9 _ - .").In(field)
	}
	return nil
}
