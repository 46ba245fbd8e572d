package mint

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"time"

	"macaron/internal/engine/lora"
	"macaron/internal/errs"
	"macaron/internal/ids"
	"macaron/internal/mint/ledger"
	"macaron/internal/train"
)

func equalSpecs(a, b train.Spec) bool {
	orElse(&a.Alpha, train.DefaultAlpha)
	orElse(&b.Alpha, train.DefaultAlpha)
	return reflect.DeepEqual(a, b)
}

func aboutOf(row ledger.Checkpoint) (a about, err error) {
	return a, json.Unmarshal(row.About, &a)
}

func checkpointOf(row ledger.Checkpoint) (Checkpoint, error) {
	a, err := aboutOf(row)
	return Checkpoint{Path: row.Path, Run: row.Run, Kind: Kind(row.Kind), Name: row.Name, Owner: row.Owner, Base: row.Base, Spec: a.Spec,
		Created: row.Created, Bytes: row.Bytes, Public: row.Public, Metadata: a.Metadata, Revision: a.Revision, Expires: row.Expires}, err
}

// readable finds a checkpoint that an owner may read: its own, or a public one. One that
// has expired is gone, whether or not it was removed yet.
func (s *Service) readable(ctx context.Context, owner, path string) (ledger.Checkpoint, error) {
	run, kind, name, err := parsePath(path)
	if err != nil {
		return ledger.Checkpoint{}, err
	}
	c, err := s.o.Store.Checkpoint(ctx, checkpointPath(run, kind, name))
	switch {
	case err != nil && errs.CodeOf(err) != errs.NotFound:
		return c, err
	case err != nil || c.Owner != owner && !c.Public || s.expired(c):
		return ledger.Checkpoint{}, errs.New(errs.NotFound, "there is no checkpoint "+checkpointPath(errs.Clip(run), kind, name), "GET /api/v1/checkpoints lists yours").In("path")
	}
	c.Base = s.public(c.Base)
	return c, nil
}

func (s *Service) expired(c ledger.Checkpoint) bool {
	return !c.Expires.IsZero() && !s.o.Clock.Now().Before(c.Expires)
}

// own is readable for a checkpoint that an owner may change.
func (s *Service) own(ctx context.Context, owner, path string) (ledger.Checkpoint, error) {
	c, err := s.readable(ctx, owner, path)
	if err == nil && c.Owner != owner {
		err = errs.New(errs.Forbidden, "the checkpoint belongs to somebody else", "copy it to change it")
	}
	return c, err
}

// Checkpoint gives a checkpoint that an owner may read.
func (s *Service) Checkpoint(ctx context.Context, owner, path string) (Checkpoint, error) {
	c, err := s.readable(ctx, owner, path)
	if err != nil {
		return Checkpoint{}, err
	}
	return checkpointOf(c)
}

// Checkpoints lists an owner's checkpoints, the newest first: of a run, or of all.
func (s *Service) Checkpoints(ctx context.Context, owner, run string, p Page) (all []Checkpoint, total int, err error) {
	rows, total, err := s.o.Store.Checkpoints(ctx, owner, run, s.o.Clock.Now(), p.checked())
	for _, row := range rows {
		row.Base = s.public(row.Base)
		c, err := checkpointOf(row)
		if err != nil {
			return nil, 0, err
		}
		all = append(all, c)
	}
	return all, total, err
}

// DeleteCheckpoint removes a checkpoint. Samplers of it go on until they are let go.
func (s *Service) DeleteCheckpoint(ctx context.Context, owner, path string) error {
	c, err := s.own(ctx, owner, path)
	if err != nil {
		return err
	}
	return s.o.Store.Write(ctx, ledger.Change{Unsaved: []ledger.Name{{Owner: owner, ID: c.Path}}})
}

// Publish lets other owners read a checkpoint, or not any more.
func (s *Service) Publish(ctx context.Context, owner, path string, public bool) error {
	return s.change(ctx, owner, path, func(c *ledger.Checkpoint) { c.Public = public })
}

// SetTTL says when a checkpoint expires, from now; 0: never.
func (s *Service) SetTTL(ctx context.Context, owner, path string, ttl time.Duration) error {
	if err := checkTTL(ttl); err != nil {
		return err
	}
	return s.change(ctx, owner, path, func(c *ledger.Checkpoint) {
		if c.Expires = (time.Time{}); ttl > 0 {
			c.Expires = s.o.Clock.Now().UTC().Add(ttl)
		}
	})
}

func (s *Service) change(ctx context.Context, owner, path string, f func(*ledger.Checkpoint)) error {
	c, err := s.own(ctx, owner, path)
	if err != nil {
		return err
	}
	f(&c)
	return s.o.Store.Write(ctx, ledger.Change{Checkpoints: []ledger.Checkpoint{c}})
}

