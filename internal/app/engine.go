package app

import (
	"context"
	"errors"

	"macaron/internal/adapter"
	"macaron/internal/backend"
	"macaron/internal/backend/local"
	"macaron/internal/engine"
	"macaron/internal/errs"
	"macaron/internal/models"
)

// embedded opens the engine of this process on a model that is on disk already;
// `macaron up` fetches it first.
func (a *App) embedded(ctx context.Context) (backend.Generator, error) {
	file, err := a.modelFile()
	if err != nil {
		return nil, err
	}
	e := a.cfg.Engine
	eng, err := engine.Open(ctx, engine.Options{
		Model: file.Path, Name: file.Name, Digest: file.Digest,
		Threads: e.Threads, Context: e.Context, KVBytes: e.KVBytes, MaxBatch: e.Batch,
		Packed: engine.PackedIn(a.cfg.Home), Notice: func(err error) { a.log.Warn("packed weights", "err", err) },
	})
	if err != nil {
		return nil, err
	}
	b, err := local.New(eng, func(r adapter.Revision) (string, error) { return a.catalogue.registry.Dir(r) })
	if err != nil {
		return nil, errors.Join(err, eng.Close())
	}
	return engineBackend{b, eng}, nil
}

// modelFile finds the configured model without any network.
func (a *App) modelFile() (models.Local, error) {
	if a.model.Path != "" {
		return a.model, nil
	}
	if models.IsSource(a.cfg.Model) {
		return models.Local{}, errs.New(errs.InvalidRequest, "the model is set to a source, not to a file or a name", "fetch it with `macaron model pull "+a.cfg.Model+"` and set the name that it prints")
	}
	store, err := models.Open(a.cfg.Home)
	if err != nil {
		return models.Local{}, err
	}
	defer store.Close() // a directory handle
	m, err := store.Find(a.cfg.Model)
	if errs.CodeOf(err) == errs.ModelNotFound {
		return models.ByPath(a.cfg.Model)
	}
	if err != nil {
		return models.Local{}, err
	}
	path, err := store.Has(m.Digest)
	if errs.CodeOf(err) == errs.NotFound {
		err = errs.Wrap(errs.NotFound, err, "the model "+m.Name+" is not on this machine", "start with `macaron up`, which fetches it, or fetch it with `macaron model pull "+m.Name+"`")
	}
	return models.Local{Name: m.Name, Path: path, Digest: m.Digest}, err
}

// engineBackend is the embedded backend with the engine that it runs on.
type engineBackend struct {
	*local.Backend
	eng *engine.Engine
}

// Close frees the engine.
func (b engineBackend) Close() error { return b.eng.Close() }
