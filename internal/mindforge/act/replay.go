package act

import (
	"context"
	"slices"
	"strings"

	"macaron/internal/contract"
	"macaron/internal/errs"
	"macaron/internal/harness"
	"macaron/internal/mindforge"
	"macaron/internal/mindforge/expansion"
	"macaron/internal/mindforge/world"
	"macaron/internal/tool"
)

// play plays solutions in the task's world, with the files and commands that the contract gives
// beside the world's tools.
func (a *Actor) play(ctx context.Context, at world.Attempt) expansion.Play {
	return func(t mindforge.Task, s mindforge.Solution) (bool, error) {
		w, err := world.Of(a.Worlds, t.World)
		if err != nil {
			return false, err
		}
		c, err := w.Open(t)
		if err != nil {
			return false, err
		}
		done := func() error { return nil }
		score, err := world.PlayWith(ctx, c, s, a.builtins(ctx, at, &done))
		if ended := done(); ended != nil {
			return false, ended
		}
		if errs.CodeOf(err) == errs.InvalidRequest || errs.CodeOf(err) == errs.NotFound {
			return false, nil // a call that the world does not take is no solution
		}
		return score.Points >= 1, err
	}
}

// builtins gives the contract's tools of the program that work on a workspace, by the names that
// solutions have for them; nil: it has none. They are made as the run's were, and take what they
// say themselves: arguments on record have passed what the contract says. done ends them.
func (a *Actor) builtins(ctx context.Context, at world.Attempt, done *func() error) world.Tools {
	c, names := *at.Contract, map[string]string{}
	c.Tools = slices.DeleteFunc(slices.Clone(c.Tools), func(t contract.Tool) bool { return !expansion.Replayed(t.Use) })
	for i, t := range c.Tools {
		c.Tools[i] = contract.Tool{Name: t.Name, Use: t.Use}
		names[t.Name] = strings.TrimPrefix(t.Use, contract.UseBuiltin)
	}
	if len(c.Tools) == 0 || a.Deps.Tools == nil {
		return nil
	}
	return func(workspace string) (map[string]tool.Tool, error) {
		made, end, err := a.Deps.Tools(ctx, harness.Bench{Owner: a.Owner, Run: at.Run.Head.Run, Contract: &c, Workspace: workspace})
		if err != nil {
			return nil, err
		}
		*done = end
		out := map[string]tool.Tool{}
		for _, m := range made {
			out[names[m.Def().Name]] = m
		}
		return out, nil
	}
}
