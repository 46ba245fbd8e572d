package harness

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"macaron/internal/canonical"
	"macaron/internal/contract"
	"macaron/internal/disk"
	"macaron/internal/errs"
	"macaron/internal/record"
)

// scan keeps the files of the workspace by their hash and lists them by path. Links and
// other things that are no files are passed over: they lead out, or nowhere.
func (r *run) scan(wanted func(string) bool) ([]record.RunFile, error) {
	root, err := os.OpenRoot(r.dir)
	if err != nil {
		return nil, disk.Error(err, "the workspace cannot be opened")
	}
	defer root.Close() // a directory handle
	var out []record.RunFile
	left := int64(r.contract.Workspace.MaxBytes)
	err = fs.WalkDir(root.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() || !wanted(name) {
			if errors.Is(err, fs.ErrNotExist) || err == nil {
				return nil
			}
			return err
		}
		if len(out) >= r.contract.Workspace.MaxFiles {
			return errs.New(errs.TooLarge, fmt.Sprintf("the workspace has more than %d files", r.contract.Workspace.MaxFiles), "raise workspace.max_files")
		}
		b, err := slurp(root, name, left)
		if err != nil {
			return err
		}
		left -= int64(len(b))
		digest, err := r.h.files.put(b)
		out = append(out, record.RunFile{Path: name, Digest: digest, Bytes: int64(len(b))})
		return err
	})
	if err != nil && errs.CodeOf(err) == errs.Internal {
		err = disk.Error(err, "the workspace cannot be read")
	}
	return out, err
}

func everything(string) bool { return true }

// unchanged is the text of a snapshot that is the one before.
const unchanged = "unchanged"

// snapshot has the workspace on record when the run stands still, if the contract wants that
// and it has changed.
func (r *run) snapshot(ctx context.Context) error {
	if r.contract.Workspace.Snapshots == contract.SnapshotNone {
		return nil
	}
	note, err := r.picture("")
	if err != nil || note.Text == unchanged {
		return err
	}
	return r.append(ctx, note)
}

// checkpoint has the workspace on record before a cell, so that a cell which a crash cut
// short begins again with the files that it had.
func (r *run) checkpoint(ctx context.Context, cell string) error {
	if r.noted(record.NoteSnapshot, cell) {
		return r.restore(r.files())
	}
	note, err := r.picture(cell)
	if err != nil {
		return err
	}
	return r.append(ctx, note)
}

func (r *run) picture(cell string) (record.RunNote, error) {
	note := record.RunNote{Note: record.NoteSnapshot, Call: cell}
	list, err := r.scan(everything)
	if err != nil {
		return note, err
	}
	now, err := canonical.Hash(append([]record.RunFile{}, list...))
	if err != nil {
		return note, err
	}
	last, err := canonical.Hash(append([]record.RunFile{}, r.files()...))
	if now == last {
		note.Text = unchanged
	} else {
		note.Files = list
	}
	return note, err
}

// files are those of the last snapshot, else those that the task began with.
func (r *run) files() []record.RunFile {
	r.state.Lock()
	defer r.state.Unlock()
	for _, n := range slices.Backward(r.t.Notes) {
		if n.Note == record.NoteSnapshot && n.Text != unchanged {
			return slices.Clone(n.Files)
		}
	}
	return r.visible(r.t.Opened.Task.Files)
}

// visible are the files of a task that tools and code see.
func (r *run) visible(list []record.RunFile) []record.RunFile {
	return slices.DeleteFunc(slices.Clone(list), func(f record.RunFile) bool { return r.hides(f.Path) })
}

func (r *run) hides(name string) bool {
	seen := r.contract.Workspace.Visible
	return len(seen) > 0 && !matches(seen, name)
}

// outputs are the files that the contract declares as the run's result.
func (r *run) outputs() ([]record.RunFile, error) {
	if len(r.contract.Workspace.Outputs) == 0 {
		return nil, nil
	}
	return r.scan(func(name string) bool { return matches(r.contract.Workspace.Outputs, name) })
}

// copyTo puts the workspace's files into another directory, and those of the task that the
// model does not see, whatever it has put in their place.
func (r *run) copyTo(dir string) error {
	list, err := r.scan(everything)
	if err != nil {
		return err
	}
	list = slices.DeleteFunc(list, func(f record.RunFile) bool {
		return slices.ContainsFunc(r.t.Opened.Task.Files, func(t record.RunFile) bool { return t.Path == f.Path && r.hides(f.Path) })
	})
	hidden := slices.DeleteFunc(slices.Clone(r.t.Opened.Task.Files), func(f record.RunFile) bool { return !r.hides(f.Path) })
	return r.h.lay(dir, append(list, hidden...))
}

// restore makes the workspace hold these files and no others.
func (r *run) restore(list []record.RunFile) error {
	root, err := os.OpenRoot(r.dir)
	if err != nil {
		return disk.Error(err, "the workspace cannot be opened")
	}
	defer root.Close() // a directory handle
	entries, err := fs.ReadDir(root.FS(), ".")
	for _, e := range entries {
		err = errors.Join(err, root.RemoveAll(e.Name()))
	}
	if err != nil {
		return disk.Error(err, "the workspace cannot be emptied")
	}
	return r.h.lay(r.dir, list)
}

// lay puts kept files into a directory.
func (h *Harness) lay(dir string, list []record.RunFile) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return disk.Error(err, "the workspace cannot be opened")
	}
	defer root.Close() // a directory handle
	for _, f := range list {
		if !filepath.IsLocal(f.Path) || path.Clean(f.Path) != f.Path || f.Path == "." {
			return errs.New(errs.InvalidRequest, "the file "+errs.Clip(f.Path)+" does not lie in the workspace", "use a relative path without ..").In("files")
		}
		b, err := h.files.get(f.Digest)
		if err != nil {
			return err
		}
		if dir := path.Dir(f.Path); dir != "." {
			err = root.MkdirAll(dir, 0o755)
		}
		if err = errors.Join(err, root.WriteFile(f.Path, b, 0o644), disk.Hand(root, f.Path)); err != nil {
			return disk.Error(err, "the file "+f.Path+" cannot be put into the workspace")
		}
	}
	return nil
}

// matches tells whether a path fits one of the patterns; ** stands for any number of parts.
func matches(patterns []string, name string) bool {
	for _, p := range patterns {
		if fits(strings.Split(p, "/"), strings.Split(name, "/")) {
			return true
		}
	}
	return false
}

func fits(pattern, name []string) bool {
	if len(pattern) == 0 {
		return len(name) == 0
	}
	if pattern[0] == "**" {
		for i := range len(name) + 1 {
			if fits(pattern[1:], name[i:]) {
				return true
			}
		}
		return false
	}
	if len(name) == 0 {
		return false
	}
	ok, err := path.Match(pattern[0], name[0])
	return err == nil && ok && fits(pattern[1:], name[1:])
}
