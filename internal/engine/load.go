package engine

import (
	"context"
	"path/filepath"

	"golang.org/x/sync/errgroup"

	"macaron/internal/engine/model"
	"macaron/internal/engine/weights/packed"
	"macaron/internal/errs"
	"macaron/internal/ids"
)

// load reads weights, vocabulary and digest side by side; packed weights are asked for
// by the digest, so that they come after it.
func (e *Engine) load(ctx context.Context) error {
	source, err := model.Open(e.opts.Model)
	if err != nil {
		return err
	}
	digest := e.opts.Digest
	var g errgroup.Group
	sum := func() (err error) {
		if digest == "" {
			digest, err = model.Digest(e.opts.Model)
		}
		return err
	}
	weights := func(cache *packed.File) (err error) {
		e.model, err = model.Load(source, e.opts.Threads, cache)
		return err
	}
	if e.opts.Packed == "" {
		g.Go(sum)
		g.Go(func() error { return weights(nil) })
	} else {
		g.Go(func() error {
			if err := sum(); err != nil {
				return err
			}
			kept, err := packed.Open(e.packedPath(digest), digest, model.Arrangement)
			e.notice(err)
			e.kept = kept != nil
			return weights(kept)
		})
	}
	g.Go(func() (err error) {
		e.tok, e.tmpl, err = speech(source)
		return err
	})
	err = g.Wait()
	if cerr := source.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		return err
	}
	e.model.Digest = digest
	if e.tok.Vocab() > e.model.V {
		return errs.Newf(errs.FormatInvalid, "the vocabulary has %d tokens and the embedding only %d rows", e.tok.Vocab(), e.model.V)
	}
	return errs.Wrap(errs.Canceled, ctx.Err(), "loading the model was cancelled", "")
}

// PackedIn is where a home keeps packed weights.
func PackedIn(home string) string { return filepath.Join(home, "cache", "packed") }

// packedPath is the file of a base's packed weights.
func (e *Engine) packedPath(base ids.Digest) string {
	return filepath.Join(e.opts.Packed, base.Hex()+".packed")
}

// keepWeights writes what was packed for the next start, while this one goes on.
func (e *Engine) keepWeights() {
	if e.opts.Packed == "" || e.kept {
		return
	}
	e.keep.Go(func() {
		e.notice(packed.Write(e.packedPath(e.model.Digest), e.model.Digest, model.Arrangement, e.model.Matrices()))
	})
}

func (e *Engine) notice(err error) {
	if err != nil && e.opts.Notice != nil {
		e.opts.Notice(err)
	}
}
