package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"macaron/internal/errs"
	"macaron/internal/tool"
)

// remote is a tool of a server.
type remote struct {
	link  *link
	offer offer
	keep  Keep
}

// Def gives the tool as its server describes it.
func (r remote) Def() tool.Def { return r.offer.def }

// Invoke calls the tool, after it was seen to be still the same.
func (r remote) Invoke(ctx context.Context, c tool.Call) (tool.Result, error) {
	offered, err := r.link.offered(ctx)
	if err != nil {
		return before(err), nil
	}
	if now, ok := offered.find(r.offer.name); !ok || now.hash != r.offer.hash {
		return before(changed(r.link.Name, r.offer.name)), nil
	}
	s, err := r.link.session(ctx)
	if err != nil {
		return before(err), nil
	}
	got, err := s.CallTool(ctx, &sdk.CallToolParams{Name: r.offer.name, Arguments: c.Arguments})
	if err != nil {
		return r.failed(s, err), nil
	}
	return result(got, r.keep)
}

// before is a failure that came before the tool was called.
func before(err error) tool.Result {
	r := tool.Fail(err)
	r.Error.Retryable = r.Error.Code == errs.UpstreamUnavailable || r.Error.Code == errs.Canceled
	return r
}

func (r remote) failed(s *sdk.ClientSession, err error) tool.Result {
	var protocol *jsonrpc.Error
	if errors.As(err, &protocol) {
		code := errs.UpstreamFailed
		if protocol.Code == jsonrpc.CodeInvalidParams {
			code = errs.InvalidRequest
		}
		return tool.Result{Error: &tool.Error{Code: code, Message: "the MCP server " + r.link.Name + " refuses the call", Said: tool.Bounded(protocol.Message, 2000)}}
	}
	out := tool.Fail(r.link.lost(s, err))
	out.Error.Retryable = errors.Is(err, sdk.ErrSessionMissing) // the server did not know the session, and did nothing
	return out
}

// result reads what a tool gave: its structured content, else its texts, of which one that
// is JSON is read as such. Images and sounds are artifacts; other content is named without
// its bytes.
func result(got *sdk.CallToolResult, keep Keep) (tool.Result, error) {
	if got.NeedsInput() {
		return tool.Result{}, errs.New(errs.Unsupported, "the tool asks its user for input, which nobody here can give", "")
	}
	var parts []any
	var kept []tool.Artifact
	for _, c := range got.Content {
		p, err := part(c, keep, &kept)
		if err != nil {
			return tool.Result{}, err
		}
		parts = append(parts, p)
	}
	if got.IsError {
		return tool.Result{Error: &tool.Error{Code: errs.UpstreamFailed, Message: "the tool failed", Said: tool.Bounded(words(parts), 4000)}}, nil
	}
	var value any
	switch {
	case got.StructuredContent != nil:
		value = got.StructuredContent
	case len(parts) == 1:
		value = parts[0]
	default:
		value = append([]any{}, parts...)
	}
	b, err := json.Marshal(value)
	if err != nil {
		return tool.Result{}, errs.Wrap(errs.UpstreamFailed, err, "the tool's result has no JSON form", "")
	}
	return tool.Result{Value: b, Artifacts: kept}, nil
}

// part is one content as JSON. What is kept joins kept.
func part(c sdk.Content, keep Keep, kept *[]tool.Artifact) (any, error) {
	kind, mime, data := "image", "", []byte(nil)
	switch c := c.(type) {
	case *sdk.ImageContent:
		mime, data = c.MIMEType, c.Data
	case *sdk.AudioContent:
		kind, mime, data = "audio", c.MIMEType, c.Data
	default:
		return plain(c), nil
	}
	out := map[string]any{"type": kind, "mime": errs.Clip(mime), "bytes": len(data)}
	if keep == nil {
		return out, nil
	}
	digest, err := keep(data)
	if err != nil {
		return nil, err
	}
	name := fmt.Sprintf("%s-%d", kind, len(*kept)+1)
	*kept = append(*kept, tool.Artifact{Name: name, MIME: errs.Clip(mime), Bytes: int64(len(data)), Digest: digest})
	out["artifact"] = name
	return out, nil
}

func plain(c sdk.Content) any {
	switch c := c.(type) {
	case *sdk.TextContent:
		if t := strings.TrimSpace(c.Text); len(t) > 0 && (t[0] == '{' || t[0] == '[') && json.Valid([]byte(t)) {
			return json.RawMessage(t)
		}
		return c.Text
	case *sdk.ResourceLink:
		return map[string]any{"type": "resource_link", "uri": c.URI, "name": c.Name}
	case *sdk.EmbeddedResource:
		if c.Resource == nil {
			return map[string]any{"type": "resource"}
		}
		return map[string]any{"type": "resource", "uri": c.Resource.URI, "mime": c.Resource.MIMEType, "text": c.Resource.Text}
	}
	return map[string]any{"type": "unknown"}
}

func words(parts []any) string {
	var out []string
	for _, p := range parts {
		switch p := p.(type) {
		case string:
			out = append(out, p)
		case json.RawMessage:
			out = append(out, string(p))
		}
	}
	return strings.Join(out, "\n")
}
