package app

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"

	"macaron/internal/auth"
	"macaron/internal/clock"
	"macaron/internal/contract"
	"macaron/internal/errs"
	"macaron/internal/harness"
	"macaron/internal/ids"
	"macaron/internal/mcp"
	"macaron/internal/record"
	"macaron/internal/repl"
	"macaron/internal/tool"
	toolgate "macaron/internal/tool/gate"
)

// Desk is what clients of the Model Context Protocol work with: sessions with a sandbox
// and the contract's tools, each call of which is on record.
type Desk struct {
	Tools    *Toolbox
	Log      Appender
	Contract func(ctx context.Context, owner string) (*contract.Contract, error)
	IDs      *ids.Source
	Clock    clock.Clock
	Version  string
}

// Appender is the part of the log that a desk writes to.
type Appender interface {
	Append(ctx context.Context, b record.Batch) error
}

// openDesk sets up what tools are made of, and what clients at /mcp work with.
func (a *App) openDesk(store Store) {
	a.tools = NewToolbox(a.cfg, store, a.log, a.clock, a.ids)
	a.onClose(a.tools.Close)
	a.desk = Desk{Tools: a.tools, Log: store, IDs: a.ids, Clock: a.clock, Version: a.version, Contract: func(ctx context.Context, owner string) (*contract.Contract, error) {
		now, err := a.catalogue.Current(ctx, owner)
		return now.Contract, err
	}}.Serve()
	a.onClose(func() error { a.desk.Close(); return nil })
}

// Serve makes the protocol's side of it.
func (d Desk) Serve() *mcp.Desk {
	return mcp.NewDesk(mcp.Offer{Version: d.Version, Owner: auth.Owner, Open: d.open, Save: d.save, Clock: d.Clock})
}

func (d Desk) save(ctx context.Context, owner string, raw json.RawMessage) (any, error) {
	body, err := record.DecodeBody(record.KindToolSaved, raw)
	if err != nil {
		return nil, errs.Wrap(errs.InvalidRequest, err, "the arguments are no tool", "give name, source, effect, uses and examples")
	}
	e, err := d.Tools.Shed.Save(ctx, owner, body.(record.ToolSaved))
	return map[string]any{"tool": e.Tool, "status": e.Status, "parameters": e.Saved.Parameters}, err
}

// desked is one session. It is its own ledger.
type desked struct {
	Desk
	owner, session string
	contract       ids.Digest
	dir            string
	gate           *toolgate.Gate
	python         *repl.Session // opened with the first code
	free           func() error
}

// open begins a session: it is in the log before anything else happens.
func (d Desk) open(ctx context.Context, owner string) (mcp.Work, error) {
	c, err := d.Contract(ctx, owner)
	if err != nil {
		return nil, err
	}
	w := &desked{Desk: d, owner: owner, session: d.IDs.New(ids.Session), contract: c.Hash()}
	w.dir = filepath.Join(d.Tools.Work(), w.session)
	if err := os.MkdirAll(w.dir, 0o700); err != nil {
		return nil, errs.Wrap(errs.StorageFailed, err, "a workspace cannot be made", "")
	}
	tools, free, err := d.Tools.Tools(ctx, harness.Bench{Owner: owner, Run: w.session, Contract: c, Workspace: w.dir})
	if err != nil {
		return nil, err
	}
	w.free = free
	policy := toolgate.Policy{Effects: c.Policies.Effects, Approve: c.Policies.Approve}
	if w.gate, err = toolgate.New(toolgate.Options{Tools: tools, Ledger: w, Policy: policy, Limits: toolgate.Limits{Calls: c.Agent.MaxToolCalls}}); err != nil {
		return nil, err
	}
	return w, w.append(ctx, record.SessionOpened{Root: w.session, Title: "Model Context Protocol"})
}

func (w *desked) append(ctx context.Context, body record.Body) error {
	return w.Log.Append(ctx, record.Batch{Records: []record.Record{{Head: record.Head{
		ID: w.IDs.New(ids.Record), Owner: w.owner, Session: w.session, Time: w.Clock.Now(), Contract: w.contract, Purpose: record.Production, Consent: record.ConsentNone,
	}, Body: body}}})
}

