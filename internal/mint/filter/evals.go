package filter

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"macaron/internal/disk"
	"macaron/internal/errs"
	"macaron/internal/ids"
)

// EvalSet is one evaluation set of a registry.
type EvalSet struct {
	Name   string     `toml:"name"`
	File   string     `toml:"file"`   // relative to the registry
	Fields []string   `toml:"fields"` // of JSON lines and of TOML's tables, with dots for fields within; of TSV the columns, from 1
	Suite  string     `toml:"suite"`  // instead of a file: tasks that the program makes
	Items  []string   `toml:"-"`
	Digest ids.Digest `toml:"-"`
}

const (
	maxEvalBytes = 256 << 20
	maxEvalItems = 1 << 20
)

// ReadEvals reads a registry and the sets that it lists. suite gives the items of sets that
// the program makes.
func ReadEvals(files fs.FS, registry string, suite func(name string) ([]string, error)) ([]EvalSet, error) {
	raw, err := fs.ReadFile(files, registry)
	if err != nil {
		return nil, disk.OpenError(err, "the registry of evaluation sets cannot be read", "docs/DATA.md says what it has")
	}
	var r struct {
		Set []EvalSet `toml:"set"`
	}
	if err := toml.NewDecoder(bytes.NewReader(raw)).DisallowUnknownFields().Decode(&r); err != nil {
		return nil, errs.Wrap(errs.FormatInvalid, err, "the registry of evaluation sets is malformed", "docs/DATA.md says what it has")
	}
	for i := range r.Set {
		if err := r.Set[i].read(files, suite); err != nil {
			return nil, err
		}
	}
	return r.Set, nil
}

func (s *EvalSet) read(files fs.FS, suite func(string) ([]string, error)) (err error) {
	if (s.File == "") == (s.Suite == "") || s.Name == "" {
		return errs.New(errs.FormatInvalid, "an evaluation set needs a name, and a file or a suite", "docs/DATA.md says what a registry has")
	}
	if s.Suite != "" {
		if s.Items, err = suite(s.Suite); err == nil {
			s.Digest = ids.DigestOf([]byte(strings.Join(s.Items, "\n")))
		}
		return err
	}
	info, err := fs.Stat(files, s.File)
	if err != nil || info.Size() > maxEvalBytes {
		return errs.New(errs.NotFound, "the evaluation set "+s.File+" is not there, or has more than 256 MiB", "correct the registry: a set that is not read is not checked against")
	}
	raw, err := fs.ReadFile(files, s.File)
	if err != nil {
		return disk.Error(err, s.File+" cannot be read")
	}
	s.Digest = ids.DigestOf(raw)
	return s.items(raw)
}

// items takes the texts of every line, and of every table of a TOML file's one list.
func (s *EvalSet) items(raw []byte) error {
	if strings.HasSuffix(s.File, ".toml") {
		return s.tables(raw)
	}
	lines := bufio.NewScanner(bytes.NewReader(raw))
	lines.Buffer(nil, 16<<20)
	for n := 1; lines.Scan(); n++ {
		line := lines.Text()
		if strings.TrimSpace(line) == "" || strings.HasPrefix(line, "#") {
			continue
		}
		texts, err := s.texts(line)
		if err != nil {
			return errs.New(errs.FormatInvalid, fmt.Sprintf("line %d of %s: %v", n, s.File, err), "correct the set or the registry's fields")
		}
		s.Items = append(s.Items, texts...)
		if len(s.Items) > maxEvalItems {
			return errs.Newf(errs.TooLarge, "%s has more than %d items", s.File, maxEvalItems)
		}
	}
	return errs.Wrap(errs.FormatInvalid, lines.Err(), s.File+" cannot be read as lines", "")
}

func (s *EvalSet) tables(raw []byte) error {
	var file map[string][]map[string]any
	if err := toml.Unmarshal(raw, &file); err != nil || len(file) != 1 {
		return errs.New(errs.FormatInvalid, s.File+" is not one list of tables", "correct the set or the registry")
	}
	for _, rows := range file {
		for _, row := range rows {
			for _, f := range s.Fields {
				if text, ok := field(row, f); ok {
					s.Items = append(s.Items, text)
				}
			}
		}
	}
	return nil
}

func (s *EvalSet) texts(line string) ([]string, error) {
	var out []string
	if strings.HasSuffix(s.File, ".jsonl") {
		var row map[string]any
		if err := json.Unmarshal([]byte(line), &row); err != nil {
			return nil, err
		}
		for _, f := range s.Fields {
			if text, ok := field(row, f); ok {
				out = append(out, text)
			}
		}
		return out, nil
	}
	columns := strings.Split(line, "\t")
	for _, f := range s.Fields {
		var n int
		if _, err := fmt.Sscan(f, &n); err != nil || n < 1 {
			return nil, fmt.Errorf("%q is no column", errs.Clip(f))
		}
		if n <= len(columns) {
			out = append(out, columns[n-1])
		}
	}
	return out, nil
}

// field follows dots into objects.
func field(row map[string]any, path string) (string, bool) {
	name, rest, deeper := strings.Cut(path, ".")
	if !deeper {
		text, ok := row[name].(string)
		return text, ok && text != ""
	}
	inner, _ := row[name].(map[string]any)
	return field(inner, rest)
}

// Embedder gives unit vectors whose inner product says how alike texts are.
type Embedder interface {
	Embed(ctx context.Context, texts []string) (vectors [][]float32, tokens int, err error)
}
