package builtin

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"pgregory.net/rapid"

	"macaron/internal/errs"
	"macaron/internal/tool"
)

// newWorkspace makes a directory with a secret beside it.
func newWorkspace(t testing.TB) (string, Files) {
	t.Helper()
	outer := t.TempDir()
	dir := filepath.Join(outer, "ws")
	if err := os.MkdirAll(filepath.Join(outer, "out"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(outer, "out", "secret"), []byte("canary"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	return dir, Files{Dir: dir}
}

func invoke(t testing.TB, x tool.Tool, args any) (string, error) {
	t.Helper()
	b, err := json.Marshal(args)
	if err != nil {
		t.Fatal(err)
	}
	r, err := x.Invoke(context.Background(), tool.Call{ID: "c", Name: x.Def().Name, Arguments: b})
	return string(r.Value), err
}

type m = map[string]any

func TestFilesByTheirTools(t *testing.T) {
	_, f := newWorkspace(t)
	tools := f.Tools()
	for _, c := range []struct {
		tool, args, want string
		code             errs.Code
	}{
		{"files.write", `{"path":"a/b.txt","text":"one\ntwo\nthree"}`, `{"bytes":13,"created":true}`, ""},
		{"files.write", `{"path":"/a/c.py","text":"x = 1\n"}`, `{"bytes":6,"created":true}`, ""},
		{"files.read", `{"path":"a/b.txt"}`, `{"text":"one\ntwo\nthree","lines":3}`, ""},
		{"files.read", `{"path":"a/b.txt","from":2,"lines":1}`, `{"text":"two\n","lines":1,"more":true}`, ""},
		{"files.read", `{"path":"a/b.txt","from":9}`, `{"text":"","lines":0}`, ""},
		{"files.list", `{}`, `{"entries":[{"path":"a","kind":"directory"},{"path":"a/b.txt","kind":"file","bytes":13},{"path":"a/c.py","kind":"file","bytes":6}]}`, ""},
		{"files.list", `{"depth":1}`, `{"entries":[{"path":"a","kind":"directory"}]}`, ""},
		{"files.list", `{"path":"a","glob":"*.py"}`, `{"entries":[{"path":"a/c.py","kind":"file","bytes":6}]}`, ""},
		{"files.search", `{"pattern":"t[wh]"}`, `{"matches":[{"path":"a/b.txt","line":2,"text":"two"},{"path":"a/b.txt","line":3,"text":"three"}]}`, ""},
		{"files.patch", `{"path":"a/b.txt","edits":[{"old":"two","new":"2"},{"old":"2\n","new":"2!\n"}]}`, `{"bytes":12,"created":false}`, ""},
		{"files.read", `{"path":"a/b.txt"}`, `{"text":"one\n2!\nthree","lines":3}`, ""},
		{"files.patch", `{"path":"a/b.txt","edits":[{"old":"one","new":"1"},{"old":"e","new":"x"}]}`, ``, errs.InvalidRequest},
		{"files.read", `{"path":"a/b.txt","lines":1}`, `{"text":"one\n","lines":1,"more":true}`, ""},
		{"files.read", `{"path":"a"}`, ``, errs.InvalidRequest},
		{"files.read", `{"path":"none"}`, ``, errs.NotFound},
		{"files.read", `{"path":"../out/secret"}`, ``, errs.Forbidden},
		{"files.write", `{"path":"../out/new","text":""}`, ``, errs.Forbidden},
		{"files.write", `{"path":"a","text":""}`, ``, errs.InvalidRequest},
		{"files.write", `{"path":".","text":""}`, ``, errs.InvalidRequest},
		{"files.write", `{"path":"a/b.txt/c","text":""}`, ``, errs.InvalidRequest},
		{"files.search", `{"pattern":"("}`, ``, errs.InvalidRequest},
		{"files.read", `{"path":"a","other":1}`, ``, errs.InvalidRequest},
	} {
		x := tools[c.tool]
		r, err := x.Invoke(context.Background(), tool.Call{Arguments: json.RawMessage(c.args)})
		if errs.CodeOf(err) != c.code || string(r.Value) != c.want {
			t.Errorf("%s %s: %s, %v", c.tool, c.args, r.Value, err)
		}
	}
}

// TestNoPathLeadsOut: random trees of directories and links, some of which lead out of the
// workspace, and random paths through them; nothing outside is read, listed, found or changed.
func TestNoPathLeadsOut(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		dir, f := newWorkspace(t)
		names := []string{"a", "b", "c"}
		targets := []string{"..", "../out", "../out/secret", "../../out/secret", filepath.Dir(dir) + "/out/secret", filepath.Dir(dir), "/", "a", "b/c", ".", "../ws", "c/../../out/secret"}
		for range rapid.IntRange(1, 8).Draw(rt, "entries") {
			at := filepath.Join(dir, rapid.SampledFrom([]string{"", "a", "b", "a/b"}).Draw(rt, "dir"), rapid.SampledFrom(names).Draw(rt, "name"))
			if os.MkdirAll(filepath.Dir(at), 0o755) != nil {
				continue
			}
			// What is there already, or lies behind a link that leads nowhere, stays.
			_ = os.Symlink(rapid.SampledFrom(targets).Draw(rt, "target"), at)
		}
		before := outside(t, dir)
		p := strings.Join(rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "c", "..", "out", "secret", "ws", ".", "", "new"}), 1, 6).Draw(rt, "path"), "/")
		tools := f.Tools()
		for name, args := range map[string]m{
			"files.read": {"path": p}, "files.list": {"path": p}, "files.search": {"path": p, "pattern": "canary"}, "files.write": {"path": p, "text": "overwritten"},
			"files.patch": {"path": p, "edits": []m{{"old": "canary", "new": "x"}}},
		} {
			got, err := invoke(t, tools[name], args)
			if strings.Contains(got, "canary") || strings.Contains(fmt.Sprint(err), dir) {
				rt.Fatalf("%s %q gives %s %v", name, p, got, err)
			}
			if after := outside(t, dir); after != before {
				rt.Fatalf("%s %q changed what is outside:\n%s\n%s", name, p, before, after)
			}
		}
	})
}

