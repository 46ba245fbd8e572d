package engineserver

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"macaron/internal/adapter"
	"macaron/internal/clock"
	"macaron/internal/errs"
	"macaron/internal/ids"
)

// list is a list whose adapters are files: a revision is its file's content.
func list(t *testing.T, dirs ...string) (*Names, *[]string) {
	t.Helper()
	var dropped []string
	n := New(Options{Base: []string{"base", "alias"}, Dirs: dirs, Clock: clock.System{},
		Check: func(name, dir string) (adapter.Revision, error) {
			b, err := os.ReadFile(dir)
			if err != nil {
				return adapter.Revision{}, errs.Wrap(errs.NotFound, err, "there is none", "")
			}
			return adapter.Revision{Name: name, Hash: ids.Digest(b)}, nil
		},
		Drop: func(r adapter.Revision) { dropped = append(dropped, string(r.Hash)) },
	})
	return n, &dropped
}

func file(t *testing.T, dir, name, content string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func want(t *testing.T, err error, code errs.Code, words string) {
	t.Helper()
	if errs.CodeOf(err) != code || !strings.Contains(err.Error(), words) {
		t.Errorf("%v, not %s with %q", err, code, words)
	}
}

func TestNamesComeAndGo(t *testing.T) {
	dir := t.TempDir()
	n, dropped := list(t)
	one, two := file(t, dir, "one", "1"), file(t, dir, "two", "2")
	for _, step := range []struct{ name, path string }{{"a", one}, {"org/b", two}, {"c", one}} {
		if err := n.Load(step.name, step.path, false); err != nil {
			t.Fatal(err)
		}
	}
	want(t, n.Load("a", two, false), errs.InvalidRequest, "has already been loaded")
	want(t, n.Load("base", two, false), errs.InvalidRequest, "conflicts with a served base model")
	want(t, n.Load("x", filepath.Join(dir, "none"), false), errs.NotFound, "there is none")
	want(t, n.Load("", two, false), errs.InvalidRequest, "no name")
	want(t, n.Load("x", "", false), errs.InvalidRequest, "must be provided")
	want(t, n.Unload("x"), errs.AdapterNotFound, "cannot be found")
	if err := n.Load("a", two, true); err != nil {
		t.Fatal(err)
	}
	if len(*dropped) != 0 { // c still stands for it
		t.Errorf("dropped %q", *dropped)
	}
	if err := n.Unload("c"); err != nil || len(*dropped) != 1 || (*dropped)[0] != "1" {
		t.Errorf("%v, dropped %q", err, *dropped)
	}
	if r, err := n.Find("a"); err != nil || r.Hash != "2" {
		t.Errorf("%+v, %v", r, err)
	}
	if r, err := n.Find("alias"); err != nil || !r.IsBase() {
		t.Errorf("%+v, %v", r, err)
	}
	_, err := n.Find("c")
	want(t, err, errs.ModelNotFound, "does not exist")
	if l := n.List(); len(l) != 2 || l[0].Name != "a" || l[1].Name != "org/b" || l[1].Path != two {
		t.Errorf("%+v", l)
	}
}

func TestAdaptersStayInTheirDirectories(t *testing.T) {
	allowed, other := t.TempDir(), t.TempDir()
	file(t, allowed, "in", "1")
	secret := file(t, other, "out", "2")
	if err := os.Symlink(secret, filepath.Join(allowed, "link")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(allowed, "in"), filepath.Join(allowed, "self")); err != nil {
		t.Fatal(err)
	}
	n, _ := list(t, allowed)
	for _, path := range []string{"in", filepath.Join(allowed, "in"), "./in", "self"} {
		if err := n.Load("ok", path, true); err != nil {
			t.Errorf("%s: %v", path, err)
		}
	}
	for _, path := range []string{secret, "link", "../" + filepath.Base(other) + "/out", "..", "none", "/etc/passwd", "in/../../x", "a\x00b"} {
		if err := n.Load("bad", path, true); err == nil {
			t.Errorf("%q was loaded", path)
		}
	}
}
