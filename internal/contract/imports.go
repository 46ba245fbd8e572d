package contract

import (
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"macaron/internal/disk"
	"macaron/internal/errs"
)

// reader reads the files of one contract.
type reader struct {
	open  func(name string) ([]byte, error) // nil: there are no other files
	dir   string                            // how the directory is called in errors
	files []File
	total int
	stack []string // files that import each other, outermost first
}

// contract makes a contract of its own file's text.
func (r *reader) contract(name string, text []byte, overlays []string) (*Source, error) {
	if err := r.take(name, text); err != nil {
		return nil, err
	}
	tree, err := r.document(name, text)
	if err != nil {
		return nil, err
	}
	s := &Source{Files: r.files, Applied: overlays, tree: tree}
	offered := tree.table["overlays"]
	delete(tree.table, "overlays")
	if offered != nil {
		for o := range offered.table {
			s.Overlays = append(s.Overlays, o)
		}
		slices.Sort(s.Overlays)
	}
	if err := s.finish(); err != nil {
		return nil, err
	}
	s.plain = s.Contract.Hash()
	for _, o := range overlays {
		if !slices.Contains(s.Overlays, o) {
			return nil, errs.New(errs.InvalidRequest, fmt.Sprintf("the contract has no overlay %.80q", o), "it has: "+strings.Join(s.Overlays, ", "))
		}
		s.tree = offered.table[o].over(s.tree, reflect.TypeFor[Contract]())
	}
	if len(overlays) == 0 {
		return s, nil
	}
	return s, s.finish()
}

// document reads one file over what it imports.
func (r *reader) document(name string, text []byte) (*node, error) {
	doc, tree, err := decode(r.display(name), text)
	if err != nil {
		return nil, err
	}
	if r.open != nil || len(doc.Imports) == 0 {
		err = r.inline(name, tree)
	} else {
		err = alone("imports")
	}
	if err != nil {
		return nil, tree.locate(err)
	}
	r.stack = append(r.stack, name)
	var base *node
	for i, imported := range doc.Imports {
		next, err := r.imported(name, imported, doc.Schema)
		if err != nil {
			return nil, tree.locate(inField(err, fmt.Sprintf("imports[%d]", i)))
		}
		base = next.over(base, reflect.TypeFor[document]())
	}
	r.stack = r.stack[:len(r.stack)-1]
	delete(tree.table, "imports")
	return tree.over(base, reflect.TypeFor[document]()), nil
}

// imported reads a file that another one imports. What names a contract stays its own.
func (r *reader) imported(by, name, schema string) (*node, error) {
	if schema != Schema {
		return nil, bad("", fmt.Sprintf("imports need schema = %q", Schema))
	}
	full, text, err := r.read(by, name)
	if err != nil {
		return nil, err
	}
	if slices.Contains(r.stack, full) {
		return nil, bad("", "a cycle: "+strings.Join(append(r.stack, full), " imports "))
	}
	if len(r.stack) >= MaxImports {
		return nil, bad("", fmt.Sprintf("imports nest deeper than %d", MaxImports))
	}
	tree, err := r.document(full, text)
	if err != nil {
		e := *errs.As(err) // it says where in that file; the field is of this one
		return nil, e.In("")
	}
	if s := tree.table["schema"]; s == nil || s.value != Schema {
		return nil, bad("", full+" has another schema")
	}
	for _, own := range []string{"schema", "name", "version", "parents"} {
		delete(tree.table, own)
	}
	return tree, nil
}

// inline puts the texts of the files that skills and hooks name in their place, and makes
// the adapters' directories relative to the contract's own file.
func (r *reader) inline(by string, tree *node) error {
	parts := map[string]*node{"": tree}
	if o := tree.table["overlays"]; o != nil {
		for name, part := range o.table {
			for _, own := range []string{"schema", "parents"} {
				if part.table[own] != nil {
					return bad("overlays."+name+"."+own, "an overlay cannot change "+own)
				}
			}
			parts["overlays."+name] = part
		}
	}
	for at, part := range parts {
		for section, key := range map[string]string{"skills": "text", "hooks": "python"} {
			if list := part.table[section]; list != nil {
				if err := r.texts(by, join(at, section), key, list.list); err != nil {
					return err
				}
			}
		}
		if list := part.table["adapters"]; list != nil {
			sources(path.Dir(by), list.list)
		}
	}
	return nil
}

// texts reads the files of one section.
func (r *reader) texts(by, at, key string, list []*node) error {
	for i, e := range list {
		file := e.table["file"]
		if file == nil {
			continue
		}
		here := fmt.Sprintf("%s[%d].file", at, i)
		if e.table[key] != nil {
			return bad(here, fmt.Sprintf("%s[%d] has both file and %s", at, i, key))
		}
		if r.open == nil {
			return alone(here)
		}
		_, text, err := r.read(by, file.value.(string))
		if err != nil {
			return inField(err, here)
		}
		delete(e.table, "file")
		e.table[key] = &node{at: file.at, value: string(text)}
	}
	return nil
}

// read gives a file that another one names, and its path from the contract's directory.
func (r *reader) read(by, name string) (string, []byte, error) {
	full := path.Join(path.Dir(by), name)
	if strings.Contains(name, `\`) || path.IsAbs(name) || !fs.ValidPath(full) || full == "." {
		return "", nil, bad("", fmt.Sprintf("%q does not lie below the directory of the contract", errs.Clip(name)))
	}
	if i := slices.IndexFunc(r.files, func(f File) bool { return f.Path == full }); i >= 0 {
		return full, r.files[i].Text, nil
	}
	text, err := r.open(full)
	if err != nil {
		return "", nil, disk.OpenError(err, r.display(full)+" cannot be read as a file", "give a path relative to the file that names it, below the directory of the contract")
	}
	return full, text, r.take(full, text)
}

// take counts a file in.
func (r *reader) take(name string, text []byte) error {
	r.files, r.total = append(r.files, File{name, text}), r.total+len(text)
	if len(text) > MaxBytes || len(r.files) > MaxFiles || r.total > MaxTotal {
		return errs.Newf(errs.TooLarge, "a contract is at most %d files of %d bytes each, %d in all; %s is too much", MaxFiles, MaxBytes, MaxTotal, r.display(name))
	}
	return nil
}

func (r *reader) display(name string) string {
	if r.open == nil {
		return name
	}
	return filepath.Join(r.dir, filepath.FromSlash(name))
}

// sources rewrites directories of adapters that stand in a file of another directory.
func sources(dir string, adapters []*node) {
	for _, a := range adapters {
		s := a.table["source"]
		if s == nil || dir == "." {
			continue
		}
		if source := s.value.(string); !strings.HasPrefix(source, "sha256:") && !strings.HasPrefix(source, "model:") && !path.IsAbs(source) {
			s.value = path.Join(dir, source)
		}
	}
}

func alone(key string) error {
	return errs.New(errs.FormatInvalid, key+" names a file, and this contract was given as a text alone", "give the contract as a file, next to those that it names").In(key)
}

// inField names the field of an error that has none.
func inField(err error, field string) error {
	e := *errs.As(err)
	if e.Field == "" {
		e.Field = field
	}
	return &e
}
