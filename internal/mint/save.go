package mint

import (
	"context"
	"fmt"
	"io"
	"regexp"
	"strings"
	"time"

	"macaron/internal/errs"
	"macaron/internal/ids"
	"macaron/internal/mint/ledger"
)

// Bounds of the life of a checkpoint that has one.
const (
	minTTL = time.Hour
	maxTTL = 10 * 366 * 24 * time.Hour
)

var checkpointName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$`)

func (r *Save) check() error {
	switch {
	case r.Kind != Training && r.Kind != Sampling && r.Kind != External:
		return errs.Newf(errs.InvalidRequest, "there is no kind of checkpoint %q", errs.Clip(string(r.Kind)))
	case r.Name != "" && !checkpointName.MatchString(r.Name):
		return errs.New(errs.InvalidRequest, fmt.Sprintf("%q is no name of a checkpoint", errs.Clip(r.Name)), "use letters, digits, dot, underscore and hyphen, at most 128").In("path")
	case len(r.Metadata) > maxAbout:
		return errs.Newf(errs.TooLarge, "the metadata has more than %d bytes", maxAbout).In("user_metadata")
	}
	return checkTTL(r.TTL)
}

func checkTTL(ttl time.Duration) error {
	if ttl != 0 && (ttl < minTTL || ttl > maxTTL) {
		return errs.Newf(errs.InvalidRequest, "a checkpoint lives for an hour to ten years, or for good; not for %v", ttl).In("ttl_seconds")
	}
	return nil
}

// scheme is that of the paths that are given out; the other one is understood as well.
const (
	scheme    = "tinker://"
	altScheme = "mint://"
)

func checkpointPath(run string, kind Kind, name string) string {
	return scheme + run + "/" + string(kind) + "/" + name
}

// parsePath takes a path apart: <scheme><run>/<kind>/<name>.
func parsePath(path string) (run string, kind Kind, name string, err error) {
	rest, ok := strings.CutPrefix(path, scheme)
	if !ok {
		rest, ok = strings.CutPrefix(path, altScheme)
	}
	parts := strings.Split(rest, "/")
	if ok && len(parts) == 3 && parts[0] != "" && checkpointName.MatchString(parts[2]) {
		switch k := Kind(parts[1]); k {
		case Training, Sampling, External:
			return parts[0], k, parts[2], nil
		}
	}
	return "", "", "", errs.New(errs.InvalidRequest, fmt.Sprintf("%q is no path of a checkpoint", errs.Clip(path)), "it is tinker://<run>/<weights|sampler_weights|external_weights>/<name>").In("path")
}

// saveState makes a checkpoint, which is a snapshot as well. The file has gradients too that
// wait for a step; whoever loads the checkpoint leaves these.
func (s *Service) saveState(m *model, r Save) (Result, ledger.Change, error) {
	c, err := s.draft(m, r)
	if err != nil {
		return Result{}, ledger.Change{}, err
	}
	c.State, c.Bytes, err = s.o.Blobs.Put(func(w io.Writer) error { return m.trainer.Save(w, "") })
	if err != nil {
		return Result{}, ledger.Change{}, err
	}
	row := m.row
	change := setSnapshot(&row, c.State, ledger.Whole, row.Applied)
	change.Models = []ledger.Model{row}
	change.Checkpoints = []ledger.Checkpoint{c}
	return Result{Path: c.Path}, change, nil
}

// saveAdapter makes a checkpoint of the exported adapter, and a revision of the catalogue.
func (s *Service) saveAdapter(m *model, r Save) (Result, ledger.Change, error) {
	c, err := s.draft(m, r)
	if err != nil {
		return Result{}, ledger.Change{}, err
	}
	a, err := exportAdapter(m.trainer)
	if err != nil {
		return Result{}, ledger.Change{}, err
	}
	if c.Adapter, c.Bytes, err = s.putAdapter(a); err != nil {
		return Result{}, ledger.Change{}, err
	}
	change := ledger.Change{}
	if s.o.Publisher != nil && r.Kind == Sampling {
		if change.Models, err = s.publish(m, r, a, &c); err != nil {
			return Result{}, ledger.Change{}, err
		}
	}
	change.Checkpoints = []ledger.Checkpoint{c}
	return Result{Path: c.Path}, change, nil
}

func (s *Service) putAdapter(a Adapter) (ids.Digest, int64, error) {
	return s.o.Blobs.Put(func(w io.Writer) error { return writePEFT(w, a) })
}

// draft is a checkpoint without its content.
func (s *Service) draft(m *model, r Save) (c ledger.Checkpoint, err error) {
	if r.Name == "" {
		r.Name = fmt.Sprintf("step-%06d-%06d", m.row.Steps, m.row.Applied+1)
	}
	now := s.o.Clock.Now().UTC()
	c = ledger.Checkpoint{Owner: m.row.Owner, Path: checkpointPath(m.row.ID, r.Kind, r.Name), Run: m.row.ID, Kind: string(r.Kind), Name: r.Name, Base: m.row.Base, Created: now}
	if r.TTL > 0 {
		c.Expires = now.Add(r.TTL)
	}
	_, err = s.o.Store.Checkpoint(s.ctx, c.Path)
	switch {
	case err == nil && !r.Overwrite:
		return c, errs.New(errs.InvalidRequest, "there is a checkpoint "+c.Path, "choose another name, or ask to overwrite it").In("path")
	case err != nil && errs.CodeOf(err) != errs.NotFound:
		return c, err
	}
	c.About, err = about{Spec: m.about.Spec, Metadata: r.Metadata, From: m.about.From}.bytes()
	return c, err
}

// saveSampler makes a sampler of the model's state as it is.
func (s *Service) saveSampler(m *model, r SaveSampler) (Result, ledger.Change, error) {
	a, err := exportAdapter(m.trainer)
	if err != nil {
		return Result{}, ledger.Change{}, err
	}
	d, _, err := s.putAdapter(a)
	if err != nil {
		return Result{}, ledger.Change{}, err
	}
	now := s.o.Clock.Now().UTC()
	row := ledger.Sampler{Owner: m.row.Owner, ID: samplerID(m.row.Session, r.SamplerSeq), Session: m.row.Session, Base: m.row.Base, Model: m.row.ID, Adapter: d, Inflight: r.Inflight, Created: now, Used: now}
	if r.Inflight {
		row.ID = m.row.ID + ":inflight"
	} else if err := s.freeSampler(row); err != nil {
		return Result{}, ledger.Change{}, err
	}
	return Result{Sampler: row.ID}, ledger.Change{Samplers: []ledger.Sampler{row}}, nil
}

// freeSampler refuses a sampler whose number another one of its session has.
func (s *Service) freeSampler(row ledger.Sampler) error {
	_, err := s.o.Store.Sampler(s.ctx, row.Owner, row.ID)
	if err == nil {
		return errs.New(errs.InvalidRequest, "the session has a sampler of this number", "number samplers anew").In("sampling_session_seq_id")
	}
	if errs.CodeOf(err) == errs.NotFound {
		return nil
	}
	return err
}

// load sets a model to a checkpoint: its gradients are gone, and the checkpoint is its
// snapshot from now on.
func (s *Service) load(m *model, seq int64, r Load) (Result, ledger.Change, error) {
	c, err := s.readable(s.ctx, m.row.Owner, r.Path)
	if err != nil {
		return Result{}, ledger.Change{}, err
	}
	if !s.same(c.Base, m.row.Base) {
		return Result{}, ledger.Change{}, errs.Newf(errs.InvalidRequest, "the checkpoint is of %s, the model of %s", c.Base, m.row.Base).In("path")
	}
	of, err := aboutOf(c)
	if err == nil {
		err = sameShape(m.about.Spec, of.Spec)
	}
	if err != nil {
		return Result{}, ledger.Change{}, err
	}
	w, err := s.worker(m.row.Base)
	if err != nil {
		return Result{}, ledger.Change{}, err
	}
	s.renew(c)
	d, form := content(c, r.Optimizer)
	t, err := s.trainerOf(w, d, form)
	if err != nil {
		return Result{}, ledger.Change{}, err
	}
	m.trainer = t
	row := m.row
	change := setSnapshot(&row, d, form, seq)
	about := m.about
	about.From = of.origin()
	row.About, err = about.bytes()
	change.Models = []ledger.Model{row}
	return Result{Model: m.row.ID, Path: c.Path}, change, err
}

// content is what a model begins from that is set to a checkpoint.
func content(c ledger.Checkpoint, optimizer bool) (ids.Digest, ledger.Form) {
	switch {
	case c.State == "":
		return c.Adapter, ledger.Adapter
	case optimizer:
		return c.State, ledger.State
	}
	return c.State, ledger.Masters
}

// createFrom begins a training run from a checkpoint, with the checkpoint's own shape.
func (s *Service) createFrom(ctx context.Context, owner string, r Load, c ledger.Checkpoint) (Promise, error) {
	if _, err := s.worker(c.Base); err != nil {
		return Promise{}, err
	}
	of, err := aboutOf(c)
	if err != nil {
		return Promise{}, err
	}
	s.renew(c)
	row := ledger.Model{Owner: owner, Session: r.Session, Base: c.Base}
	row.Snapshot, row.Form = content(c, r.Optimizer)
	return s.create(ctx, row, r.ModelSeq, about{Spec: of.Spec, Metadata: r.Metadata, From: of.origin()}, OpLoad)
}

// unload lets go of a model.
func (s *Service) unload(m *model) (Result, ledger.Change, error) {
	row := m.row
	row.Unloaded, row.Snapshot = true, ""
	return Result{Model: row.ID}, ledger.Change{Models: []ledger.Model{row}}, nil
}
