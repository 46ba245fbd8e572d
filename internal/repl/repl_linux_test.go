package repl

import (
	"cmp"
	"context"
	"encoding/json"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"
)

func pool(t *testing.T, o Options) *Pool {
	t.Helper()
	o.Root = cmp.Or(o.Root, filepath.Join(t.TempDir(), "work"))
	if o.Log == nil {
		o.Log = slog.New(slog.NewTextHandler(t.Output(), nil))
	}
	p, err := Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
	return p
}

func session(t *testing.T, p *Pool, o SessionOptions) *Session {
	t.Helper()
	s, err := p.Session(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func run(t *testing.T, s *Session, code string) Outcome {
	t.Helper()
	out, err := s.Run(t.Context(), Cell{Code: code})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestNamespaceLastsFromCellToCell(t *testing.T) {
	s := session(t, pool(t, Options{}), SessionOptions{})
	if out := run(t, s, "x = 20\nprint('hello')\nx + 1"); out.Status != OK || out.Output != "hello\n" || out.Value != "21" {
		t.Errorf("%+v", out)
	}
	if out := run(t, s, "def f(): return x * 2\nf() + _"); out.Value != "61" {
		t.Errorf("%+v", out)
	}
	if out := run(t, s, "x = 1; y = 2"); out.Value != "" || out.Output != "" {
		t.Errorf("a statement was echoed: %+v", out)
	}
}

func TestToolsCallBack(t *testing.T) {
	s := session(t, pool(t, Options{}), SessionOptions{
		Stubs: []Stub{{Name: "add", Doc: "adds", Params: []string{"a", "b"}}, {Name: "files.read", Params: []string{"path"}}},
		Call: func(_ context.Context, cell, name string, args json.RawMessage) (json.RawMessage, error) {
			if name == "add" {
				var a struct{ A, B int }
				if err := json.Unmarshal(args, &a); err != nil {
					return nil, err
				}
				return json.Marshal(a.A + a.B)
			}
			return nil, &CallError{Code: "not_found", Message: "no such file"}
		}})
	out := run(t, s, `
import threading
got = []
threads = [threading.Thread(target=lambda i=i: got.append(add(i, b=1))) for i in range(40)]
for t in threads: t.start()
for t in threads: t.join()
try: files.read("x")
except ToolError as e: print(e.code, e)
print(sum(got), add.__doc__)
`)
	if out.Status != OK || out.Output != "not_found no such file\n820 adds\n" || out.Calls != 41 {
		t.Errorf("%+v", out)
	}
}

func TestTracebackShowsTheCellOnly(t *testing.T) {
	s := session(t, pool(t, Options{}), SessionOptions{})
	out := run(t, s, "def f(n):\n    return 1 // n\n\nf(0)")
	if out.Status != Raised || out.Exception != "ZeroDivisionError" || strings.Contains(out.Traceback, "macaron") || !strings.Contains(out.Traceback, "return 1 // n") {
		t.Errorf("%+v", out)
	}
	if out = run(t, s, "1 +"); out.Exception != "SyntaxError" || strings.Contains(out.Traceback, "macaron") {
		t.Errorf("%+v", out)
	}
	if out = run(t, s, "exit(3)"); out.Exception != "NameError" && out.Exception != "SystemExit" {
		t.Errorf("%+v", out)
	}
	if out = run(t, s, "f(1)"); out.Value != "1" {
		t.Errorf("the namespace is gone: %+v", out)
	}
}
