package local

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"

	"macaron/internal/backend"
	"macaron/internal/chat"
	"macaron/internal/engine/template"
	"macaron/internal/engine/token"
	"macaron/internal/errs"
)

// prompt is what a request became.
type prompt struct{ ids []int32 }

// Encode gives the token ids that a request's prompt becomes.
func (b *Backend) Encode(r backend.Request) ([]int32, error) {
	if err := b.refuse(&r); err != nil {
		return nil, err
	}
	p, err := b.encode(&r)
	return p.ids, err
}

// Count implements backend.Counter.
func (b *Backend) Count(_ context.Context, r backend.Request) (int, error) {
	ids, err := b.Encode(r)
	return len(ids), err
}

// encode makes token ids of a request. Text of people, tools and models can never
// become a control token: the template's own text alone is trusted.
func (b *Backend) encode(r *backend.Request) (prompt, error) {
	if r.Tokens != nil {
		return prompt{ids: r.Tokens}, nil
	}
	segments, err := b.render(r)
	if err != nil {
		return prompt{}, err
	}
	tok := b.eng.Tokenizer()
	p := prompt{ids: tok.EncodeSegments(segments)}
	if bos := tok.BOS(); tok.AddBOS() && (len(p.ids) == 0 || p.ids[0] != bos) {
		p.ids = append([]int32{bos}, p.ids...)
	}
	return p, nil
}

// render puts the messages and tools through the template.
func (b *Backend) render(r *backend.Request) ([]template.Segment, error) {
	if b.template == nil {
		return nil, errs.New(errs.Unsupported, "the model file has no chat template", "use a model made for chat")
	}
	if len(r.Messages) == 0 {
		return nil, errs.New(errs.InvalidRequest, "there are no messages", "send at least one").In("messages")
	}
	asked := r.Asked() // templates begin answers, and go on with none
	tok := b.eng.Tokenizer()
	in := template.Input{Messages: asked.Messages, AddGenerationPrompt: !r.Decoding.Bare, BOS: text(tok, tok.BOS()), EOS: text(tok, tok.EOS())}
	if b.template.UsesTools() {
		in.Tools = r.ToolChoice.Offered(r.Tools)
	} else {
		in.Messages = spellOut(asked.Messages, r.ToolChoice.Offered(r.Tools), r.ToolPrompt)
	}
	return b.template.RenderSegments(in)
}

func text(t *token.Tokenizer, id int32) string { return string(t.Piece(id)) }

// spellOut writes tools and calls as text, for templates that have no place for them:
// the tools into the system text, a call as the model itself writes it.
func spellOut(messages []chat.Message, tools []chat.ToolDef, toolPrompt string) []chat.Message {
	out := make([]chat.Message, 0, len(messages)+1)
	for _, m := range messages {
		if len(m.ToolCalls) > 0 {
			m = chat.Text(m.Role, m.Text()+spellCalls(m.ToolCalls))
		} else if len(m.Parts) != 1 {
			m = chat.Text(m.Role, m.Text())
		}
		out = append(out, m)
	}
	if len(tools) == 0 || toolPrompt == "" {
		return out
	}
	note := strings.ReplaceAll(toolPrompt, "{{tools}}", spellTools(tools))
	if len(out) > 0 && out[0].Role == chat.System {
		out[0] = chat.Text(chat.System, out[0].Text()+"\n"+note)
		return out
	}
	return append([]chat.Message{chat.Text(chat.System, strings.TrimSpace(note))}, out...)
}

// spellTools gives one line of JSON per tool, its schema byte for byte.
func spellTools(tools []chat.ToolDef) string {
	lines := make([]string, len(tools))
	for i, t := range tools {
		line := `{"type": "function", "function": {"name": ` + chat.Quote(t.Name)
		if t.Description != "" {
			line += `, "description": ` + chat.Quote(t.Description)
		}
		if len(t.Parameters) > 0 {
			line += `, "parameters": ` + oneLine(t.Parameters)
		}
		lines[i] = line + "}}"
	}
	return strings.Join(lines, "\n")
}

// spellCalls writes calls as the model does.
func spellCalls(calls []chat.ToolCall) string {
	texts := make([]string, len(calls))
	for i, c := range calls {
		arguments := c.Arguments
		if strings.TrimSpace(arguments) == "" {
			arguments = "{}"
		}
		texts[i] = callOpen + `{"name": ` + chat.Quote(c.Name) + `, "arguments": ` + arguments + "}" + callClose
	}
	return strings.Join(texts, "\n")
}

// oneLine removes line breaks from JSON that has them; other JSON stays as it is.
func oneLine(raw json.RawMessage) string {
	if !bytes.ContainsAny(raw, "\r\n") {
		return string(raw)
	}
	var b bytes.Buffer
	if err := json.Compact(&b, raw); err != nil {
		return string(raw)
	}
	return b.String()
}
