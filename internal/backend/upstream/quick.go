package upstream

import (
	"encoding/json"

	"macaron/internal/jsonscan"
)

// quick reads a chunk as nearly all are: a choice with a text, a reason or neither, and the
// usage. Of everything else, an error above all, it says that encoding/json must read it.
func quick(data []byte) (c piece, ok bool) {
	if !begins(data, '{') {
		return c, false
	}
	w := jsonscan.Walk{Text: data}
	for w.Next() {
		switch string(w.Key) {
		case `"choices"`:
			ok = quickChoices(&c, w.Value)
		case `"usage"`:
			ok = string(w.Value) == "null" || json.Unmarshal(w.Value, &c.Usage) == nil
		case `"id"`, `"created"`, `"model"`, `"system_fingerprint"`, `"service_tier"`, `"timings"`:
			ok = true
		case `"prompt_token_ids"`:
			ok = string(w.Value) == "null"
		case `"object"`:
			ok = string(w.Value) == `"chat.completion.chunk"` || string(w.Value) == `"chat.completion"`
		default:
			ok = false
		}
		if !ok {
			return c, false
		}
	}
	return c, ok && w.Whole
}

func quickChoices(c *piece, raw []byte) bool {
	if !begins(raw, '[') {
		return false
	}
	w := jsonscan.Walk{Text: raw}
	for w.Next() {
		if c.Choices != nil {
			return false // more than one
		}
		c.Choices = make([]pieceChoice, 1)
		if !quickChoice(&c.Choices[0], w.Value) {
			return false
		}
	}
	return w.Whole
}

func quickChoice(one *pieceChoice, raw []byte) bool {
	if !begins(raw, '{') {
		return false
	}
	w, ok := jsonscan.Walk{Text: raw}, true
	for w.Next() {
		null := string(w.Value) == "null"
		switch string(w.Key) {
		case `"delta"`:
			one.Delta, ok = quickDelta(w.Value)
		case `"message"`:
			one.Message, ok = quickDelta(w.Value)
		case `"finish_reason"`:
			if !null {
				one.FinishReason, ok = jsonscan.String(w.Value)
			}
		case `"index"`:
		default:
			ok = null
		}
		if !ok {
			return false
		}
	}
	return w.Whole
}

func quickDelta(raw []byte) (*pieceDelta, bool) {
	if string(raw) == "null" {
		return nil, true
	}
	if !begins(raw, '{') {
		return nil, false
	}
	w, ok := jsonscan.Walk{Text: raw}, true
	d := &pieceDelta{}
	for w.Next() {
		if string(w.Value) == "null" {
			continue
		}
		switch string(w.Key) {
		case `"content"`:
			d.Content, ok = w.Value, w.Value[0] == '"'
		case `"role"`:
		case `"tool_calls"`:
			ok = string(w.Value) == "[]"
		case `"reasoning"`:
			d.Reasoning, ok = jsonscan.String(w.Value)
		case `"reasoning_content"`:
			d.ReasoningContent, ok = jsonscan.String(w.Value)
		default:
			ok = false
		}
		if !ok {
			return nil, false
		}
	}
	return d, w.Whole
}

func begins(text []byte, with byte) bool { return len(text) > 0 && text[0] == with }
