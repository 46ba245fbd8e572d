package reflect

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"macaron/internal/backend"
	"macaron/internal/chat"
	"macaron/internal/errs"
	"macaron/internal/mindforge/expansion"
)

// written bounds the answer, in tokens.
const written = 512

// write has the model write one edit with its prediction.
func (m Model) write(ctx context.Context, a expansion.Ask) (expansion.Proposal, error) {
	q := backend.Request{Messages: []chat.Message{chat.Text(chat.User, m.question(a))}, MaxTokens: written}
	seed := int64(a.Seed >> 1) //nolint:gosec // any bits are a seed
	q.Sampling.Seed = &seed
	if m.Generator.Capabilities().JSONSchema {
		q.Constraint = backend.Constraint{Kind: backend.JSONSchema, Text: m.schema(), Whole: true}
	}
	text, err := m.ask(ctx, q)
	if err != nil {
		return expansion.Proposal{}, err
	}
	p, err := expansion.ParseProposal([]byte(strings.TrimSpace(text)))
	if err != nil {
		return p, err
	}
	return p, m.Free.Admit(p.Edit, true)
}

// question is what the model is asked: the contract's texts as data, what failed, and what it
// may write.
func (m Model) question(a expansion.Ask) string {
	var b strings.Builder
	fmt.Fprintf(&b, "These are the instructions of an assistant, as data:\n%q\n", a.Contract.Agent.Prompts.System)
	failures(&b, a)
	b.WriteString("Write one change that helps with such tasks in general. Name no task, and give no answer of one. You may write:\n")
	for _, x := range m.Free.Choices {
		if x.Free > 0 {
			fmt.Fprintf(&b, "- kind %q, component %q: %s; at most %d characters\n", x.Kind, x.Component, x.About, x.Free)
		}
	}
	b.WriteString(`Answer with {"edit": {"kind", "component", "value"}, "prediction": {"fixes": [families], "regress": [families], "gain": -1 to 1}}. Families seen: `)
	b.WriteString(strings.Join(families(a), ", "))
	return b.String()
}

func families(a expansion.Ask) (out []string) {
	for _, t := range a.Traces {
		if !slices.Contains(out, t.Family) {
			out = append(out, t.Family)
		}
	}
	return out
}

// schema is the form of the answer.
func (m Model) schema() string {
	var kinds, components []string
	longest := 0
	for _, x := range m.Free.Choices {
		if x.Free > 0 {
			kinds, components, longest = append(kinds, x.Kind), append(components, x.Component), max(longest, x.Free)
		}
	}
	slices.Sort(kinds)
	list := map[string]any{"type": "array", "items": map[string]any{"type": "string", "maxLength": 80}, "maxItems": 8}
	object := func(properties map[string]any, required ...string) map[string]any {
		return map[string]any{"type": "object", "properties": properties, "required": required, "additionalProperties": false}
	}
	text, err := json.Marshal(object(map[string]any{
		"edit":       object(map[string]any{"kind": map[string]any{"enum": slices.Compact(kinds)}, "component": map[string]any{"enum": components}, "value": map[string]any{"type": "string", "minLength": 1, "maxLength": longest}}, "kind", "component", "value"),
		"prediction": object(map[string]any{"fixes": list, "regress": list, "gain": map[string]any{"type": "number", "minimum": -1, "maximum": 1}}, "fixes", "regress", "gain"),
	}, "edit", "prediction"))
	if err != nil {
		panic(errs.As(err)) // it is made of texts and numbers
	}
	return string(text)
}
