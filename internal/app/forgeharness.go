package app

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"

	"macaron/internal/adapter"
	"macaron/internal/auth"
	"macaron/internal/config"
	"macaron/internal/errs"
	"macaron/internal/mindforge"
	"macaron/internal/mindforge/act"
	"macaron/internal/mindforge/discovery"
	forge "macaron/internal/mindforge/edit"
	"macaron/internal/mindforge/evaluation/evaluator"
	"macaron/internal/mindforge/evaluation/safety"
	"macaron/internal/mindforge/expansion"
	"macaron/internal/mindforge/loop"
	"macaron/internal/mindforge/world"
	"macaron/internal/mindforge/world/compose"
	"macaron/internal/mindforge/world/terminal"
	"macaron/internal/mindforge/world/text"
	"macaron/internal/record"
	"macaron/internal/registry"
)

// shippedWorlds are those that the build comes with.
func shippedWorlds() []world.World { return []world.World{compose.New(), terminal.New(), text.New()} }

// asWorlds gives worlds as the loop and the evaluator know them.
func asWorlds(all []world.World) (out []mindforge.World) {
	for _, w := range all {
		out = append(out, w)
	}
	return out
}

// harness gives the run this machine's model: attempts are runs of the harness, of which
// training may make rows; what is improved is the pair in force.
func (f *ForgeRun) harness(ctx context.Context) error {
	a, worlds := f.app, shippedWorlds()
	acting := &act.Actor{Deps: a.runs.Deps, Owner: f.Owner, Worlds: append(slices.Clone(worlds), discovery.Replays()), Purpose: record.Discovery}
	f.Actor = stocked{acting, a, f.Owner}
	f.Worlds, f.Catalogue, f.Proposer = asWorlds(worlds), forge.Committed(), expansion.Uniform{}
	f.Start, f.Serving = a.inForce, &releasing{a.releases, f.Owner}
	cases, err := safety.New()
	if err != nil {
		return err
	}
	f.Cases = len(cases.Families()) // the evaluator is this program
	judge, err := f.judging()
	if f.Judge = judge; err != nil {
		return err
	}
	return f.learn(ctx, acting)
}

// inForce is the pair that is served now: the champion, or the contract's file. Its revisions come
// into the catalogue, so that a release can name them.
func (a *App) inForce(ctx context.Context) (mindforge.Pair, error) {
	now, _, err := a.catalogue.served(ctx, auth.Local, "")
	if err != nil {
		return mindforge.Pair{}, err
	}
	if _, err := a.releases.FromFile(ctx, auth.Local, now, ""); err != nil {
		return mindforge.Pair{}, err
	}
	return pairOf(now), nil
}

// pairOf is a snapshot as a pair. Where a stored revision was read from is no part of what it is.
func pairOf(s registry.Snapshot) mindforge.Pair {
	p := mindforge.Pair{Contract: s.Contract}
	for i, e := range s.Adapters {
		r := e.Revision
		if !registry.Upstream(s.Contract.Adapters[i]) {
			r.Source = ""
		}
		p.Revisions = append(p.Revisions, r)
	}
	return p
}

// judging starts the evaluator: a process with a home and an engine of its own, in its directory.
// Of this process it gets neither the environment nor the home, only where revisions lie, by their
// content, and where there is a canary, the log that live turns are counted in. What it runs on,
// the config.toml of its home says; without one it is this process's model and contract.
func (f *ForgeRun) judging() (func(context.Context, evaluator.Verifier) (loop.Judge, error), error) {
	a, e := f.app, f.Settings.Evaluation
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	home := filepath.Join(e.Dir, "home")
	args := []string{"forge", "evaluator", "serve", e.Dir, e.Contract, "--home", home, "--outside", a.cfg.Home, "--revisions", registry.Revisions(a.cfg.Home), "--at-once", strconv.Itoa(f.AtOnce)}
	_, err = os.Stat(filepath.Join(home, "config.toml"))
	switch {
	case err == nil:
	case !errors.Is(err, fs.ErrNotExist):
		return nil, errs.Wrap(errs.StorageFailed, err, "the evaluator's home cannot be looked at", "it is "+home)
	case len(a.cfg.Below()) > 0:
		return nil, errs.New(errs.InvalidRequest, "the evaluator does not know what to run on: this process has engines below it, and the keys of those are not handed over", "write "+filepath.Join(home, "config.toml")+" with the evaluator's own [upstream], model and contract")
	default:
		file, err := a.modelFile()
		if err != nil {
			return nil, err
		}
		contract, err := filepath.Abs(a.cfg.Contract)
		if err != nil {
			return nil, err
		}
		args = append(args, "--model", file.Path, "--contract", contract)
	}
	env := []string{}
	switch url := a.cfg.Store.URL; {
	case f.Settings.Canary.Share == 0:
	case url != "":
		env = append(env, config.LiveStore+"="+url.Reveal()) // a command line can be read by others
	default:
		args = append(args, "--live", a.cfg.Home)
	}
	return func(ctx context.Context, v evaluator.Verifier) (loop.Judge, error) {
		c, err := evaluator.Await(ctx, func() *exec.Cmd {
			cmd := exec.Command(self, args...) //nolint:gosec // this program
			cmd.Env, cmd.Stderr = env, os.Stderr
			return cmd
		}, v)
		if err != nil {
			return nil, err
		}
		return handing{c, a}, nil
	}, nil
}

// stocked is an actor for pairs whose revisions this process may have made a moment ago: their
// directories are there before it acts.
type stocked struct {
	mindforge.Actor
	app   *App
	owner string
}

// Try implements mindforge.Actor.
func (s stocked) Try(ctx context.Context, p mindforge.Pair, t mindforge.Task, seed uint64) (mindforge.Outcome, error) {
	if err := s.app.stock(ctx, s.owner, p.Revisions); err != nil {
		return mindforge.Outcome{}, err
	}
	return s.Actor.Try(ctx, p, t, seed)
}

// stock has the directories of revisions made that lie in the catalogue.
func (a *App) stock(ctx context.Context, owner string, all []adapter.Revision) error {
	for _, r := range all {
		if upstreams(r.Source) {
			continue
		}
		if _, err := a.revisions.Dir(ctx, owner, r.Hash); err != nil {
			return err
		}
	}
	return nil
}

// handing is a judge that finds the revisions of both arms as files.
type handing struct {
	loop.Judge
	app *App
}

// Decide implements loop.Judge.
func (h handing) Decide(ctx context.Context, stage mindforge.Stage, champion, candidate evaluator.Arm, approvals ...[]byte) (evaluator.Ruling, error) {
	for _, arm := range []evaluator.Arm{champion, candidate} {
		if err := h.app.stock(ctx, auth.Local, arm.Candidate.Revisions); err != nil {
			return evaluator.Ruling{}, err
		}
	}
	return h.Judge.Decide(ctx, stage, champion, candidate, approvals...)
}
