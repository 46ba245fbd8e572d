package harness

import (
	"bytes"
	"context"
	"encoding/json"

	"macaron/internal/contract"
	"macaron/internal/errs"
	"macaron/internal/tool"
	"macaron/internal/tool/kit"
	"macaron/internal/transcript"
)

// ownTool is a tool of the harness itself. Without do it is no tool of the gate: the loop
// answers it.
type ownTool struct {
	def tool.Def
	do  func(ctx context.Context, call string, args json.RawMessage) (any, error)
	// again: a call that is made twice has one effect, so that after no failure is it in doubt.
	again bool
}

// Def implements tool.Tool.
func (t ownTool) Def() tool.Def { return t.def }

// Invoke implements tool.Tool.
func (t ownTool) Invoke(ctx context.Context, c tool.Call) (tool.Result, error) {
	out, err := t.do(ctx, c.ID, c.Arguments)
	if err != nil && t.again {
		failed := tool.Fail(err)
		failed.Error.Retryable = errs.CodeOf(err) != errs.InvalidRequest
		return failed, nil
	}
	if err != nil {
		return tool.Result{}, err
	}
	value, err := plain(out)
	return tool.Result{Value: value}, err
}

// plain is JSON without the escapes that are for HTML only.
func plain(v any) (json.RawMessage, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// The builtins that the harness answers itself, as tools.use names them.
const (
	usePython = "python.run"
	useFinish = "run.finish"
	useSkill  = "skills.read"
	useAdd    = "memory.add"
	useSearch = "memory.search"
	useForget = "memory.forget"
	useSave   = "tools.save"
)

// Own reports whether a builtin, as tools.use names it, is the harness's: a Toolbox leaves
// it out.
func Own(use string) bool {
	switch use {
	case contract.UseBuiltin + usePython, contract.UseBuiltin + useFinish, contract.UseBuiltin + useSkill,
		contract.UseBuiltin + useAdd, contract.UseBuiltin + useSearch, contract.UseBuiltin + useForget, contract.UseBuiltin + useSave:
		return true
	}
	return false
}

func object(properties, required string) json.RawMessage {
	return json.RawMessage(`{"type":"object","properties":{` + properties + `},"required":[` + required + `],"additionalProperties":false}`)
}

// ownTools are those that the contract declares, and those that its mode and skills need.
func (r *run) ownTools(mode contract.Mode) (map[string]ownTool, error) {
	out := map[string]ownTool{}
	reads := false
	for _, t := range r.contract.Tools {
		own, ok := r.builtin(t.Use)
		if !ok {
			continue
		}
		reads = reads || t.Use == contract.UseBuiltin+useSkill
		name := t.Name
		switch t.Use { // the names by which a run's records are read
		case contract.UseBuiltin + usePython:
			name = transcript.Python
		case contract.UseBuiltin + useFinish:
			name = transcript.Finish
		}
		var err error
		if own.def, err = kit.Declared(own.def, t, true); err != nil {
			return nil, errs.As(err).In("tools." + t.Name)
		}
		own.def.Name = name
		out[name] = own
	}
	if len(r.contract.Skills) > 0 && !reads {
		t, _ := r.builtin(contract.UseBuiltin + useSkill)
		t.def.Name = transcript.ReadSkill
		out[transcript.ReadSkill] = t
	}
	_, ends := out[transcript.Finish]
	if mode == contract.Hybrid || mode == contract.REPL && ends {
		if _, declared := out[transcript.Python]; !declared {
			t, _ := r.builtin(contract.UseBuiltin + usePython)
			t.def.Name = transcript.Python
			out[transcript.Python] = t
		}
	}
	return out, nil
}

// builtin makes an own tool by what tools.use says.
func (r *run) builtin(use string) (ownTool, bool) {
	switch use {
	case contract.UseBuiltin + usePython:
		return ownTool{def: tool.Def{Description: "Run Python in this run's session, which keeps its names. The last expression is shown.", Effect: tool.Write,
			Parameters: object(`"code":{"type":"string"}`, `"code"`)}}, true
	case contract.UseBuiltin + useFinish:
		return ownTool{def: tool.Def{Description: "End the run with its answer.", Effect: tool.Pure, Parameters: object(`"answer":{"type":"string"}`, `"answer"`)}}, true
	case contract.UseBuiltin + useSkill:
		return ownTool{def: tool.Def{Description: "Read a skill.", Effect: tool.Read, Parameters: object(`"name":{"type":"string"}`, `"name"`)}, do: r.readSkill}, true
	case contract.UseBuiltin + useAdd:
		return ownTool{def: tool.Def{Description: "Remember something for later runs.", Effect: tool.Write, Parameters: object(`"text":{"type":"string"}`, `"text"`)}, do: r.remember}, true
	case contract.UseBuiltin + useSearch:
		search := r.recall().Tools()[useSearch]
		return ownTool{def: search.Def(), do: func(ctx context.Context, call string, args json.RawMessage) (any, error) {
			out, err := search.Invoke(ctx, tool.Call{ID: call, Arguments: args})
			return out.Value, err
		}}, true
	case contract.UseBuiltin + useForget:
		return ownTool{def: tool.Def{Description: "Forget something that is remembered.", Effect: tool.Write, Parameters: object(`"item":{"type":"string"}`, `"item"`)}, do: r.forget}, true
	case contract.UseBuiltin + useSave:
		return r.saver(), true
	}
	return ownTool{}, false
}

// arguments reads the one text argument of an own tool.
func argument(args json.RawMessage, name string) (string, error) {
	var all map[string]string
	if err := json.Unmarshal(args, &all); err != nil || all[name] == "" {
		return "", errs.New(errs.InvalidRequest, "the argument "+name+" is missing or no text", "give it as a string").In(name)
	}
	return all[name], nil
}
