package app

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"

	"macaron/internal/auth"
	"macaron/internal/clock"
	"macaron/internal/contract"
	"macaron/internal/disk"
	"macaron/internal/errs"
	"macaron/internal/harness"
	"macaron/internal/ids"
	"macaron/internal/mcp"
	"macaron/internal/record"
	"macaron/internal/repl"
	"macaron/internal/tool"
	toolgate "macaron/internal/tool/gate"
	"macaron/internal/turn"
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
	Turns    Turns // that answer what clients ask; nil: they cannot
}

// Turns serve turns of chat.
type Turns interface {
	Run(ctx context.Context, q turn.Request, out turn.Sink) error
}

// Appender is the part of the log that a desk writes to.
type Appender interface {
	Append(ctx context.Context, b record.Batch) error
}

// openDesk sets up what tools are made of, and what clients at /mcp work with.
func (a *App) openDesk(store Store) {
	a.tools = NewToolbox(a.cfg, store, a.log, a.clock, a.ids)
	a.onClose(a.tools.Close)
	a.desk = Desk{Turns: chatting{a}, Tools: a.tools, Log: store, IDs: a.ids, Clock: a.clock, Version: a.version, Contract: func(ctx context.Context, owner string) (*contract.Contract, error) {
		now, err := a.catalogue.Current(ctx, owner, auth.Of(ctx).User, "")
		return now.Contract, err
	}}.Serve()
	a.onClose(func() error { a.desk.Close(); return nil })
}

// Serve makes the protocol's side of it.
func (d Desk) Serve() *mcp.Desk {
	o := mcp.Offer{Version: d.Version, Owner: auth.Owner, Open: d.open, Clock: d.Clock}
	if d.Turns != nil {
		o.Ask = d.ask
	}
	return mcp.NewDesk(o)
}

// desked is one session. It is its own ledger.
type desked struct {
	Desk
	owner, session string
	contract       *contract.Contract
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
	w := &desked{Desk: d, owner: owner, session: d.IDs.New(ids.Session), contract: c, free: func() error { return nil }}
	w.dir = filepath.Join(d.Tools.Work(), w.session)
	if err := os.MkdirAll(w.dir, 0o700); err != nil {
		return nil, disk.Error(err, "a workspace cannot be made")
	}
	if err := w.equip(ctx); err != nil {
		return nil, errors.Join(err, w.Close())
	}
	return w, nil
}

// equip makes the session's tools and has on record that it began.
func (w *desked) equip(ctx context.Context) error {
	c := w.contract
	tools, free, err := w.Tools.Tools(ctx, harness.Bench{Owner: w.owner, Run: w.session, Contract: c, Workspace: w.dir, Call: w.nested})
	if err != nil {
		return err
	}
	w.free = free
	policy := toolgate.Policy{Effects: c.Policies.Effects, Approve: c.Policies.Approve}
	if w.gate, err = toolgate.New(toolgate.Options{Tools: tools, Ledger: w, Policy: policy, Limits: toolgate.Limits{Calls: c.Agent.MaxToolCalls}}); err != nil {
		return err
	}
	return w.append(ctx, record.SessionOpened{Root: w.session, Title: "Model Context Protocol"})
}

func (w *desked) append(ctx context.Context, bodies ...record.Body) error {
	var b record.Batch
	for _, body := range bodies {
		b.Records = append(b.Records, record.Record{Head: record.Head{
			ID: w.IDs.New(ids.Record), Owner: w.owner, Session: w.session, Run: w.session, Time: w.Clock.Now(), Contract: w.contract.Hash(), Purpose: record.Production, Consent: record.ConsentNone,
		}, Body: body})
	}
	return w.Log.Append(ctx, b)
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

// Save implements mcp.Work: it is a call of the session, on record like the others, and the
// tool's trajectory is the session.
func (w *desked) Save(ctx context.Context, written json.RawMessage) (tool.Result, error) {
	c := tool.Call{ID: w.IDs.New(ids.Request), Name: "save_tool", Arguments: written}
	if err := w.Begin(ctx, c, tool.Def{Effect: tool.Write}); err != nil {
		return tool.Result{}, err
	}
	var r tool.Result
	saved, err := w.save(ctx, written)
	if err == nil {
		r.Value, err = json.Marshal(saved)
	}
	if err != nil {
		r = tool.Fail(err)
	}
	return r, w.End(context.WithoutCancel(ctx), c, r)
}

func (w *desked) save(ctx context.Context, written json.RawMessage) (harness.Saved, error) {
	t, err := record.WrittenTool(written, w.session)
	if err != nil {
		return harness.Saved{}, err
	}
	if w.gate.Clean(string(written)) != string(written) {
		return harness.Saved{}, errs.New(errs.InvalidRequest, "the tool quotes a value that is not for the model", "have the value come in as an argument")
	}
	return w.Tools.Save(ctx, w.owner, t)
}

// Run implements mcp.Work.
func (w *desked) Run(ctx context.Context, code string) (mcp.Ran, error) {
	if w.python == nil {
		s, err := w.Tools.Session(ctx, repl.SessionOptions{ID: w.session, Workspace: w.dir, Stubs: harness.Stubs(w.gate.Defs()), Call: w.answer, Limits: harness.Limits(w.contract.Sandbox)})
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
	bodies := []record.Body{record.CellRan{Cell: cell, Code: code, Status: r.Status, Reason: out.Reason, Output: out.Output, Value: out.Value, Traceback: out.Traceback, Truncated: out.Truncated, Calls: out.Calls, Shown: string(shown), Wall: out.Wall, CPU: out.CPU}}
	if len(out.Refused) > 0 {
		bodies = append(bodies, record.RunNote{Note: record.NoteSandbox, Call: cell, Text: out.Refused.String()})
	}
	return w.append(ctx, bodies...)
}

// answer is what code's calls of tools come to.
func (w *desked) answer(ctx context.Context, cell, name string, args json.RawMessage) (json.RawMessage, error) {
	return inCode(w.invoke(ctx, cell, name, args))
}

// nested is the same for calls that tools make.
func (w *desked) nested(ctx context.Context, parent, name string, args json.RawMessage) (json.RawMessage, error) {
	return inCode(w.gate.Nested(ctx, parent, name, args, w.gate.Invoke))
}

// inCode is a result as code gets it.
func inCode(r tool.Result, err error) (json.RawMessage, error) {
	if err != nil {
		return nil, err
	}
	if e := r.Error; e != nil {
		return nil, &repl.CallError{Code: string(e.Code), Message: e.Message, Retryable: e.Retryable}
	}
	return r.Value, nil
}

// Close implements mcp.Work. The log keeps what was done; the workspace goes.
func (w *desked) Close() error {
	var err error
	if w.python != nil {
		err = w.python.Close()
	}
	return errors.Join(err, w.free(), os.RemoveAll(w.dir))
}
