package app

import (
	"context"
	"crypto/rand"
	"errors"
	"net/http"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"

	"macaron/internal/adapter"
	"macaron/internal/auth"
	"macaron/internal/config"
	"macaron/internal/errs"
	"macaron/internal/ids"
	"macaron/internal/mint"
	"macaron/internal/mint/artifact"
	"macaron/internal/mint/blob"
	revisions "macaron/internal/mint/catalogue"
	mintlocal "macaron/internal/mint/local"
	"macaron/internal/mint/pass"
	"macaron/internal/models"
	"macaron/internal/obs"
	"macaron/internal/train"
	"macaron/internal/wire/tinker"
)

// training is the training service, which comes when the engine has been loaded.
type training struct {
	service atomic.Pointer[mint.Service]
	handler atomic.Pointer[http.Handler]
	why     atomic.Pointer[error] // there is none
	pass    atomic.Pointer[pass.Pass]
	lists   atomic.Pointer[tinker.Service] // service, with what backends elsewhere have
}

// openMint opens the training service as soon as the engine is there. It needs the engine
// of this process: what trains is what serves.
func (a *App) openMint(Options) error {
	a.metrics.Training(a.trainingState)
	if why := a.noTraining(); why != nil {
		a.mint.why.Store(&why)
		return nil
	}
	blobs, err := artifact.States(a.cfg.Home)
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := a.beginTraining(ctx, blobs); err != nil && ctx.Err() == nil {
			a.log.Error("the training service cannot be opened", "err", err)
			a.mint.why.Store(&err)
		}
	}()
	a.onClose(func() error {
		stop()
		<-done
		if p := a.mint.pass.Load(); p != nil {
			if err := p.Close(); err != nil {
				return err
			}
		}
		if s := a.mint.service.Load(); s != nil {
			return errors.Join(s.Close(), blobs.Close())
		}
		return blobs.Close()
	})
	return nil
}

// noTraining tells why this process does not train.
func (a *App) noTraining() error {
	switch {
	case !a.cfg.Mint.Enabled:
		return errs.New(errs.Unsupported, "training is switched off here", "set mint.enabled")
	case len(a.cfg.Below()) > 0 && len(a.cfg.Mint.Backends) == 0:
		return errs.New(errs.Unsupported, "this process has no engine of its own, which training needs", "start one without engines below")
	}
	return nil
}

// beginTraining waits for the engine.
func (a *App) beginTraining(ctx context.Context, blobs *blob.Store) error {
	workers, err := a.trainers(ctx)
	if err != nil {
		return err
	}
	m, published := a.cfg.Mint, publisher{a.revisions, a.catalogue}
	gradient, err := train.ParseWay(m.Gradient)
	if err != nil {
		return err
	}
	s, err := mint.Open(ctx, mint.Options{
		Gradient: gradient, Store: a.store.Mint(), Blobs: blobs, Workers: workers, Clock: a.clock, IDs: a.ids, Log: a.log, Instance: a.trainer(),
		Publisher: published, Linked: a.linked, Curves: Curves(a.cfg.Home),
		Limits: mint.Limits{SessionExpiry: m.Silence, Grace: m.Grace, SamplerIdle: m.Idle, Sessions: m.Sessions, Models: m.Models, Futures: m.Futures,
			AheadBytes: m.Bytes, Samples: m.Samples, Resident: m.Resident, ResidentBytes: m.Optimizer, SnapshotWork: m.Replay},
	})
	if err != nil {
		return err
	}
	var key [32]byte
	if _, err := rand.Read(key[:]); err != nil {
		return errors.Join(err, s.Close())
	}
	d := tinker.Deps{Service: s, Owner: auth.Owner, Clock: a.clock, Log: a.log, Failed: a.metrics.Error, Key: key[:], Stop: a.stop.begun}
	h, err := a.passing(d, s, published)
	if err != nil {
		return errors.Join(err, s.Close())
	}
	a.mint.service.Store(s)
	a.mint.handler.Store(&h)
	return nil
}

// trainers are what this process trains with: its engine, or nothing where backends elsewhere
// do all of it.
func (a *App) trainers(ctx context.Context) ([]mint.Worker, error) {
	if len(a.cfg.Below()) > 0 {
		return nil, nil
	}
	if err := a.generator.wait(ctx); err != nil {
		return nil, err
	}
	engine, ok := a.generator.gen().(engineBackend)
	if !ok {
		return nil, errs.New(errs.Unsupported, "this process has no engine of its own, which training needs", "start one with a model")
	}
	return []mint.Worker{mintlocal.New(engine.eng, a.trained(engine.eng.Info().Name))}, nil
}

