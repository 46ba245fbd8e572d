package harness

import (
	"context"

	"macaron/internal/chat"
	"macaron/internal/contract"
	"macaron/internal/errs"
	"macaron/internal/record"
	"macaron/internal/tool"
	"macaron/internal/tool/gate"
	"macaron/internal/transcript"
)

// equip makes the tools, the gate, and what the model is offered.
func (r *run) equip(ctx context.Context, opened *record.RunOpened) error {
	if err := r.possible(); err != nil {
		return err
	}
	r.secrets = scrubber(r.contract.Environment.Secrets, r.h.Secret)
	mode := contract.Mode(opened.Mode)
	if mode != contract.Functions {
		if _, err := r.sandbox(ctx); err != nil {
			return err
		}
	}
	var tools []tool.Tool
	if r.h.Tools != nil {
		more, done, err := r.h.Tools(ctx, Bench{Owner: r.owner, Run: r.id, Contract: r.contract, Workspace: r.dir, Call: r.nested, Keep: r.h.files.put})
		if err != nil {
			return err
		}
		r.done, tools = done, more
	}
	r.tools = map[string]tool.Tool{}
	for _, t := range tools {
		r.tools[t.Def().Name] = t
	}
	var err error
	if r.own, err = r.ownTools(mode); err != nil {
		return err
	}
	for _, name := range sortedKeys(r.own) {
		if t := r.own[name]; t.do != nil {
			tools = append(tools, t)
		}
	}
	policy := gate.Policy{Effects: r.contract.Policies.Effects, Approve: r.contract.Policies.Approve}
	if mode == contract.Hybrid {
		policy.InCode, policy.Look = []tool.Effect{tool.Pure, tool.Read}, true
	}
	g, err := gate.New(gate.Options{Tools: tools, Ledger: ledger{r}, Policy: policy, Limits: gate.Limits{Calls: opened.Limits.ToolCalls}, Approve: r.approve})
	if err != nil {
		return err
	}
	r.gate = g
	opened.Tools, err = r.offered(mode)
	return err
}

// offered lists what the model may call itself. In REPL mode tools are functions of the
// code, and what is left are the calls that the harness answers.
func (r *run) offered(mode contract.Mode) ([]chat.ToolDef, error) {
	var out []chat.ToolDef
	if mode != contract.REPL {
		for _, d := range r.gate.Defs() {
			out = append(out, chat.ToolDef{Name: d.Name, Description: d.Description, Parameters: d.Schema()})
		}
	}
	for _, name := range sortedKeys(r.own) {
		if t := r.own[name]; t.do == nil {
			if _, twice := r.gate.Def(name); twice {
				return nil, errs.New(errs.InvalidRequest, "two tools are called "+name, "give the other one another name").In("tools")
			}
			out = append(out, chat.ToolDef{Name: name, Description: t.def.Description, Parameters: t.def.Schema()})
		}
	}
	if len(out) > 0 && !r.framing() && !r.can().Tools {
		return nil, errs.New(errs.Unsupported, "the engine cannot call tools", "use --mode repl without [[tools]] that end the run, or another engine")
	}
	return out, nil
}

// codes tells whether the model can write Python.
func (r *run) codes(opened *record.RunOpened) bool {
	_, python := r.own[transcript.Python]
	return python || opened.Mode != string(contract.Functions)
}

// choice says whether every answer must be a call: where the contract has a tool that ends
// the run, and the engine can be held to it.
func (r *run) choice(tools []chat.ToolDef) chat.ToolChoice {
	_, ends := r.own[transcript.Finish]
	if ends && len(tools) > 0 && r.h.Generator.Capabilities().ForcedTools {
		return chat.ToolChoice{Mode: "required", Single: true, Without: r.gate.Spent()}
	}
	return chat.ToolChoice{}
}
