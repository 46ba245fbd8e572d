package gate

import (
	"context"
	"encoding/json"
	"fmt"

	"macaron/internal/errs"
	"macaron/internal/tool"
)

// inner is a call of a tool that is under way and may make calls itself.
type inner struct {
	def    tool.Def
	made   int
	broken error // why a call that it made has stopped the run
}

// enter notes that a call is under way; leave gives what has stopped the run from inside it.
func (g *Gate) enter(t guarded, c tool.Call) (leave func() error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	in := &inner{def: t.def}
	g.inside[c.ID] = in
	return func() error {
		g.mu.Lock()
		defer g.mu.Unlock()
		if g.inside[c.ID] == in {
			delete(g.inside, c.ID)
		}
		return in.broken
	}
}

func (g *Gate) within(parent string) (tool.Def, bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	in, ok := g.inside[parent]
	if !ok || parent == "" {
		return tool.Def{}, false
	}
	return in.def, true
}

// Nested makes a call that a tool makes while it is called itself: parent is the call of
// the tool, and make how calls go here, with their hooks, which leads to Invoke. Its id
// follows from the parent's, so that a tool which is run anew after a crash gets the same
// answers. Its effect is at most the one that the tool declares, it counts as every call
// does, and what needs a person's approval is refused.
func (g *Gate) Nested(ctx context.Context, parent, name string, args json.RawMessage, make func(context.Context, tool.Call) (tool.Result, error)) (tool.Result, error) {
	g.mu.Lock()
	in, ok := g.inside[parent]
	if !ok || in.broken != nil {
		g.mu.Unlock()
		return tool.Result{}, errs.New(errs.Canceled, "the call that this one belongs to has ended", "")
	}
	in.made++
	id := fmt.Sprintf("%s/%d", parent, in.made)
	g.mu.Unlock()
	r, err := make(ctx, tool.Call{ID: id, Name: name, Arguments: args, Parent: parent})
	if err != nil {
		g.mu.Lock()
		in.broken = err
		g.mu.Unlock()
		return tool.Result{}, errs.New(errs.Canceled, "the run has stopped", "")
	}
	return r, nil
}
