package mcp

import (
	"context"
	"encoding/json"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"macaron/internal/errs"
	"macaron/internal/ui4a"
	"macaron/internal/ui4a/compile"
	"macaron/internal/ui4a/library"
	"macaron/internal/ui4a/mcpapp"
)

// rendered is what a model is told of a card: what macaron ui4a check --json prints.
type rendered struct {
	OK       bool              `json:"ok"` // no error; warnings do not count
	Revision string            `json:"revision"`
	Imports  []string          `json:"imports"`
	Keys     []compile.Key     `json:"keys"`
	Findings []ui4a.Diagnostic `json:"findings"`
}

// renderUI offers cards: a tool that compiles one and says what is wrong with it, the view
// that hosts with MCP Apps show it in, and the text that teaches the language.
func (d counter) renderUI() {
	view := sdk.Meta{"ui": map[string]any{"resourceUri": mcpapp.URI, "visibility": []string{"model"}}}
	d.sdk.AddTool(&sdk.Tool{
		Name: "render_ui", Meta: view, InputSchema: takes(`"code":{"type":"string"}`, `"code"`),
		Description: "Show the person an interface, where the client shows any, and check it: one TSX module whose default export is a component. The answer says what is wrong with it, with line, column and fix; mend that and call again. The resource ui4a://prompt teaches the language.",
	}, func(_ context.Context, q *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		return render(q.Params.Arguments, draws(q.Session))
	})
	d.text(&sdk.Resource{Name: "card", URI: mcpapp.URI, MIMEType: mcpapp.MIME, Description: "The view of a card."}, sdk.Meta{"ui": mcpapp.ResourceMeta()}, mcpapp.View)
	d.text(&sdk.Resource{Name: "ui4a", URI: "ui4a://prompt", MIMEType: "text/plain", Description: "How cards are written."}, nil, library.Prompt)
}

// text offers a resource that is one text.
func (d counter) text(r *sdk.Resource, meta sdk.Meta, text func() string) {
	d.sdk.AddResource(r, func(context.Context, *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
		return &sdk.ReadResourceResult{Contents: []*sdk.ResourceContents{{URI: r.URI, MIMEType: r.MIMEType, Text: text(), Meta: meta}}}, nil
	})
}

// draws says whether a client may show cards: not if it has said what it can, and not that.
func draws(s *sdk.ServerSession) bool {
	p := s.InitializeParams()
	if p == nil || p.Capabilities == nil {
		return true // streamable HTTP keeps nothing of what was said at the beginning
	}
	return mcpapp.Speaks(p.Capabilities.Extensions)
}

// render answers render_ui. What the view needs is in the answer's metadata, which hosts
// keep from the model.
func render(raw json.RawMessage, drawn bool) (*sdk.CallToolResult, error) {
	a, err := read(raw)
	if err == nil && a.Code == "" {
		err = errs.New(errs.InvalidRequest, "there is no code", "give code").In("code")
	}
	if err != nil {
		return failed(err), nil
	}
	r, found := compile.Compile(a.Code, compile.Options{})
	if found == nil {
		found = []ui4a.Diagnostic{}
	}
	out, err := succeeded(rendered{OK: !ui4a.Failed(found), Revision: string(r.Revision), Imports: r.Imports, Keys: r.Keys, Findings: found})
	if err == nil && drawn && r.JS != "" {
		out.Meta = sdk.Meta{mcpapp.Meta: mcpapp.Of(a.Code, r)}
	}
	return out, err
}