// publisher takes what is saved for sampling into the catalogue.
type publisher struct {
	*revisions.Catalogue
	contracts *catalogue
}

// Publish implements mint.Publisher. The adapter has the name of its checkpoint.
func (p publisher) Publish(ctx context.Context, owner string, r mint.Revision) (ids.Digest, error) {
	if r.Contract == "" {
		now, _, err := p.contracts.served(ctx, owner, "")
		if err != nil {
			return "", err
		}
		r.Contract = now.Contract.Hash()
	}
	name := path.Base(r.Path)
	if adapter.CheckName(name) != nil { // a checkpoint's may be longer
		name = "sampler"
	}
	out, err := p.Catalogue.Publish(ctx, owner, revisions.Draft{Files: revisions.Files{Config: r.Config, Tensors: r.Tensors}, Name: name, Parent: r.Parent,
		Contract: r.Contract, Checkpoint: r.Checkpoint, Data: r.Data, Recipe: r.Recipe, Metrics: r.Metrics})
	return out.Hash, err
}

// linked gives the training states that policy records link, for as long as a collection of
// the catalogue keeps their revisions.
func (a *App) linked(ctx context.Context) ([]ids.Digest, error) {
	return a.revisions.States(ctx, a.clock.Now().Add(-retained))
}

// trainer names this process among those of a shared log. A log in the home is this
// process's alone, and whoever comes after it is the same one.
func (a *App) trainer() string {
	if a.cfg.Store.URL == "" {
		return "home"
	}
	return a.instance
}

// Spill says what of a training pass goes to disk, and where.
func Spill(c *config.Config) train.Spill {
	if c.Mint.Memory == 0 {
		return train.Spill{}
	}
	return train.Spill{Dir: filepath.Join(c.Home, "scratch"), Memory: c.Mint.Memory}
}

// trained says how clients call the base: by the names of the settings, and by those that it
// has.
func (a *App) trained(name string) mintlocal.Options {
	names := append([]string(nil), a.cfg.Mint.Names...)
	known := models.Names(name)
	slices.Reverse(known) // the public name first: clients' tokenizer loaders know it
	for _, n := range known {
		if !slices.Contains(names, n) {
			names = append(names, n)
		}
	}
	o := mintlocal.Options{Name: names[0], Also: names[1:], Tokenizer: a.cfg.Mint.Tokenizer, Spill: Spill(&a.cfg)}
	if o.Tokenizer == "" {
		o.Tokenizer = o.Name
	}
	return o
}

// trainingTable lists the routes of the training service.
func (a *App) trainingTable() []entry {
	scopes := map[tinker.Scope]auth.Scope{tinker.Public: auth.Public, tinker.Train: auth.Train}
	var all []entry
	for _, r := range tinker.Routes() {
		all = append(all, entry{r.Pattern, scopes[r.Scope], http.HandlerFunc(a.serveTraining)})
	}
	return all
}

func (a *App) serveTraining(w http.ResponseWriter, r *http.Request) {
	if h := a.mint.handler.Load(); h != nil {
		(*h).ServeHTTP(w, r)
		return
	}
	if why := a.mint.why.Load(); why != nil {
		tinker.WriteError(w, *why)
		return
	}
	tinker.WriteError(w, beingLoaded())
}

// outsideTraining tells whether a route is of another room than the training service and its curves.
func outsideTraining(e entry) bool {
	_, path, _ := strings.Cut(e.pattern, " ")
	switch path {
	case "/healthz", "/readyz", "/metrics", "/admin/reload", "/training", "/assets/{name}":
		return false
	}
	return !strings.HasPrefix(path, tinker.Root+"/") && !strings.HasPrefix(path, "/v1/training/")
}

// trainingState reads the service for the metrics.
func (a *App) trainingState() obs.TrainingState {
	s := a.mint.service.Load()
	if s == nil {
		return obs.TrainingState{}
	}
	t := s.Stats()
	out := obs.TrainingState{Sessions: t.Sessions, Models: t.Models, Resident: t.Resident, Samplers: t.Samplers, Pending: t.Pending, PendingBytes: t.PendingBytes,
		Replayed: t.Replayed, Snapshots: t.Snapshots, Collected: t.Freed, Done: map[string]int64{}, Failed: map[string]int64{}}
	for op, n := range t.Resolved {
		out.Done[string(op)] = n
	}
	for op, n := range t.Failures {
		out.Failed[string(op)] = n
	}
	return out
}
