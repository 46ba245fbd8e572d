package app

import (
	"context"
	"net/http"
	"path/filepath"

	"macaron/internal/adapter"
	"macaron/internal/auth"
	"macaron/internal/errs"
	"macaron/internal/ids"
	"macaron/internal/mindforge/act"
	"macaron/internal/mindforge/loop"
	"macaron/internal/mindforge/reflect"
	"macaron/internal/mindforge/update"
	"macaron/internal/mindforge/update/tinkerclient"
	"macaron/internal/mindforge/world"
	"macaron/internal/transcript"
)

// learn gives a run of the harness what trains (this process's training service, in the protocol
// that everybody speaks with it), the model that proposes, and the files beside the ledger: which
// run an attempt was, and how far an update has come.
func (f *ForgeRun) learn(ctx context.Context, acting *act.Actor) error {
	a, dir := f.app, filepath.Join(f.app.cfg.Home, "forge", f.Run)
	if why := a.noTraining(); why != nil && (f.Arm == loop.Full || f.Arm == loop.Weights) {
		return errs.Wrap(errs.Unsupported, why, "the arm "+string(f.Arm)+" trains, and this process does not", `set arm = "contract", or give config.toml an engine or [[mint.backends]]`)
	}
	c, err := tinkerclient.New(tinkerclient.Options{URL: "http://training.invalid", HTTP: &http.Client{Transport: tinkerclient.Within{Handler: a.trainingOf(f.Owner)}}})
	if err != nil {
		return err
	}
	f.runs = &loop.RunsFile{Path: filepath.Join(dir, "runs.jsonl")}
	f.Runs = f.runs
	f.Updater = &loop.Learner{Settings: f.Settings.Update.Settings, Replay: &update.Replayer{Actor: *acting},
		Known: func(ctx context.Context, h ids.Digest) (adapter.Published, error) {
			return a.revisions.Revision(ctx, f.Owner, h)
		},
		Record: func(ctx context.Context, run string) (*transcript.Run, error) {
			return a.runs.Transcript(ctx, f.Owner, run)
		},
		Updater: &update.Updater{Client: c, Catalogue: a.revisions, Owner: f.Owner, Splits: f.Evaluation.Splits, Journal: update.File{Path: filepath.Join(dir, "update.json")}, Now: a.clock.Now, CPU: world.SpentCPU}}
	m, err := a.proposer(ctx)
	if err != nil {
		return err
	}
	if a.generator.Capabilities().JSONSchema {
		f.Chooser = m
	}
	if f.Expansion.Proposer == "reflective" {
		f.Proposer = m
	}
	return nil
}

// proposer is the model that is asked what to change: the base, or where engines below this process
// know adapters by names alone, the one that acts.
func (a *App) proposer(ctx context.Context) (reflect.Model, error) {
	engine := a.generator.Capabilities().Engine
	m := reflect.Model{Called: "base " + ids.Digest(engine.Base).Short(), Generator: a.runs.Deps.Generator}
	if len(a.cfg.Below()) == 0 {
		return m, nil
	}
	now, _, err := a.catalogue.served(ctx, auth.Local, "")
	if err != nil {
		return m, err
	}
	for _, e := range now.Adapters {
		if e.Revision.Name == now.Contract.Agent.Adapter {
			m.Called, m.Revision = e.Revision.Name+" at "+engine.Name, e.Revision
		}
	}
	return m, nil
}

// trainingOf is the training service as an owner has it.
func (a *App) trainingOf(owner string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		a.serveTraining(w, r.WithContext(auth.With(r.Context(), auth.Principal{Owner: owner})))
	})
}
