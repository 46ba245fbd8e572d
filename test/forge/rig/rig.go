// Package rig opens the default model for measurements of the loop: its pair, and an actor
// that makes attempts with the harness of production.
package rig

import (
	"context"
	"errors"
	"os"

	"macaron/internal/app"
	"macaron/internal/auth"
	"macaron/internal/config"
	"macaron/internal/errs"
	"macaron/internal/ids"
	"macaron/internal/mindforge"
	"macaron/internal/mindforge/act"
	"macaron/internal/mindforge/edit"
	"macaron/internal/mindforge/evaluation"
	"macaron/internal/mindforge/world"
	"macaron/internal/mindforge/world/compose"
	"macaron/internal/mindforge/world/terminal"
	"macaron/internal/mindforge/world/text"
	"macaron/internal/models"
	"macaron/internal/obs"
	"macaron/internal/record"
)

// Worlds are those that come with the program.
var Worlds = []world.World{compose.New(), terminal.New(), text.New()}

// Hashes name everything that a measurement depends on, the code aside. They are in force
// before the first task is drawn.
type Hashes struct {
	Base       ids.Digest `json:"base"`       // the model's file
	Contract   ids.Digest `json:"contract"`   // that is served
	Catalogue  ids.Digest `json:"catalogue"`  // of edits
	Evaluation ids.Digest `json:"evaluation"` // the evaluation contract of Splits
}

// Splits are those of version 1 of the shipped evaluation contract, by which the tasks that the
// base fails are drawn: its hash is part of every seed of that draw, so a later version of the
// contract draws no others.
var Splits = evaluation.Splits{Salt: "families of 2026", Train: 50, Validation: 20, Sealed: 30}

const splitsOf ids.Digest = "sha256:6fc2f24ce662cf23e63414c3dfd0341bd19fd51177df1b33503b939e096ef1dd"

// Rig is a program that is open, without a listener.
type Rig struct {
	*act.Actor
	Pair   mindforge.Pair
	Hashes Hashes
	app    *app.App

	temporary string // home that Close removes
}

// Open starts the default model of the user's home under a contract's file. State goes into a
// directory that Close removes.
func Open(ctx context.Context, contract string) (*Rig, error) {
	home, err := os.MkdirTemp("", "macaron-forge-")
	if err != nil {
		return nil, err
	}
	r, err := At(ctx, contract, home)
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(home))
	}
	r.temporary = home
	return r, nil
}

// At is Open in a home that stays.
func At(ctx context.Context, contract, home string) (*Rig, error) {
	model, err := Model(ctx)
	if err != nil {
		return nil, err
	}
	cfg, err := config.Load(map[string]string{"home": home, "contract": contract, "listen": "127.0.0.1:0"})
	if err != nil {
		return nil, err
	}
	r := &Rig{}
	if r.app, err = app.New(cfg, app.Options{Log: obs.Discard(), Model: model}); err != nil {
		return nil, err
	}
	if err := r.ready(ctx, model); err != nil {
		return nil, errors.Join(err, r.Close())
	}
	return r, nil
}

// Model is the default model of the user's home.
func Model(ctx context.Context) (models.Local, error) {
	own, err := config.Load(nil)
	if err != nil {
		return models.Local{}, err
	}
	store, err := models.Open(own.Home)
	if err != nil {
		return models.Local{}, err
	}
	model, err := (&models.Fetcher{Store: store}).Resolve(ctx, own.Model)
	return model, errors.Join(err, store.Close())
}

func (r *Rig) ready(ctx context.Context, model models.Local) error {
	if err := r.app.WaitReady(ctx); err != nil {
		return err
	}
	deps, pair, err := r.app.Forge(ctx)
	if err != nil {
		return err
	}
	r.Pair = pair
	r.Hashes = Hashes{model.Digest, pair.Contract.Hash(), edit.Committed().Hash(), splitsOf}
	r.Actor = &act.Actor{Deps: deps, Owner: auth.Local, Worlds: Worlds, Purpose: record.Evaluation}
	return nil
}

// Close stops the program, and removes its state where Open made it.
func (r *Rig) Close() error {
	err := r.app.Close()
	if r.temporary != "" {
		err = errors.Join(err, os.RemoveAll(r.temporary))
	}
	return err
}

// Families lists the worlds' families of a split, in the worlds' order.
func Families(split evaluation.Split) (out []evaluation.Family) {
	for _, w := range Worlds {
		for _, name := range w.Families() {
			if Splits.Of(w.Name(), name) == split {
				out = append(out, evaluation.Family{World: w.Name(), Name: name})
			}
		}
	}
	return out
}

// Make makes the task of a family that a seed names.
func Make(f evaluation.Family, level int, seed uint64) (mindforge.Task, error) {
	w, err := world.Of(Worlds, f.World)
	if err != nil {
		return mindforge.Task{}, err
	}
	return w.Make(f.Name, level, seed)
}

// Same refuses to go on with what was measured of something else.
func (h Hashes) Same(o Hashes, what string) error {
	if h == o {
		return nil
	}
	return errs.New(errs.ChecksumMismatch, what+" is of another model, contract, catalogue or evaluation contract", "move it away to begin anew")
}
