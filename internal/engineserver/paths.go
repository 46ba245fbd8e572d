package engineserver

import (
	"fmt"
	"path/filepath"
	"strings"

	"macaron/internal/errs"
)

// inside resolves the path of an adapter and refuses one that does not lie under the
// directories allowed, wherever links lead. A relative path is looked for in each of them.
func (n *Names) inside(path string) (string, error) {
	if path == "" || strings.ContainsRune(path, 0) {
		return "", errs.New(errs.InvalidRequest, "Both 'lora_name' and 'lora_path' must be provided.", "").In("lora_path")
	}
	if len(n.opts.Dirs) == 0 {
		return filepath.Abs(path)
	}
	for _, dir := range n.opts.Dirs {
		if found, ok := under(dir, path); ok {
			return found, nil
		}
	}
	// Whether something lies at the path is not told: it is outside.
	return "", errs.New(errs.NotFound, fmt.Sprintf("there is no adapter at %q in the directories of adapters", errs.Clip(path)),
		"give a path under one of the --lora-dir directories").In("lora_path")
}

// under gives the real place of a path, if that is below dir.
func under(dir, path string) (string, bool) {
	root, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return "", false
	}
	if root, err = filepath.Abs(root); err != nil {
		return "", false
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(root, path)
	}
	found, err := filepath.EvalSymlinks(path)
	if err != nil {
		return "", false
	}
	rel, err := filepath.Rel(root, found)
	return found, err == nil && filepath.IsLocal(rel)
}
