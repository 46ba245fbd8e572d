package toolshed

import (
	"context"
	"encoding/json"
	"slices"

	"macaron/internal/errs"
	"macaron/internal/tool"
)

// Caller answers the calls that a promoted tool makes while it is called itself.
type Caller func(ctx context.Context, parent, name string, args json.RawMessage) (json.RawMessage, error)

// promoted is a tool of the shed that is called.
type promoted struct {
	shed  *Shed
	owner string
	entry Entry
	run   string
	call  Caller
}

// Def gives the tool as it was saved.
func (p promoted) Def() tool.Def {
	t := p.entry.Saved
	return tool.Def{Name: t.Name, Description: t.Doc, Parameters: t.Parameters, Returns: t.Result, Effect: tool.Effect(t.Effect)}
}

// Invoke runs the tool in a sandbox of its own and counts how it went.
func (p promoted) Invoke(ctx context.Context, c tool.Call) (tool.Result, error) {
	t := p.entry.Saved
	answer := func(ctx context.Context, cell, name string, args json.RawMessage) (json.RawMessage, error) {
		if name == "advance" {
			return json.RawMessage("null"), nil
		}
		if p.call == nil || !slices.Contains(t.Uses, name) {
			return nil, errs.New(errs.Forbidden, "the tool does not declare that it uses "+errs.Clip(name), "")
		}
		return p.call(ctx, c.ID, name, args)
	}
	b, err := p.shed.bench(ctx, t.Uses, 0, p.shed.wall())
	if err != nil {
		return tool.Result{}, err
	}
	defer b.close()
	r, why, err := b.run(ctx, answer, "_try", []string{t.Source}, t.Name, t.Effect == string(tool.Pure), b.roots, []json.RawMessage{c.Arguments})
	if err != nil {
		return tool.Result{}, err
	}
	if r != nil && len(r.Results) == 1 && r.Results[0].Error == "" && len(r.Results[0].Value) > 0 {
		_, err := p.shed.Used(ctx, p.owner, p.entry.Tool, p.run, true)
		return tool.Result{Value: r.Results[0].Value}, err
	}
	if r != nil && len(r.Results) == 1 {
		why = r.Results[0].Error
	}
	if _, err := p.shed.Used(ctx, p.owner, p.entry.Tool, p.run, false); err != nil {
		return tool.Result{}, err
	}
	return tool.Result{Error: &tool.Error{Code: errs.UpstreamFailed, Message: t.Name + " failed", Said: why}}, nil
}
