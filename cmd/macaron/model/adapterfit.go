package model

import (
	"macaron/internal/config"
	"macaron/internal/engine/lora"
	"macaron/internal/engine/model"
	"macaron/internal/errs"
	"macaron/internal/ids"
	"macaron/internal/models"
)

// Base is what is known of the model that a contract names.
type Base struct {
	name   string
	digest ids.Digest  // "" when nobody knows it
	shape  *lora.Shape // nil when its file is not here, or not for the built-in engine
}

// FindBase looks the contract's base up, in the store and without a network. When the
// settings name a file instead, that is the base.
func FindBase(c config.Config, name string) (Base, error) {
	b := Base{name: name}
	s, err := models.Open(c.Home)
	if err != nil {
		return b, err
	}
	defer s.Close() // a directory handle
	local, err := settingsFile(s, c.Model)
	if errs.CodeOf(err) == errs.ModelNotFound {
		local, err = storedBase(s, name)
	}
	if b.digest = local.Digest; err != nil || local.Path == "" {
		return b, err
	}
	b.shape, err = shapeOf(local)
	return b, err
}

// settingsFile is the model file that the settings name by its path;
// errs.ModelNotFound when they name none, or it is not there.
func settingsFile(s *models.Store, what string) (models.Local, error) {
	_, err := s.Find(what)
	switch {
	case errs.CodeOf(err) == errs.ModelNotFound && !models.IsSource(what):
		return models.ByPath(what)
	case err == nil:
		return models.Local{}, errs.Newf(errs.ModelNotFound, "%s is a name, not a file", what)
	}
	return models.Local{}, err
}

// storedBase is a model of the catalogue or the store. Its digest is empty when nobody
// knows the name, its path when its file is not here.
func storedBase(s *models.Store, name string) (models.Local, error) {
	m, err := s.Find(name)
	if errs.CodeOf(err) == errs.ModelNotFound {
		return models.Local{Name: name}, nil
	}
	if err != nil {
		return models.Local{}, err
	}
	path, err := s.Has(m.Digest)
	if errs.CodeOf(err) == errs.NotFound {
		err = nil
	}
	return models.Local{Name: name, Path: path, Digest: m.Digest}, err
}

// shapeOf is nil for a model that the built-in engine does not compute.
func shapeOf(l models.Local) (*lora.Shape, error) {
	f, err := model.Open(l.Path)
	if err != nil {
		return nil, err
	}
	defer f.Close() // read-only
	s, err := model.ShapeOf(f, l.Name)
	if errs.CodeOf(err) == errs.Unsupported {
		return nil, nil
	}
	s.Base = l.Digest
	return &s, err
}

// Fits says whether an adapter's files go with the base: "yes", "no" with the reason,
// or "unknown" when neither the base's file nor both digests are here.
func (b Base) Fits(dir string, made ids.Digest) (string, error) {
	switch {
	case b.shape != nil && dir != "":
		if _, err := lora.Load(dir, *b.shape); err != nil {
			return "no", err
		}
		return "yes", nil
	case made == "" || b.digest == "":
		return "unknown", nil
	case made == b.digest:
		return "yes", nil
	}
	return "no", errs.New(errs.FormatInvalid, "the adapter was made for the base "+made.Short()+"; "+b.name+" is "+b.digest.Short(), "use an adapter that was trained on "+b.name)
}
