package gate

import (
	"context"
	"encoding/json"
	"slices"

	"macaron/internal/errs"
	"macaron/internal/tool"
)

// Invoke makes a call. What a model or code can mend is in the result's Error; an error
// says that the run cannot go on: a ledger that does not write, a run that was stopped, an
// approval that is yet to come.
func (g *Gate) Invoke(ctx context.Context, c tool.Call) (tool.Result, error) {
	t, no := g.known(c)
	if no == nil {
		past, err := g.o.Ledger.Past(ctx, c, t.def)
		if err != nil {
			return tool.Result{}, err
		}
		if past != nil {
			return *past, g.Restore(c, *past)
		}
	}
	c.Arguments = arguments(c.Arguments)
	for _, check := range []func(guarded, tool.Call) *tool.Result{g.fits, g.allowed, g.affordable} {
		if no == nil {
			no = check(t, c)
		}
	}
	if no == nil && g.needsApproval(t.def) {
		var err error
		if no, err = g.approved(ctx, c, t.def); err != nil {
			return tool.Result{}, err
		}
	}
	if no == nil {
		no = g.reserve(t.def, c)
	}
	if no != nil {
		return *no, g.o.Ledger.End(ctx, c, *no)
	}
	return g.perform(ctx, t, c)
}

func (g *Gate) known(c tool.Call) (guarded, *tool.Result) {
	t, ok := g.tools[c.Name]
	if !ok {
		return t, refusal(errs.NotFound, "there is no tool %q; there are: %s", errs.Clip(c.Name), g.names())
	}
	return t, nil
}

// arguments reads no arguments as none given.
func arguments(a json.RawMessage) json.RawMessage {
	if len(a) == 0 {
		return json.RawMessage("{}")
	}
	return a
}

// fits checks size, form and schema. The text that was checked is the text that is used:
// a key given twice, which two readers could take in two ways, is refused.
func (g *Gate) fits(t guarded, c tool.Call) *tool.Result {
	if len(c.Arguments) > g.o.Limits.Arguments {
		return refusal(errs.TooLarge, "the arguments of %s have %d bytes; at most %d are taken: pass the name of a file instead", t.def.Name, len(c.Arguments), g.o.Limits.Arguments)
	}
	if err := t.takes.check(c.Arguments); err != nil {
		return refusal(errs.InvalidRequest, "the arguments of %s do not fit its schema: %s", t.def.Name, err)
	}
	return nil
}

// allowed applies the policy.
func (g *Gate) allowed(t guarded, c tool.Call) *tool.Result {
	p, e := g.o.Policy, t.def.Effect
	if p.Effects != nil && !slices.Contains(p.Effects, e) {
		return refusal(errs.Forbidden, "%s has the effect %s, which the policy does not allow", t.def.Name, e)
	}
	if c.Parent == "" {
		return nil
	}
	if outer, ok := g.within(c.Parent); ok { // which was held to the policy itself
		if !e.Within(outer.Effect) {
			return refusal(errs.Forbidden, "%s has the effect %s, and %s, which calls it, declares %s only", t.def.Name, e, outer.Name, outer.Effect)
		}
		return nil
	}
	if p.InCode != nil && !slices.Contains(p.InCode, e) {
		return refusal(errs.Forbidden, "%s has the effect %s and is not called from code: finish the code, look at what it gives, then call %s by itself", t.def.Name, e, t.def.Name)
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.unseen(c)
}

// unseen refuses what a cell calls after a tool whose result is to be looked at first.
func (g *Gate) unseen(c tool.Call) *tool.Result {
	if first := g.looked[c.Parent]; g.o.Policy.Look && first != "" {
		return refusal(errs.Forbidden, "look at the result of %s before you call anything else: end this code here", first)
	}
	return nil
}

// affordable asks before a person is bothered; reserve asks again and takes.
func (g *Gate) affordable(t guarded, _ tool.Call) *tool.Result {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.spent(t.def)
}

func (g *Gate) spent(d tool.Def) *tool.Result {
	if d.MaxCalls > 0 && g.calls[d.Name] >= d.MaxCalls {
		return refusal(errs.RateLimited, "%s was called %d times, which is all that this run may", d.Name, d.MaxCalls)
	}
	if n := g.o.Limits.Calls; n > 0 && g.total >= n {
		return refusal(errs.RateLimited, "this run has made all its %d tool calls: answer with what is known", n)
	}
	return nil
}

func (g *Gate) reserve(d tool.Def, c tool.Call) *tool.Result {
	g.mu.Lock()
	defer g.mu.Unlock()
	if no := g.spent(d); no != nil {
		return no
	}
	if no := g.unseen(c); no != nil { // calls of a cell may come at the same time
		return no
	}
	g.total++
	g.calls[d.Name]++
	if d.Observe && c.Parent != "" {
		g.looked[c.Parent] = d.Name
	}
	return nil
}

func (g *Gate) count(name string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.total++
	g.calls[name]++
}

func (g *Gate) needsApproval(d tool.Def) bool {
	return d.Approval || slices.Contains(g.o.Policy.Approve, d.Effect)
}

func (g *Gate) approved(ctx context.Context, c tool.Call, d tool.Def) (*tool.Result, error) {
	if outer, ok := g.within(c.Parent); ok { // the tool that makes it cannot wait for an answer
		return refusal(errs.Forbidden, "%s needs a person's approval, for which %s cannot wait: call %s by itself", d.Name, outer.Name, d.Name), nil
	}
	if g.o.Approve == nil {
		return refusal(errs.Forbidden, "%s needs a person's approval, and nobody is here to give it", d.Name), nil
	}
	err := g.o.Approve(ctx, c, d)
	if err == nil {
		return nil, nil
	}
	if e := errs.As(err); e.Code == errs.Forbidden {
		return refusal(errs.Forbidden, "a person refused this call of %s: %s", d.Name, e.Message), nil
	}
	return nil, err
}
