package upstream

import (
	"encoding/json"

	"macaron/internal/backend"
)

// plain: any server of the common API. A choice is a JSON object with a closed set of
// labels; where that is refused, the label is read out of free text.
var plain = &dialect{
	name:    "openai",
	known:   func(*Facts) bool { return true },
	wrapped: true,
	choose: func(q *body, choices []string) {
		labels, err := json.Marshal(choices)
		if err != nil {
			return // strings can be marshalled
		}
		q.ResponseFormat = schemaFormat("choice", json.RawMessage(`{"type":"object","properties":{"label":{"type":"string","enum":`+string(labels)+`}},"required":["label"],"additionalProperties":false}`))
		q.MaxTokens = max(q.MaxTokens, 32)
	},
	constrain: func(q *body, c backend.Constraint) bool { return responseFormat(q, c) },
}
