package models

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"
	"time"

	"macaron/internal/disk"
	"macaron/internal/errs"
	"macaron/internal/ids"
)

// indexFile names what was pulled under a name of its own; the catalogue needs no entry.
const indexFile = "models.json"

// Pulled is a model that a person has fetched from a source.
type Pulled struct {
	Model
	At time.Time `json:"pulled"`
}

// Pulled lists the models that were pulled by source, in order of their names.
func (s *Store) Pulled() ([]Pulled, error) {
	f, err := s.root.Open(indexFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, disk.Error(err, "the list of pulled models cannot be opened")
	}
	defer f.Close() // read-only
	b, err := io.ReadAll(io.LimitReader(f, 4<<20))
	if err != nil {
		return nil, disk.Error(err, "the list of pulled models cannot be read")
	}
	return parseIndex(b)
}

func parseIndex(b []byte) ([]Pulled, error) {
	var list []Pulled
	if err := json.Unmarshal(b, &list); err != nil {
		return nil, errs.Wrap(errs.FormatInvalid, err, "blobs/"+indexFile+" is not a list of models", "remove that file and pull the models again")
	}
	for _, p := range list {
		if _, err := ids.ParseDigest(string(p.Digest)); err != nil || CheckName(p.Name) != nil {
			return nil, errs.New(errs.FormatInvalid, "blobs/"+indexFile+" has an entry without a usable name and SHA-256", "remove that file and pull the models again")
		}
	}
	return list, nil
}

// CheckName refuses names that would read like a path, a source or a flag.
func CheckName(name string) error {
	ok := name != "" && len(name) <= 128 && !strings.ContainsFunc(name, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '.' || r == '_' || r == '-')
	}) && name[0] != '-' && name[0] != '.'
	if ok {
		return nil
	}
	return errs.New(errs.InvalidRequest, fmt.Sprintf("%.130q is not a model name", name), "use a-z 0-9 . _ - and start with a letter or digit: --name my-model")
}

// checkNew refuses what may not be the name of a pulled model.
func checkNew(name string) error {
	if _, taken := Known(name); taken {
		return errs.New(errs.InvalidRequest, name+" is a name of the catalogue", "choose another: --name my-model")
	}
	return CheckName(name)
}

// Remember gives a fetched model its name; the newest of a name wins.
func (s *Store) Remember(m Model, at time.Time) error {
	if err := checkNew(m.Name); err != nil {
		return err
	}
	list, err := s.Pulled()
	if err != nil {
		return err
	}
	list = slices.DeleteFunc(list, func(p Pulled) bool { return p.Name == m.Name })
	list = append(list, Pulled{Model: m, At: at.UTC()})
	slices.SortFunc(list, func(a, b Pulled) int { return strings.Compare(a.Name, b.Name) })
	b, err := json.MarshalIndent(list, "", "  ")
	if err != nil {
		return errs.Wrap(errs.Internal, err, "the list of pulled models cannot be written", "")
	}
	return s.replace(indexFile, append(b, '\n'))
}

// replace writes a small file so that it is seen either old or new.
func (s *Store) replace(name string, b []byte) error {
	tmp := name + ".new"
	f, err := s.root.Create(tmp)
	if err != nil {
		return disk.Error(err, name+" cannot be written")
	}
	_, err = f.Write(b)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return disk.Error(err, name+" cannot be written")
	}
	if err := s.root.Rename(tmp, name); err != nil {
		return disk.Error(err, name+" cannot be replaced")
	}
	return nil
}
