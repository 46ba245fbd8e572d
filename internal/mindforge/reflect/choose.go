package reflect

import (
	"context"
	"encoding/json"
	"strings"

	"macaron/internal/backend"
	"macaron/internal/chat"
	"macaron/internal/errs"
)

// chosen bounds a choice, in tokens.
const chosen = 128

// Choose has the model propose a task: a value of a JSON Schema of typed choices, drawn at
// temperature 1 under the grammar of the schema, so that the smallest model makes one. An engine
// without such grammars is refused: free words are no choice.
func (m Model) Choose(ctx context.Context, schema json.RawMessage, seed uint64) ([]byte, error) {
	if !m.Generator.Capabilities().JSONSchema {
		return nil, errs.New(errs.Unsupported, "the engine holds no answer to a schema, which proposals of tasks need", "use the built-in engine, or set discovery.proposals = 0")
	}
	one, number := 1.0, int64(seed>>1) //nolint:gosec // any bits are a seed
	text, err := m.ask(ctx, backend.Request{Messages: []chat.Message{chat.Text(chat.User, "Choose a task to practise, neither too easy nor too hard: its family, its level, and the ways in which it is made harder. Answer with JSON.")},
		MaxTokens: chosen, Sampling: chat.Sampling{Temperature: &one, Seed: &number}, Constraint: backend.Constraint{Kind: backend.JSONSchema, Text: string(schema), Whole: true}})
	return []byte(strings.TrimSpace(text)), err
}
