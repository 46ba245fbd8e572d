package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"macaron/internal/errs"
	"macaron/internal/tool"
)

const sessionProperty = `"session":{"type":"string","description":"of an earlier answer, to go on with it; a new one if absent"}`

func takes(properties, required string) json.RawMessage {
	return json.RawMessage(`{"type":"object","properties":{` + properties + `},"required":[` + required + `],"additionalProperties":false}`)
}

// asked are the arguments of all tools of the desk.
type asked struct {
	Session   string          `json:"session"`
	Code      string          `json:"code"`
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments"`
	Text      string          `json:"text"`
}

// add offers a tool. What it fails with is a result, so that a model can mend it.
func (d counter) add(name, description string, schema json.RawMessage, do func(ctx context.Context, raw json.RawMessage) (any, error)) {
	d.sdk.AddTool(&sdk.Tool{Name: name, Description: description, InputSchema: schema}, func(ctx context.Context, q *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		out, err := do(ctx, q.Params.Arguments)
		if err != nil {
			return failed(err), nil
		}
		return succeeded(out)
	})
}

// failed is a result that says what went wrong, so that a model can mend it.
func failed(err error) *sdk.CallToolResult {
	e := tool.Fail(err).Error
	return &sdk.CallToolResult{IsError: true, Content: []sdk.Content{&sdk.TextContent{Text: string(e.Code) + ": " + e.Message}}}
}

// succeeded is a result with a value, as structure and as text.
func succeeded(value any) (*sdk.CallToolResult, error) {
	b, err := json.Marshal(value)
	if err != nil {
		return nil, err
	}
	return &sdk.CallToolResult{StructuredContent: json.RawMessage(b), Content: []sdk.Content{&sdk.TextContent{Text: string(b)}}}, nil
}

// read reads arguments strictly.
func read(raw json.RawMessage) (asked, error) {
	var a asked
	if len(raw) == 0 {
		return a, nil
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&a); err != nil {
		return a, errs.New(errs.InvalidRequest, "the arguments cannot be read: "+errs.Clip(err.Error()), "")
	}
	return a, nil
}

// in does something in the session that the arguments name, or in a new one.
func (d counter) in(do func(ctx context.Context, p *place, a asked) (any, error)) func(context.Context, json.RawMessage) (any, error) {
	return func(ctx context.Context, raw json.RawMessage) (any, error) {
		a, err := read(raw)
		if err != nil {
			return nil, err
		}
		return d.at(ctx, d.owner, a.Session, func(p *place) (any, error) { return do(ctx, p, a) })
	}
}

func (d counter) tools() {
	d.add("run_code", "Run Python in a sandbox. Variables stay for the next call with the same session.", takes(`"code":{"type":"string"},`+sessionProperty, `"code"`),
		d.in(func(ctx context.Context, p *place, a asked) (any, error) {
			ran, err := p.work.Run(ctx, a.Code)
			return struct {
				Session string `json:"session"`
				Ran
			}{p.id, ran}, err
		}))
	d.add("list_tools", "List the tools that code can call as functions, and call_tool by name.", takes(sessionProperty, ``),
		d.in(func(_ context.Context, p *place, _ asked) (any, error) {
			return map[string]any{"session": p.id, "tools": append([]tool.Def{}, p.work.Defs()...)}, nil
		}))
	d.add("call_tool", "Call one tool.", takes(`"name":{"type":"string"},"arguments":{"type":"object"},`+sessionProperty, `"name"`), d.in(callTool))
	d.add("save_tool", "Keep a Python function as a tool, for its owner alone until it is promoted.",
		takes(`"name":{"type":"string"},"source":{"type":"string"},"effect":{"enum":["pure","read","write","irreversible"]},"uses":{"type":"array","items":{"type":"string"}},"examples":{"type":"array","items":{"type":"object"}},"doc":{"type":"string"},"parameters":{"type":"object"},"result":{"type":"object"},`+sessionProperty, `"name","source"`),
		d.saveTool)
	d.renderUI()
	d.add("list_sessions", "List your open sessions.", takes(``, ``), func(ctx context.Context, _ json.RawMessage) (any, error) {
		d.mu.Lock()
		defer d.mu.Unlock()
		ids := []string{}
		for _, p := range d.of(d.owner) {
			ids = append(ids, p.id)
		}
		return map[string]any{"sessions": ids}, nil
	})
	d.add("close_session", "End a session.", takes(`"session":{"type":"string"}`, `"session"`), d.closeSession)
	if d.offer.Ask != nil {
		d.add("ask", "Ask the model, as one turn of chat. A session keeps its conversation.", takes(`"text":{"type":"string"},`+sessionProperty, `"text"`), d.in(d.ask))
	}
}

func (d counter) ask(ctx context.Context, p *place, a asked) (any, error) {
	if strings.TrimSpace(a.Text) == "" {
		return nil, errs.New(errs.InvalidRequest, "there is no text", "give text").In("text")
	}
	got, err := d.offer.Ask(ctx, d.owner, p.conversation, a.Text)
	if err != nil {
		return nil, err
	}
	p.conversation = got.Conversation
	return struct {
		Session string `json:"session"`
		Answered
	}{p.id, got}, nil
}

func callTool(ctx context.Context, p *place, a asked) (any, error) {
	r, err := p.work.Call(ctx, a.Name, a.Arguments)
	if err != nil {
		return nil, err
	}
	if r.Error != nil {
		return nil, &errs.Error{Code: r.Error.Code, Message: p.work.Shown(a.Name, tool.Result{Error: r.Error}, maxShown)}
	}
	return map[string]any{"session": p.id, "result": p.work.Shown(a.Name, r, maxShown)}, nil
}

// saveTool keeps a tool that a session wrote.
func (d counter) saveTool(ctx context.Context, raw json.RawMessage) (any, error) {
	written := map[string]json.RawMessage{}
	if err := json.Unmarshal(raw, &written); err != nil {
		return nil, errs.New(errs.InvalidRequest, "the arguments cannot be read: "+errs.Clip(err.Error()), "")
	}
	var session string
	if given, ok := written["session"]; ok {
		if err := json.Unmarshal(given, &session); err != nil {
			return nil, errs.New(errs.InvalidRequest, "session is a text", "").In("session")
		}
		delete(written, "session")
	}
	rest, err := json.Marshal(written)
	if err != nil {
		return nil, err
	}
	return d.at(ctx, d.owner, session, func(p *place) (any, error) {
		r, err := p.work.Save(ctx, rest)
		if err == nil && r.Error != nil {
			err = &errs.Error{Code: r.Error.Code, Message: r.Error.Message}
		}
		if err != nil {
			return nil, err
		}
		out := map[string]any{}
		err = json.Unmarshal(r.Value, &out)
		out["session"] = p.id
		return out, err
	})
}

func (d counter) closeSession(ctx context.Context, raw json.RawMessage) (any, error) {
	a, err := read(raw)
	if err != nil {
		return nil, err
	}
	p := d.take(key{d.owner, a.Session})
	if p == nil {
		return nil, unknown(a.Session)
	}
	p.end()
	return map[string]any{"closed": p.id}, nil
}
