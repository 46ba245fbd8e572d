package upstream

import (
	"encoding/json"

	"macaron/internal/jsonscan"
)

// quick reads a chunk as nearly all are: a choice with a text, a reason or neither, and the
// usage. Of everything else, an error above all, it says that encoding/json must read it.
func quick(data []byte) (c piece, ok bool) {
	members, ok := jsonscan.Object(data)
	if !ok {
		return c, false
	}
	for _, m := range members {
		switch m.Key {
		case "choices":
			if ok = quickChoices(&c, m.Value); !ok {
				return c, false
			}
		case "usage":
			if json.Unmarshal(m.Value, &c.Usage) != nil {
				return c, false
			}
		case "id", "created", "model", "system_fingerprint", "service_tier", "prompt_token_ids", "timings":
		case "object":
			if string(m.Value) != `"chat.completion.chunk"` && string(m.Value) != `"chat.completion"` {
				return c, false
			}
		default:
			return c, false
		}
	}
	return c, true
}

func quickChoices(c *piece, raw []byte) bool {
	items, ok := jsonscan.Array(raw)
	if !ok || len(items) > 1 {
		return false
	}
	for _, item := range items {
		members, ok := jsonscan.Object(item)
		if !ok {
			return false
		}
		var one pieceChoice
		for _, m := range members {
			switch {
			case m.Key == "delta":
				one.Delta, ok = quickDelta(m.Value)
			case m.Key == "message":
				one.Message, ok = quickDelta(m.Value)
			case m.Key == "finish_reason" && string(m.Value) != "null":
				one.FinishReason, ok = jsonscan.String(m.Value)
			case m.Key == "index" || string(m.Value) == "null":
			default:
				ok = false
			}
			if !ok {
				return false
			}
		}
		c.Choices = []pieceChoice{one}
	}
	return true
}

func quickDelta(raw []byte) (*pieceDelta, bool) {
	members, ok := jsonscan.Object(raw)
	if !ok {
		return nil, false
	}
	d := &pieceDelta{}
	for _, m := range members {
		null := string(m.Value) == "null"
		switch {
		case m.Key == "content" && m.Value[0] == '"':
			d.Content = m.Value
		case m.Key == "role" || null || m.Key == "tool_calls" && string(m.Value) == "[]":
		case m.Key == "reasoning":
			d.Reasoning, ok = jsonscan.String(m.Value)
		case m.Key == "reasoning_content":
			d.ReasoningContent, ok = jsonscan.String(m.Value)
		default:
			ok = false
		}
		if !ok {
			return nil, false
		}
	}
	return d, true
}
