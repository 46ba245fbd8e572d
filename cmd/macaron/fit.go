package main

import (
	"macaron/internal/config"
	"macaron/internal/engine/lora"
	"macaron/internal/engine/model"
	"macaron/internal/engine/weights/gguf"
	"macaron/internal/errs"
	"macaron/internal/ids"
	"macaron/internal/models"
)

// base is what is known of the model that a contract names.
type base struct {
	name   string
	digest ids.Digest  // "" when nobody knows it
	shape  *lora.Shape // nil when its file is not here, or not for the built-in engine
}

// findBase looks the contract's base up, in the store and without a network. When the
// settings name a file instead, that is the base.
func findBase(c config.Config, name string) (base, error) {
	b := base{name: name}
	s, err := models.Open(c.Home)
	if err != nil {
		return b, err
	}
	defer s.Close() // a directory handle
	local := models.Local{Name: name}
	m, err := s.Find(name)
	switch errs.CodeOf(err) {
	case "":
		b.digest, local.Digest = m.Digest, m.Digest
		if local.Path, err = s.Has(m.Digest); errs.CodeOf(err) == errs.NotFound {
			return b, nil
		}
	case errs.ModelNotFound:
		if _, err := s.Find(c.Model); err == nil || models.IsSource(c.Model) {
			return b, nil
		}
		local, err = models.ByPath(c.Model)
		if errs.CodeOf(err) == errs.ModelNotFound {
			return b, nil
		}
		b.digest = local.Digest
	}
	if err != nil {
		return b, err
	}
	b.shape, err = shapeOf(local)
	return b, err
}

// shapeOf is nil for a model that the built-in engine does not compute.
func shapeOf(l models.Local) (*lora.Shape, error) {
	f, err := gguf.Open(l.Path)
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

// fits says whether an adapter's files go with the base: "yes", "no" with the reason,
// or "unknown" when neither the base's file nor both digests are here.
func (b base) fits(dir string, made ids.Digest) (string, error) {
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
