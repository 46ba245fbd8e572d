package catalogue

import (
	"errors"
	"os"
	"runtime"

	"macaron/internal/engine/lora"
	"macaron/internal/engine/model"
	"macaron/internal/errs"
)

// WriteGGUF writes a revision as llama.cpp's adapter file for a base, a model's file or
// directory.
func WriteGGUF(to string, f Files, base string) error {
	return onBase(base, f, func(_ model.Source, m *model.Model, c *lora.Content) error { return c.WriteGGUF(to, m.Shape("")) })
}

// WriteMerged writes the base with a revision added into its weights, as one GGUF file.
func WriteMerged(to string, f Files, base string) error {
	return onBase(base, f, func(s model.Source, m *model.Model, c *lora.Content) error {
		file, ok := s.(*model.GGUF)
		if !ok {
			return errs.New(errs.Unsupported, "the base is no GGUF file, and a merged model is written as one", "name the base as a GGUF file, or export the adapter by itself")
		}
		a, err := c.Adapter(m.Shape(""))
		if err != nil {
			return err
		}
		return model.WriteMerged(to, file, m, a)
	})
}

// FromGGUF reads llama.cpp's adapter file as the revision that it is on its base, a model's
// file or directory.
func FromGGUF(path, base string) (f Files, err error) {
	c, err := lora.Open(path)
	if err != nil {
		return f, err
	}
	defer func() { err = errors.Join(err, c.Close()) }()
	err = withBase(base, func(_ model.Source, m *model.Model) error {
		made, err := c.OnBase(m.Shape(""))
		if err == nil {
			f.Config, f.Tensors, err = made.PEFT()
		}
		return err
	})
	return f, err
}

// onBase loads a base and does something with a revision on it, whose file is not there yet.
func onBase(base string, f Files, do func(model.Source, *model.Model, *lora.Content) error) error {
	return withBase(base, func(s model.Source, m *model.Model) error {
		c, err := lora.Parse(f.Config, f.Tensors)
		if err != nil {
			return err
		}
		return do(s, m, c)
	})
}

// withBase loads a base for as long as do runs.
func withBase(base string, do func(model.Source, *model.Model) error) (err error) {
	s, err := model.Open(base)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	m, err := model.Load(s, runtime.GOMAXPROCS(0), nil)
	if err != nil {
		return err
	}
	return do(s, m)
}

// Absent refuses a file that is there: an export replaces nothing.
func Absent(path string) error {
	if _, err := os.Lstat(path); err == nil {
		return errs.New(errs.InvalidRequest, path+" exists", "name another file")
	}
	return nil
}