// Copy makes another checkpoint with the same content, in a run of a session. It is made
// once for a number.
func (s *Service) Copy(ctx context.Context, owner string, r Copy) (Checkpoint, error) {
	if err := checkTTL(r.TTL); err != nil {
		return Checkpoint{}, err
	}
	c, err := s.readable(ctx, owner, r.Source)
	if err != nil {
		return Checkpoint{}, err
	}
	s.mu.Lock()
	_, err = s.alive(ctx, owner, r.Session)
	s.mu.Unlock()
	if err != nil {
		return Checkpoint{}, err
	}
	c.Owner, c.Run, c.Public = owner, fmt.Sprintf("%s:copy:%d", r.Session, r.ModelSeq), false
	c.Path = checkpointPath(c.Run, Kind(c.Kind), c.Name)
	c.Created, c.Expires = s.o.Clock.Now().UTC(), time.Time{}
	if r.TTL > 0 {
		c.Expires = c.Created.Add(r.TTL)
	}
	if old, err := s.o.Store.Checkpoint(ctx, c.Path); err == nil {
		return checkpointOf(old)
	}
	s.renew(c)
	if err := s.o.Store.Write(ctx, ledger.Change{Checkpoints: []ledger.Checkpoint{c}}); err != nil {
		return Checkpoint{}, err
	}
	return checkpointOf(c)
}

// renew keeps what a checkpoint is of until it has been named anew: its deletion and a collection
// may come between the reading of its row and the writing of the next one.
func (s *Service) renew(c ledger.Checkpoint) {
	for _, d := range []ids.Digest{c.State, c.Adapter} {
		if d != "" {
			s.o.Blobs.Renew(d) // what is gone is told by whoever reads it
		}
	}
}

// Archive gives the PEFT files of a checkpoint as a tar.gz.
func (s *Service) Archive(ctx context.Context, owner, path string) (io.ReadCloser, error) {
	c, err := s.readable(ctx, owner, path)
	if err != nil {
		return nil, err
	}
	d := c.Adapter
	if d == "" {
		if d, err = s.exported(c); err != nil {
			return nil, err
		}
	}
	r, err := s.o.Blobs.Open(d)
	if err != nil {
		return nil, err
	}
	return zipped(r), nil
}

// exported exports the adapter of a checkpoint that is a state.
func (s *Service) exported(c ledger.Checkpoint) (ids.Digest, error) {
	w, err := s.worker(c.Base)
	if err != nil {
		return "", err
	}
	t, err := s.trainerOf(w, c.State, ledger.Masters)
	if err != nil {
		return "", err
	}
	a, err := exportAdapter(t)
	if err != nil {
		return "", err
	}
	d, _, err := s.putAdapter(a)
	return d, err
}

// Upload takes a tar.gz of a PEFT directory as a checkpoint of a run of its own. What names
// no base that is here is refused, as is what the base cannot hold.
func (s *Service) Upload(ctx context.Context, owner string, r io.Reader) (Checkpoint, error) {
	in := &taking{all: &s.uploads, most: s.o.Limits.UploadBytes}
	defer in.done()
	a, err := unzipPEFT(r, s.o.Limits.UploadBytes, in.of)
	if err != nil {
		return Checkpoint{}, err
	}
	w, t, err := s.importer(a)
	if err != nil {
		return Checkpoint{}, err
	}
	now := s.o.Clock.Now().UTC()
	c := ledger.Checkpoint{Owner: owner, Run: s.o.IDs.New(ids.Session) + ":upload:0", Kind: string(Training), Name: "upload", Base: w.Base().Name, Created: now}
	c.Path = checkpointPath(c.Run, Training, c.Name)
	content, err := lora.Parse(a.Config, a.Tensors)
	if err != nil {
		return Checkpoint{}, err
	}
	if c.About, err = (about{Spec: t.Spec(), From: content.Revision().Hash}).bytes(); err != nil {
		return Checkpoint{}, err
	}
	if c.Adapter, c.Bytes, err = s.putAdapter(a); err != nil {
		return Checkpoint{}, err
	}
	if err := s.o.Store.Write(ctx, ledger.Change{Checkpoints: []ledger.Checkpoint{c}}); err != nil {
		return Checkpoint{}, err
	}
	return checkpointOf(c)
}

// importer finds the worker that can hold an adapter.
func (s *Service) importer(a Adapter) (Worker, *train.Trainer, error) {
	var all []error
	for _, w := range s.o.Workers {
		t, err := importAdapter(w, a)
		if err == nil {
			return w, t, nil
		}
		all = append(all, err)
	}
	if len(all) == 0 {
		return nil, nil, unknownBase("", nil)
	}
	return nil, nil, errors.Join(all...)
}
