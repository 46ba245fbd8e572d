// Package hf reads a model directory as Hugging Face lays it out: config.json, the
// weights in model.safetensors or in shards that model.safetensors.index.json lists,
// and small JSON files beside them.
//
// The directory is hostile until proven otherwise: JSON files are bounded in size and
// read strictly, shards are named without any path, and what index and shards say about
// each other must agree. Memory is bounded by the files' sizes.
package hf

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"macaron/internal/disk"
	"macaron/internal/engine/weights/safetensors"
	"macaron/internal/errs"
)

// The files of a directory that are read, by what they are for.
const (
	ConfigFile = "config.json"
	WeightFile = "model.safetensors"
	IndexFile  = "model.safetensors.index.json"
)

// Caps on what a directory may hold.
const (
	MaxFile   = 64 << 20 // bytes of a JSON file; tokenizer.json is the largest
	MaxShards = 1 << 10
)

// Dir is an open model directory. It is immutable and safe for concurrent use; tensors
// are valid until Close.
type Dir struct {
	Config Config // of config.json

	path   string
	shards []*safetensors.File
	byName map[string]*safetensors.Tensor
}

// Open reads the configuration and maps the weights at path.
func Open(path string) (*Dir, error) {
	d := &Dir{path: path, byName: map[string]*safetensors.Tensor{}}
	raw, err := ReadFile(path, ConfigFile)
	if err != nil {
		return nil, err
	}
	if d.Config, err = ParseConfig(ConfigFile, raw); err != nil {
		return nil, err
	}
	if err := d.openShards(); err != nil {
		return nil, errors.Join(err, d.Close())
	}
	return d, nil
}

// openShards maps every file with weights and collects their tensors.
func (d *Dir) openShards() error {
	ix, err := readIndex(d.path)
	if err != nil {
		return err
	}
	for _, name := range ix.files() {
		f, err := safetensors.Open(filepath.Join(d.path, name))
		if err != nil {
			return err
		}
		d.shards = append(d.shards, f)
		for i := range f.Tensors {
			t := &f.Tensors[i]
			if _, dup := d.byName[t.Name]; dup || !ix.agrees(t.Name, name) {
				return bad("the file %s holds the tensor %s, which the index has in another file or not at all", name, errs.Clip(t.Name))
			}
			d.byName[t.Name] = t
		}
	}
	for name := range ix {
		if d.byName[name] == nil && name != "" {
			return bad("the index has the tensor %s in the file %s, which does not hold it", errs.Clip(name), ix[name])
		}
	}
	return nil
}

// Close unmaps the files; it is idempotent.
func (d *Dir) Close() error {
	var err error
	for _, f := range d.shards {
		err = errors.Join(err, f.Close())
	}
	d.shards, d.byName = nil, nil
	return err
}

// Tensor finds a tensor by its name in the files, nil for none.
func (d *Dir) Tensor(name string) *safetensors.Tensor { return d.byName[name] }

// Names lists the tensors, sorted.
func (d *Dir) Names() []string {
	names := make([]string, 0, len(d.byName))
	for name := range d.byName {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// Path is the directory.
func (d *Dir) Path() string { return d.path }

// index says in which file each tensor lies. One file without an index is {"": file}.
type index map[string]string

func readIndex(dir string) (index, error) {
	if Exists(dir, WeightFile) {
		return index{"": WeightFile}, nil
	}
	if !Exists(dir, IndexFile) {
		return nil, errs.New(errs.FormatInvalid, fmt.Sprintf("%s has neither %s nor %s", dir, WeightFile, IndexFile), "weights in other formats (pytorch_model.bin) must be stored as safetensors first")
	}
	raw, err := ReadFile(dir, IndexFile)
	if err != nil {
		return nil, err
	}
	return parseIndex(raw)
}

// parseIndex reads {"weight_map": {TENSOR: FILE}}.
func parseIndex(raw []byte) (index, error) {
	c, err := ParseConfig(IndexFile, raw)
	if err != nil {
		return nil, err
	}
	var ix index
	if err := json.Unmarshal(c.Raw("weight_map"), &ix); err != nil || len(ix) == 0 {
		return nil, bad("%s has no weight_map that names a file for each tensor", IndexFile)
	}
	for tensor, file := range ix {
		if tensor == "" || file != filepath.Base(file) || strings.ContainsAny(file, `/\:`) || !strings.HasSuffix(file, ".safetensors") {
			return nil, bad("%s has the tensor %q in %q; shards lie beside it and end in .safetensors", IndexFile, errs.Clip(tensor), errs.Clip(file))
		}
	}
	if n := len(ix.files()); n > MaxShards {
		return nil, bad("%s names %d files, at most %d are read", IndexFile, n, MaxShards)
	}
	return ix, nil
}

// files lists the files once each, sorted.
func (ix index) files() []string {
	var files []string
	for _, file := range ix {
		files = append(files, file)
	}
	slices.Sort(files)
	return slices.Compact(files)
}

func (ix index) agrees(tensor, file string) bool {
	return ix[tensor] == file || ix[""] == file
}

// Exists tells whether a directory has a regular file of that name.
func Exists(dir, name string) bool {
	info, err := os.Stat(filepath.Join(dir, name))
	return err == nil && info.Mode().IsRegular()
}

// ReadFile reads a small file of a directory whole. A missing one is NotFound.
func ReadFile(dir, name string) ([]byte, error) {
	path := filepath.Join(dir, name)
	if !Exists(dir, name) {
		return nil, errs.New(errs.NotFound, fmt.Sprintf("%s has no file %s", dir, name), "name a model directory as Hugging Face lays it out")
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, disk.Error(err, "cannot open "+path)
	}
	defer f.Close() // read-only
	raw, err := io.ReadAll(io.LimitReader(f, MaxFile+1))
	if err != nil {
		return nil, disk.Error(err, "cannot read "+path)
	}
	if len(raw) > MaxFile {
		return nil, bad("%s has more than %d bytes", path, MaxFile)
	}
	return raw, nil
}
