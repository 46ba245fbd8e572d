package ownview

import "macaron/internal/chat"

// Sanitize makes every tool transaction whole, as strict engines demand: a call
// without its result is dropped, and so is a result without its call right before
// it; an assistant message that has neither text nor calls left goes too. Whole
// transactions and everything else stay as they are.
func Sanitize(view []chat.Message) []chat.Message {
	out := make([]chat.Message, 0, len(view))
	for i := 0; i < len(view); {
		m := view[i]
		i++
		if m.Role == chat.Tool {
			continue // no call right before it
		}
		if m.Role != chat.Assistant || len(m.ToolCalls) == 0 {
			out = append(out, m)
			continue
		}
		results := i
		for i < len(view) && view[i].Role == chat.Tool {
			i++
		}
		out = append(out, transaction(m, view[results:i])...)
	}
	return out
}

// transaction keeps the calls of m that have a result and the first result of
// each.
func transaction(m chat.Message, results []chat.Message) []chat.Message {
	answered := map[string]bool{}
	for _, c := range m.ToolCalls {
		answered[c.ID] = false
	}
	var kept []chat.Message
	for _, r := range results {
		if done, asked := answered[r.ToolCallID]; asked && !done {
			answered[r.ToolCallID] = true
			kept = append(kept, r)
		}
	}
	if len(kept) == len(m.ToolCalls) {
		return append([]chat.Message{m}, kept...)
	}
	var calls []chat.ToolCall
	for _, c := range m.ToolCalls {
		if answered[c.ID] {
			calls = append(calls, c)
		}
	}
	m.ToolCalls = calls
	if len(calls) == 0 && m.Text() == "" && len(m.Parts) == 0 {
		return nil
	}
	return append([]chat.Message{m}, kept...)
}
