package repl

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// TestMain lets the test's own program be the worker of the starlark backend.
func TestMain(m *testing.M) {
	if len(os.Args) == 3 && os.Args[1] == "sandbox-worker" {
		WorkAsProcess(os.Args[2])
	}
	grace = 6 * time.Second
	os.Exit(m.Run())
}

func starlarkPool(t *testing.T, o Options) *Pool {
	o.Backend, o.Worker = "starlark", []string{"/proc/self/exe", "sandbox-worker"}
	return pool(t, o)
}

func TestStarlarkSession(t *testing.T) {
	interrupt := func() {}
	s := session(t, starlarkPool(t, Options{PoolSize: 1}), SessionOptions{
		Stubs: []Stub{{Name: "begun"}, {Name: "add", Params: []string{"a", "b"}}, {Name: "files.read", Params: []string{"path"}}},
		Call: func(_ context.Context, _, name string, args json.RawMessage) (json.RawMessage, error) {
			var a struct{ A, B int }
			if name == "begun" { // soon, also this call has ended
				time.AfterFunc(50*time.Millisecond, interrupt)
				return json.RawMessage("null"), nil
			}
			if name != "add" {
				return nil, &CallError{Code: "not_found", Message: "no such file"}
			}
			if err := json.Unmarshal(args, &a); err != nil {
				return nil, err
			}
			return json.Marshal(a.A + a.B)
		}})
	if out := run(t, s, "x = 20\nprint('hello')\nx + 1"); out.Status != OK || out.Output != "hello\n" || out.Value != "21" {
		t.Errorf("%+v", out)
	}
	if out := run(t, s, "def f(n):\n    return x * n\n[f(i) for i in range(3)], add(1, b=2), _"); out.Value != "([0, 20, 40], 3, 21)" || out.Calls != 1 {
		t.Errorf("%+v", out)
	}
	if out := run(t, s, "n = 0\nwhile n < 48:\n    n = add(n, 1)\nn"); out.Value != "48" || out.Calls != 48 {
		t.Errorf("%+v", out)
	}
	if out := run(t, s, "files.read('x')"); out.Status != Raised || !strings.Contains(out.Traceback, "not_found: no such file") || !strings.Contains(out.Traceback, "<cell 4>") {
		t.Errorf("%+v", out)
	}
	if out := run(t, s, "1 // 0"); out.Status != Raised || !strings.Contains(out.Traceback, "division by zero") {
		t.Errorf("%+v", out)
	}
	interrupt = s.Interrupt
	if out := run(t, s, "begun()\nwhile True:\n    x += 1"); out.Status != Interrupted {
		t.Errorf("%+v", out)
	}
	if out := run(t, s, "x > 20"); out.Value != "True" {
		t.Errorf("the namespace is gone: %+v", out)
	}
	if _, err := s.pool.Exec(t.Context(), Command{Args: []string{"true"}}); err == nil {
		t.Error("a command ran")
	}
}

// What there is to escape by: nothing of it is in the language, and limits end the rest.
func TestStarlarkEscapes(t *testing.T) {
	p := starlarkPool(t, Options{Limits: Limits{MemoryMB: 512, CPUSeconds: 5}})
	for _, c := range []struct {
		name, code string
		limits     Limits
		status     Status
	}{
		{"open", `open("/etc/passwd")`, Limits{}, Raised},
		{"import", `import os`, Limits{}, Raised},
		{"load", `load("/etc/passwd", "x")`, Limits{}, Raised},
		{"exec", `exec("1")`, Limits{}, Raised},
		{"eval", `eval("1")`, Limits{}, Raised},
		{"dunder", `print.__class__`, Limits{}, Raised},
		{"getattr", `getattr(print, "__self__")`, Limits{}, Raised},
		{"json bomb", `json.decode("[" * 1000000)`, Limits{}, Died},
		{"memory", "x = [1]\nwhile True:\n    x = x + x", Limits{}, Died},
		{"text", "s = 'x'\nwhile True:\n    s = s + s", Limits{}, Died},
		{"endless loop", "while True:\n    pass", Limits{WallMS: 3000}, Interrupted},  // which is also the limit of the cell before it
		{"recursion", "def f():\n    return f()\nf()", Limits{MemoryMB: 512}, Raised}, // the interpreter bounds its stack; with less memory that may end first
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.limits.MemoryMB == 0 {
				c.limits.MemoryMB = 64
			}
			s := session(t, p, SessionOptions{Limits: c.limits})
			defer s.Close()
			if ran := run(t, s, `print("ran")`); ran.Output != "ran\n" {
				t.Fatalf("%+v", ran)
			}
			out := run(t, s, c.code)
			if out.Status != c.status {
				t.Errorf("%+v", out)
			}
		})
	}
}

func TestStarlarkIsReplayed(t *testing.T) {
	p := starlarkPool(t, Options{})
	o := SessionOptions{Stubs: []Stub{{Name: "ask"}}, Call: func(context.Context, string, string, json.RawMessage) (json.RawMessage, error) {
		return json.RawMessage(`[1, 2]`), nil
	}}
	s := session(t, p, o)
	run(t, s, "a = {'x': ask()}\nb = a['x']\ndef f():\n    return len(b)")
	snap, err := s.Snapshot(t.Context())
	if err != nil || snap.Kept != nil || len(snap.Lost) != 3 {
		t.Fatalf("%+v, %v", snap, err)
	}
	o.Call = nil
	r, err := p.Restore(t.Context(), o, snap)
	if err != nil {
		t.Fatal(err)
	}
	if out := run(t, r, "b.append(3); (a['x'], f())"); out.Value != "([1, 2, 3], 3)" {
		t.Errorf("%+v", out)
	}
	pid := s.engine.(*alone).cmd.Process.Pid
	if env, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "environ")); err != nil || len(env) > 0 {
		t.Errorf("the worker's environment: %q, %v", env, err)
	}
}
