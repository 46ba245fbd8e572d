package harness

import (
	"fmt"
	"slices"
	"strings"

	"macaron/internal/backend"
	"macaron/internal/contract"
	"macaron/internal/errs"
)

// possible refuses a contract that asks for what is not here, before anything is done.
func (r *run) possible() error {
	for _, check := range []func() error{r.standsOn, r.checksKnown, r.valuesKnown, r.saves} {
		if err := check(); err != nil {
			return err
		}
	}
	return nil
}

// can is what the engine does under the acting adapter.
func (r *run) can() backend.Capabilities {
	return backend.CapabilitiesOf(r.h.Generator, r.contract.Agent.Adapter)
}

// standsOn holds the engine to the contract's [runtime]. What an engine does not tell is
// not what the contract asks for.
func (r *run) standsOn() error {
	want, can := r.contract.Runtime, r.can()
	e := can.Engine
	if len(want.Engines) > 0 && !slices.Contains(want.Engines, e.Name) {
		return unfit("engines", fmt.Sprintf("the engine is %s, and the contract is for %s", e.Name, strings.Join(want.Engines, ", ")))
	}
	for _, need := range want.Needs {
		if !provides(can, need) {
			return unfit("needs", "the engine "+e.Name+" does not provide "+need)
		}
	}
	if want.Context > 0 && can.Context < want.Context {
		return unfit("context", fmt.Sprintf("the engine's context is %d tokens (0: it does not tell), and the contract wants %d", can.Context, want.Context))
	}
	for _, pin := range []struct{ key, want, is string }{{"base", want.Base, e.Base}, {"template", want.Template, e.Template}, {"tokenizer", want.Tokenizer, e.Tokenizer}} {
		if pin.want != "" && pin.want != pin.is {
			return unfit(pin.key, fmt.Sprintf("the engine's %s is %q, and the contract is for %s", pin.key, pin.is, pin.want))
		}
	}
	return nil
}

func unfit(key, why string) error {
	return errs.New(errs.Unsupported, why, "use another engine, or change the contract").In("runtime." + key)
}

// provides reads a word of runtime.needs.
func provides(can backend.Capabilities, need string) bool {
	return map[string]bool{"adapters": can.Adapters, "choices": can.Choices, "logprobs": can.Logprobs, "token_ids": can.TokenIDs, "tools": can.Tools,
		"forced_tools": can.ForcedTools, "json_schema": can.JSONSchema, "reasoning": can.Reasoning, "cached_tokens": can.CachedTokens}[need]
}

// checksKnown wants the checks that hooks name.
func (r *run) checksKnown() error {
	for _, h := range r.contract.Hooks {
		if _, ok := checks[h.Check]; h.Check != "" && !ok {
			return noCheck(h)
		}
	}
	return nil
}

func noCheck(h contract.Hook) error {
	return errs.New(errs.InvalidRequest, "the hook "+h.Name+" names the check "+errs.Clip(h.Check)+", which there is none of", "there are "+strings.Join(sortedKeys(checks), ", ")).In("hooks")
}

// saves wants somebody who keeps tools where the contract lets runs save them.
func (r *run) saves() error {
	for _, t := range r.contract.Tools {
		if t.Use == contract.UseBuiltin+useSave && r.h.Saver == nil {
			return errs.New(errs.Unsupported, "there is no shed of tools here", "leave "+t.Name+" out of the contract").In("tools")
		}
	}
	return nil
}

// valuesKnown wants the values that the contract only names: they are the operator's.
func (r *run) valuesKnown() error {
	for _, of := range []struct {
		key, table string
		names      []string
		value      func(string) (string, bool)
	}{
		{"environment.names", "environment", r.contract.Environment.Names, r.h.Variable},
		{"environment.secrets", "secrets", r.contract.Environment.Secrets, r.h.Secret},
	} {
		for _, name := range of.names {
			if _, ok := of.value(name); !ok {
				return errs.New(errs.InvalidRequest, "the contract uses "+name+", which this machine has no value for", "the operator adds it to ["+of.table+"] of config.toml").In(of.key)
			}
		}
	}
	return nil
}