// Past implements gate.Ledger: no call of a client is made twice.
func (w *desked) Past(context.Context, tool.Call, tool.Def) (*tool.Result, error) { return nil, nil }

// Begin implements gate.Ledger.
func (w *desked) Begin(ctx context.Context, c tool.Call, d tool.Def) error {
	return w.append(ctx, record.ToolCalled{Call: c.ID, Name: c.Name, Arguments: c.Arguments, Effect: string(d.Effect), Parent: c.Parent, Attempt: 1})
}

// End implements gate.Ledger.
func (w *desked) End(ctx context.Context, c tool.Call, r tool.Result) error {
	body := record.ToolReturned{Call: c.ID, Name: c.Name, Parent: c.Parent, Value: r.Value}
	if e := r.Error; e != nil {
		body.Error = &record.RunError{Code: string(e.Code), Message: e.Message, Retryable: e.Retryable, Refused: e.Refused, Unknown: e.Unknown}
	}
	return w.append(ctx, body)
}

// Defs implements mcp.Work.
func (w *desked) Defs() []tool.Def { return w.gate.Defs() }

// Shown implements mcp.Work.
func (w *desked) Shown(name string, r tool.Result, limit int) string {
	return w.gate.ForModel(name, r, limit)
}

// Call implements mcp.Work.
func (w *desked) Call(ctx context.Context, name string, args json.RawMessage) (tool.Result, error) {
	return w.invoke(ctx, "", name, args)
}

func (w *desked) invoke(ctx context.Context, parent, name string, args json.RawMessage) (tool.Result, error) {
	return w.gate.Invoke(ctx, tool.Call{ID: w.IDs.New(ids.Request), Name: name, Arguments: args, Parent: parent})
}

// Run implements mcp.Work.
func (w *desked) Run(ctx context.Context, code string) (mcp.Ran, error) {
	if w.python == nil {
		s, err := w.Tools.Session(ctx, repl.SessionOptions{ID: w.session, Workspace: w.dir, Stubs: harness.Stubs(w.gate.Defs()), Call: w.answer})
		if err != nil {
			return mcp.Ran{}, err
		}
		w.python = s
	}
	cell := w.IDs.New(ids.Request)
	out, err := w.python.Run(ctx, repl.Cell{ID: cell, Code: code})
	if err != nil {
		return mcp.Ran{}, err
	}
	r := mcp.Ran{Status: string(out.Status), Output: w.gate.Clean(out.Output), Value: w.gate.Clean(out.Value), Traceback: w.gate.Clean(out.Traceback), Truncated: out.Truncated}
	if out.Status == repl.Died {
		err = w.python.Restart(ctx)
	}
	return r, w.ran(ctx, cell, code, out, r, err)
}

func (w *desked) ran(ctx context.Context, cell, code string, out repl.Outcome, r mcp.Ran, before error) error {
	if before != nil {
		return before
	}
	shown, err := json.Marshal(r)
	if err != nil {
		return err
	}
	return w.append(ctx, record.CellRan{Cell: cell, Code: code, Output: out.Output, Value: out.Value, Traceback: out.Traceback, Truncated: out.Truncated, Calls: out.Calls, Shown: string(shown), Wall: out.Wall, CPU: out.CPU})
}

// answer is what code's calls of tools come to.
func (w *desked) answer(ctx context.Context, cell, name string, args json.RawMessage) (json.RawMessage, error) {
	r, err := w.invoke(ctx, cell, name, args)
	if err != nil {
		return nil, err
	}
	if r.Error != nil {
		return nil, &errs.Error{Code: r.Error.Code, Message: r.Error.Message}
	}
	return r.Value, nil
}

// Close implements mcp.Work. The log keeps what was done; the workspace goes.
func (w *desked) Close() error {
	if w.python != nil {
		if err := w.python.Close(); err != nil {
			return err
		}
	}
	if err := w.free(); err != nil {
		return err
	}
	return os.RemoveAll(w.dir)
}
