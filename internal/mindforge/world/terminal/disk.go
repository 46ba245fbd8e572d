package terminal

import (
	"context"
	"encoding/json"
	"os"
	"sort"

	"macaron/internal/errs"
	"macaron/internal/tool"
	"macaron/internal/tool/builtin"
)

// memory is a workspace that a task is drawn in.
type memory map[string]string

func (m memory) list() ([]string, error) {
	out := make([]string, 0, len(m))
	for name := range m {
		out = append(out, name)
	}
	sort.Strings(out)
	return out, nil
}

func (m memory) read(name string) (string, error) {
	text, ok := m[name]
	if !ok {
		return "", errs.New(errs.NotFound, "there is no file "+errs.Clip(name), "list the files")
	}
	return text, nil
}

func (m memory) write(name, text string) error {
	m[name] = text
	return nil
}

func (m memory) remove(name string) error {
	if _, err := m.read(name); err != nil {
		return err
	}
	delete(m, name)
	return nil
}

// rooted is the workspace of a run, with the tools that the program has for files: no path,
// and no link on its way, leads out of it.
type rooted struct{ dir string }

// The bounds of a workspace of this world.
const (
	maxBytes = 1 << 22
	maxFiles = 1000
)

func (r rooted) call(name string, args map[string]string, out any) error {
	raw, err := json.Marshal(args)
	if err != nil {
		return err
	}
	got, err := builtin.Files{Dir: r.dir, MaxBytes: maxBytes, MaxFiles: maxFiles}.Tools()[name].Invoke(context.Background(), tool.Call{Arguments: raw})
	switch {
	case err != nil:
		return err
	case got.Error != nil:
		return errs.New(got.Error.Code, got.Error.Message, "")
	}
	return json.Unmarshal(got.Value, out)
}

func (r rooted) list() ([]string, error) {
	var got struct {
		Entries []struct{ Path, Kind string }
	}
	if err := r.call("files.list", nil, &got); err != nil {
		return nil, err
	}
	var out []string
	for _, e := range got.Entries {
		if e.Kind == "file" {
			out = append(out, e.Path)
		}
	}
	sort.Strings(out)
	return out, nil
}

func (r rooted) read(name string) (string, error) {
	var got struct{ Text string }
	err := r.call("files.read", map[string]string{"path": name}, &got)
	return got.Text, err
}

func (r rooted) write(name, text string) error {
	var got any
	return r.call("files.write", map[string]string{"path": name, "text": text}, &got)
}

func (r rooted) remove(name string) error {
	root, err := os.OpenRoot(r.dir)
	if err != nil {
		return errs.Wrap(errs.StorageFailed, err, "the workspace cannot be opened", "")
	}
	defer root.Close() // what was removed is
	if info, err := root.Lstat(name); err != nil || !info.Mode().IsRegular() {
		return errs.New(errs.NotFound, "there is no file "+errs.Clip(name), "list the files")
	}
	return errs.Wrap(errs.StorageFailed, root.Remove(name), "the file cannot be removed", "")
}
