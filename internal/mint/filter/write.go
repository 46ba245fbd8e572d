package filter

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"macaron/internal/canonical"
	"macaron/internal/disk"
	"macaron/internal/ids"
)

// Format names what a dataset's directory holds.
const Format = "macaron-dataset/1"

// The files of a dataset beside its manifest.
const (
	TrainFile      = "train.jsonl"
	HeldOutFile    = "held_out.jsonl"
	ProvenanceFile = "provenance.jsonl"
	DroppedFile    = "dropped.jsonl"
	ManifestFile   = "manifest.json"
)

// Manifest names a dataset: the digest of its canonical bytes is the dataset's.
type Manifest struct {
	Format      string          `json:"format"`
	Filter      string          `json:"filter"`
	Settings    Settings        `json:"settings"`
	Source      Source          `json:"source"`
	Rows        map[string]int  `json:"rows"`     // by split
	Families    map[string]int  `json:"families"` // by split
	Dropped     map[string]int  `json:"dropped"`  // by reason
	PII         map[string]int  `json:"pii"`      // found, in rows that were kept or dropped for it
	Changes     map[string]int  `json:"changes"`  // rows by what was done to them
	Languages   map[string]int  `json:"languages"`
	Evaluations []Evaluation    `json:"evaluations"`         // that rows were compared with
	Embedding   ids.Digest      `json:"embedding,omitempty"` // of the encoder; absent: compared by words alone
	Files       map[string]File `json:"files"`
}

// Evaluation is a set that rows were compared with.
type Evaluation struct {
	Name   string     `json:"name"`
	Items  int        `json:"items"`
	Digest ids.Digest `json:"digest"`
}

// File is one of a dataset's files.
type File struct {
	Digest ids.Digest `json:"digest"`
	Bytes  int64      `json:"bytes"`
	Lines  int        `json:"lines"`
}

// Close writes the dataset and gives its directory and manifest. The directory's name is
// the dataset's digest: what is there already stays as it is.
func (f *Filter) Close(embedding ids.Digest) (dir string, m Manifest, err error) {
	defer func() { err = errors.Join(err, f.Abandon()) }()
	m = Manifest{Format: Format, Filter: Version, Settings: f.set, Source: f.source, Rows: map[string]int{"train": 0, "held_out": 0}, Families: map[string]int{"train": 0, "held_out": 0},
		Dropped: f.counts, PII: f.pii, Changes: f.changes, Languages: f.languages, Evaluations: []Evaluation{}, Embedding: embedding, Files: map[string]File{}}
	if f.index != nil {
		for _, s := range f.index.Sets {
			m.Evaluations = append(m.Evaluations, Evaluation{s.Name, len(s.Items), s.Digest})
		}
	}
	slices.Sort(m.Source.Owners)
	if err := f.split(&m); err != nil {
		return "", m, err
	}
	if m.Files[DroppedFile], err = f.dropped.done(); err != nil {
		return "", m, err
	}
	raw, err := canonical.Bytes(m)
	if err == nil {
		err = disk.Replace(filepath.Join(f.work, ManifestFile), raw, 0o600)
	}
	if err != nil {
		return "", m, err
	}
	dir, err = f.name(ids.DigestOf(raw))
	return dir, m, err
}

// name moves the finished directory to its name.
func (f *Filter) name(d ids.Digest) (string, error) {
	f.spool.close()
	if err := os.Remove(filepath.Join(f.work, "spool")); err != nil {
		return "", disk.Error(err, "the scratch file cannot be removed")
	}
	dir := filepath.Join(f.dir, strings.TrimPrefix(string(d), "sha256:"))
	if _, err := os.Stat(filepath.Join(dir, ManifestFile)); err == nil {
		return dir, nil
	}
	if err := disk.SyncDir(f.work); err != nil {
		return "", disk.Error(err, "the dataset cannot be written")
	}
	if err := os.Rename(f.work, dir); err != nil {
		return "", disk.Error(err, dir+" cannot be made")
	}
	return dir, disk.Error(disk.SyncDir(f.dir), "the dataset cannot be written")
}

// split writes each row on its family's side.
func (f *Filter) split(m *Manifest) (err error) {
	sides := map[string]*output{}
	for side, name := range map[string]string{"train": TrainFile, "held_out": HeldOutFile, "": ProvenanceFile} {
		if sides[side], err = create(f.work, name); err != nil {
			return err
		}
		defer sides[side].abandon()
	}
	seen := map[int32]bool{}
	err = f.spool.each(func(e entry) error {
		set := f.families.find(e.Set)
		p := e.Prov
		p.Family, p.Split = f.families.name[set], "train"
		if heldOut(p.Family, f.set.Seed, f.set.HeldOut) {
			p.Split = "held_out"
		}
		if !seen[set] {
			seen[set] = true
			m.Families[p.Split]++
		}
		m.Rows[p.Split]++
		p.Line = m.Rows[p.Split]
		if err := sides[p.Split].line(e.Line); err != nil {
			return err
		}
		return sides[""].json(p)
	})
	for side, name := range map[string]string{"train": TrainFile, "held_out": HeldOutFile, "": ProvenanceFile} {
		if err == nil {
			m.Files[name], err = sides[side].done()
		}
	}
	return err
}
