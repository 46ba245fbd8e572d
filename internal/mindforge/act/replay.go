package act

import (
	"cmp"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"macaron/internal/clock"
	"macaron/internal/contract"
	"macaron/internal/disk"
	"macaron/internal/errs"
	"macaron/internal/harness"
	"macaron/internal/ids"
	"macaron/internal/mindforge"
	"macaron/internal/mindforge/expansion"
	"macaron/internal/mindforge/world"
	"macaron/internal/tool"
)

// play plays solutions in the task's world, with the files, commands and Python that the contract
// gives beside the world's tools.
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
		r := &replay{a: a, ctx: ctx, at: at}
		more, err := r.more(slices.ContainsFunc(s.Calls, func(c mindforge.Call) bool { return c.Tool == expansion.Python }))
		if err != nil {
			return false, err
		}
		score, err := world.PlayWith(ctx, c, s, more)
		if wrong := cmp.Or(context.Cause(ctx), r.broken, r.close()); wrong != nil {
			return false, wrong
		}
		if errs.CodeOf(err) == errs.InvalidRequest || errs.CodeOf(err) == errs.NotFound {
			return false, nil // a call that the world does not take is no solution
		}
		return score.Points >= 1, err
	}
}

// replay is a recorded run while it is played again.
type replay struct {
	a      *Actor
	ctx    context.Context //nolint:containedctx // of the one play that it lives for
	at     world.Attempt
	below  string               // the directory of its workspace, of a run that code is played of
	tools  map[string]tool.Tool // that work on the workspace, by the contract's names
	ends   []func() error       // in the order in which they began
	broken error                // of the machinery
}

// more is what the run had beside its task's tools: those of the program that work on a workspace
// and, where code is played, Python.
func (r *replay) more(code bool) (world.More, error) {
	c := contracted(r.at.Contract, code)
	if len(c.Tools) == 0 && !code || r.a.Deps.Tools == nil {
		return world.More{}, nil
	}
	if code { // a sandbox has a workspace below its own root; of no run on record, it is collected if a kill leaves it
		r.below = filepath.Join(r.a.Deps.Home, ids.NewSource(clock.System{}, nil).New(ids.Run))
		if err := os.MkdirAll(r.below, 0o700); err != nil {
			return world.More{}, disk.Error(err, r.below+" cannot be made")
		}
	}
	return world.More{Below: r.below, Tools: func(workspace string, offered map[string]tool.Tool) (map[string]tool.Tool, error) {
		made, end, err := r.a.Deps.Tools(r.ctx, harness.Bench{Owner: r.a.Owner, Run: r.at.Run.Head.Run, Contract: c, Workspace: workspace, World: offered})
		if err != nil {
			return nil, err
		}
		r.ends, r.tools = append(r.ends, end), map[string]tool.Tool{}
		out := map[string]tool.Tool{}
		for _, m := range made {
			i := slices.IndexFunc(c.Tools, func(t contract.Tool) bool { return t.Name == m.Def().Name })
			r.tools[m.Def().Name], out[strings.TrimPrefix(c.Tools[i].Use, contract.UseBuiltin)] = m, m
		}
		if code {
			out[expansion.Python] = &python{replay: r, workspace: workspace}
		}
		return out, nil
	}}, nil
}

// contracted is a contract with the tools alone that are called again, the world's among them where
// code may call them. They take what they say themselves: arguments on record have passed what the
// contract says.
func contracted(from *contract.Contract, code bool) *contract.Contract {
	c := *from
	c.Tools = nil
	for _, t := range from.Tools {
		if expansion.Replayed(t.Use) || code && strings.HasPrefix(t.Use, contract.UseWorld) {
			c.Tools = append(c.Tools, contract.Tool{Name: t.Name, Use: t.Use})
		}
	}
	return &c
}

func (r *replay) close() (err error) {
	for _, end := range slices.Backward(r.ends) {
		err = errors.Join(err, end())
	}
	if r.below != "" {
		err = errors.Join(err, os.RemoveAll(r.below))
	}
	return err
}