// outside describes everything beside the workspace.
func outside(t *testing.T, dir string) string {
	t.Helper()
	var b strings.Builder
	for _, d := range []string{filepath.Dir(dir), filepath.Join(filepath.Dir(dir), "out")} {
		entries, err := os.ReadDir(d)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			text, _ := os.ReadFile(filepath.Join(d, e.Name())) // a directory has no text
			fmt.Fprintf(&b, "%s=%s;", e.Name(), text)
		}
	}
	return b.String()
}

func TestLinksInsideAreWrittenThrough(t *testing.T) {
	dir, f := newWorkspace(t)
	for _, err := range []error{os.WriteFile(filepath.Join(dir, "real"), []byte("1"), 0o600), os.Symlink("real", filepath.Join(dir, "link"))} {
		if err != nil {
			t.Fatal(err)
		}
	}
	if got, err := invoke(t, f.Tools()["files.write"], m{"path": "link", "text": "22"}); err != nil || got != `{"bytes":2,"created":false}` {
		t.Fatal(got, err)
	}
	b, err := os.ReadFile(filepath.Join(dir, "real"))
	info, err2 := os.Lstat(filepath.Join(dir, "link"))
	if err != nil || err2 != nil || string(b) != "22" || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("%q %v %v %v", b, info.Mode(), err, err2)
	}
	if info, err := os.Stat(filepath.Join(dir, "real")); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("its mode became %v", info.Mode())
	}
}

func TestPipesAreNotWaitedFor(t *testing.T) {
	dir, f := newWorkspace(t)
	if err := syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o644); err != nil {
		t.Fatal(err)
	}
	for name, args := range map[string]m{"files.read": {"path": "pipe"}, "files.write": {"path": "pipe", "text": "x"}, "files.patch": {"path": "pipe", "edits": []m{{"old": "a", "new": "b"}}}} {
		if got, err := invoke(t, f.Tools()[name], args); errs.CodeOf(err) != errs.InvalidRequest {
			t.Errorf("%s: %s %v", name, got, err)
		}
	}
	if got, err := invoke(t, f.Tools()["files.search"], m{"pattern": "x"}); err != nil || got != `{"matches":[]}` {
		t.Error(got, err)
	}
}

func TestSizesAreBounded(t *testing.T) {
	dir, f := newWorkspace(t)
	f.MaxBytes, f.MaxFiles = 100, 2
	write := f.Tools()["files.write"]
	for _, c := range []struct {
		path string
		size int
		code errs.Code
	}{{"a", 60, ""}, {"b", 60, errs.TooLarge}, {"a", 100, ""}, {"a", 40, ""}, {"b", 60, ""}, {"c", 0, errs.TooLarge}} {
		if got, err := invoke(t, write, m{"path": c.path, "text": strings.Repeat("x", c.size)}); errs.CodeOf(err) != c.code {
			t.Errorf("%s of %d: %s %v", c.path, c.size, got, err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "big"), make([]byte, maxFile+1), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := invoke(t, f.Tools()["files.read"], m{"path": "big"}); errs.CodeOf(err) != errs.TooLarge {
		t.Error(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "binary"), []byte{0xff, 0, 1}, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := invoke(t, f.Tools()["files.read"], m{"path": "binary"}); errs.CodeOf(err) != errs.Unsupported {
		t.Error(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "many"), []byte(strings.Repeat("hit\n", maxMatches+1)), 0o644); err != nil {
		t.Fatal(err)
	}
	if got, err := invoke(t, f.Tools()["files.search"], m{"pattern": "hit"}); err != nil || strings.Count(got, "hit") != maxMatches || !strings.Contains(got, `"more":true`) {
		t.Errorf("%d %v", strings.Count(got, "hit"), err)
	}
}

func TestFailedWriteLeavesNothing(t *testing.T) {
	dir, f := newWorkspace(t)
	if err := os.Symlink("../out/new", filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	got, err := invoke(t, f.Tools()["files.write"], m{"path": "link", "text": "x"})
	if errs.CodeOf(err) != errs.Forbidden {
		t.Error(got, err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 1 {
		t.Errorf("%v %v", entries, err)
	}
}
