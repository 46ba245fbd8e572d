package act

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"sync"

	"macaron/internal/contract"
	"macaron/internal/errs"
	"macaron/internal/harness"
	"macaron/internal/repl"
	"macaron/internal/tool"
	"macaron/internal/transcript"
)

// python plays cells again, in a sandbox that has the workspace of the play. What a cell calls and
// what works on the workspace is called again; anything else gives what is on record.
type python struct {
	*replay
	workspace string
	session   *repl.Session

	mu       sync.Mutex                    // code may call several tools at once
	recorded map[string][]*transcript.Call // of all cells, by name, in the order in which they were made
}

// Def implements tool.Tool.
func (*python) Def() tool.Def {
	return tool.Def{Name: transcript.Python, Effect: tool.Write, Parameters: json.RawMessage(`{"type":"object","properties":{"code":{"type":"string"}}}`)}
}

// Invoke implements tool.Tool. A cell that raises has been played: it did so before, or the task
// will tell.
func (p *python) Invoke(ctx context.Context, c tool.Call) (tool.Result, error) {
	var args struct{ Code string }
	if err := json.Unmarshal(c.Arguments, &args); err != nil {
		return tool.Result{}, errs.New(errs.InvalidRequest, "the code cannot be read", "")
	}
	return tool.Result{Value: json.RawMessage(`""`)}, p.run(ctx, args.Code)
}

// run runs a cell. What goes wrong is the machinery's: no verdict follows.
func (p *python) run(ctx context.Context, code string) (err error) {
	defer func() {
		if err != nil {
			p.broken = err
		}
	}()
	if p.session == nil {
		if err := p.open(ctx); err != nil {
			return err
		}
	}
	out, err := p.session.Run(ctx, repl.Cell{Code: code})
	if err != nil || out.Status != repl.Died {
		return err
	}
	if err := p.session.Restart(ctx); err != nil {
		return err
	}
	return p.begin(ctx)
}

// open makes the sandbox as the run's was.
func (p *python) open(ctx context.Context) error {
	if p.a.Deps.Pool == nil {
		return errs.New(errs.Unsupported, "there is no sandbox to play code in", "")
	}
	pool, err := p.a.Deps.Pool(ctx)
	if err != nil {
		return err
	}
	p.recorded = map[string][]*transcript.Call{}
	for _, cell := range p.at.Run.Cells() {
		for _, k := range cell.Calls {
			if k.Returned != nil {
				p.recorded[k.Returned.Name] = append(p.recorded[k.Returned.Name], k)
			}
		}
	}
	p.session, err = pool.Session(ctx, repl.SessionOptions{Workspace: p.workspace, Stubs: p.stubs(), Call: p.answer, Seed: p.at.Run.Opened.Seed, Frozen: true, Limits: harness.Limits(p.at.Contract.Sandbox)})
	if err != nil {
		return err
	}
	p.ends = append(p.ends, p.session.Close)
	return p.begin(ctx)
}

// begin sets what the contract's environment names.
func (p *python) begin(ctx context.Context) error {
	code, err := p.a.Deps.Variables(p.at.Contract)
	if err == nil && code != "" {
		_, err = p.session.Run(ctx, repl.Cell{Code: code})
	}
	return err
}

// stubs are the tools that code could call: in hybrid mode those that change nothing. Of others
// that it has called, the names of the arguments on record.
func (p *python) stubs() []repl.Stub {
	var defs []tool.Def
	for _, name := range slices.Sorted(maps.Keys(p.tools)) {
		if d := p.tools[name].Def(); p.at.Run.Opened.Mode != string(contract.Hybrid) || !d.Effect.Changes() {
			defs = append(defs, d)
		}
	}
	out := harness.Stubs(defs)
	for _, name := range slices.Sorted(maps.Keys(p.recorded)) {
		called := p.recorded[name][0].Called
		if p.tools[name] != nil || called == nil {
			continue
		}
		var args map[string]json.RawMessage
		_ = json.Unmarshal(called.Arguments, &args) // arguments that were called with are an object
		out = append(out, repl.Stub{Name: name, Params: slices.Sorted(maps.Keys(args))})
	}
	return out
}

// answer answers a call of a cell.
func (p *python) answer(ctx context.Context, _, name string, args json.RawMessage) (json.RawMessage, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	queue := p.recorded[name]
	if len(queue) == 0 {
		return nil, errs.New(errs.NotFound, "the run has no such call on record", "")
	}
	was := queue[0].Returned
	p.recorded[name] = queue[1:]
	if e := was.Error; e != nil {
		return nil, &repl.CallError{Code: e.Code, Message: e.Message, Retryable: e.Retryable}
	}
	t := p.tools[name]
	if t == nil {
		return was.Value, nil
	}
	r, err := t.Invoke(ctx, tool.Call{Arguments: args})
	if err == nil && r.Error != nil {
		err = &repl.CallError{Code: string(r.Error.Code), Message: r.Error.Message, Retryable: r.Error.Retryable}
	}
	return r.Value, err
}
