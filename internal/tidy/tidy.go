// Package tidy holds the structure's own tests: package comments, the directions of
// imports, sizes of files and functions, words and paths that do not belong. A rule
// that has exceptions keeps them in a list next to it, each with its reason.
package tidy

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// Module is the path of the module whose structure is tested.
const Module = "macaron"

// File is one parsed Go file.
type File struct {
	Path    string // slash-separated, from the root of the module
	Dir     string // of Path
	Test    bool   // a _test.go file
	Lines   int
	Text    []byte
	Imports []string // as written; those of the module without its name and slash
	AST     *ast.File
	Set     *token.FileSet
}

// skipped are directories that hold no source of ours.
var skipped = map[string]bool{".git": true, ".cache": true, "bin": true, "testdata": true, ".venv": true, "__pycache__": true}

// Walk calls fn for every file below root that is source or text of ours.
func Walk(root string, fn func(rel string) error) error {
	return filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if p != root && skipped[d.Name()] {
				return filepath.SkipDir
			}
			return nil
		}
		rel, err := filepath.Rel(root, p)
		if err != nil {
			return err
		}
		return fn(filepath.ToSlash(rel))
	})
}

// Load parses every Go file below root, whatever it builds for.
func Load(root string) ([]File, error) {
	var files []File
	err := Walk(root, func(rel string) error {
		if !strings.HasSuffix(rel, ".go") {
			return nil
		}
		text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(rel)))
		if err != nil {
			return err
		}
		f, err := Parse(rel, text)
		files = append(files, f)
		return err
	})
	return files, err
}

// Parse reads one file.
func Parse(rel string, text []byte) (File, error) {
	f := File{Path: rel, Dir: path.Dir(rel), Test: strings.HasSuffix(rel, "_test.go"), Lines: strings.Count(string(text), "\n"), Text: text, Set: token.NewFileSet()}
	var err error
	if f.AST, err = parser.ParseFile(f.Set, rel, text, parser.ParseComments); err != nil {
		return f, err
	}
	for _, i := range f.AST.Imports {
		p := strings.Trim(i.Path.Value, `"`)
		f.Imports = append(f.Imports, strings.TrimPrefix(p, Module+"/"))
	}
	return f, nil
}

// Within reports whether a package path is one of the roots or below one.
func Within(p string, roots ...string) bool {
	for _, r := range roots {
		if p == r || strings.HasPrefix(p, r+"/") {
			return true
		}
	}
	return false
}
