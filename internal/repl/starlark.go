package repl

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"

	starjson "go.starlark.net/lib/json"
	"go.starlark.net/starlark"
	"go.starlark.net/starlarkstruct"
	"go.starlark.net/syntax"
)

// dialect is Starlark with loops at the top level, sets, recursion, and names that may be
// bound again: what a cell of Python expects, as far as the language has it.
var dialect = &syntax.FileOptions{Set: true, While: true, TopLevelControl: true, GlobalReassign: true, Recursion: true}

// worker is the interpreter's side of the protocol for the backend without a sandbox of
// the kernel. The language has no files, network, processes or clock; the process that
// it runs in has limits.
type worker struct {
	out, print io.Writer
	nonce      string
	globals    starlark.StringDict
	given      map[string]bool // names of tools
	requests   chan request

	mu      sync.Mutex
	cell    string
	thread  *starlark.Thread
	last    int64
	pending map[int64]chan request
}

// Work serves one session on two pipes until the first one ends; then the process must
// end too. It is what the command sandbox-worker does.
func Work(in io.Reader, out, printed io.Writer) error {
	w := &worker{out: out, print: printed, globals: starlark.StringDict{}, given: map[string]bool{}, requests: make(chan request, 4), pending: map[int64]chan request{}}
	if err := w.send(map[string]any{"op": "up"}); err != nil {
		return err
	}
	go w.serve()
	for {
		m, err := receive[request](in)
		if err != nil {
			return err
		}
		switch m.Op {
		case "return":
			w.mu.Lock()
			c := w.pending[m.ID]
			delete(w.pending, m.ID)
			w.mu.Unlock()
			if c != nil {
				c <- m
			}
		case "interrupt":
			w.mu.Lock()
			if w.thread != nil && w.cell == m.Cell {
				w.thread.Cancel("KeyboardInterrupt")
			}
			for id, c := range w.pending {
				c <- request{Error: &CallError{Code: "interrupted", Message: "the cell was interrupted"}}
				delete(w.pending, id)
			}
			w.mu.Unlock()
		default:
			w.requests <- m
		}
	}
}

func (w *worker) send(m map[string]any) error {
	m["nonce"] = w.nonce
	return writeFrame(w.out, m)
}

func (w *worker) serve() {
	for m := range w.requests {
		var err error
		switch m.Op {
		case "hello":
			w.nonce = m.Nonce
			w.give(m.Stubs)
			err = w.send(map[string]any{"op": "ready"})
		case "run":
			err = w.run(m)
		case "keep":
			err = w.keep()
		default:
			err = w.send(map[string]any{"op": "failed", "message": "this interpreter loads nothing: a replay brings its sessions back"})
		}
		if err != nil {
			return // the other side is gone, and Work sees it
		}
	}
}

// give binds the tools; a dot makes an attribute.
func (w *worker) give(stubs []stub) {
	groups := map[string]starlark.StringDict{}
	for _, s := range stubs {
		group, attr, dotted := strings.Cut(s.Name, ".")
		w.given[group] = true
		if !dotted {
			w.globals[s.Name] = w.tool(s)
			continue
		}
		if groups[group] == nil {
			groups[group] = starlark.StringDict{}
		}
		groups[group][attr] = w.tool(s)
	}
	for name, members := range groups {
		w.globals[name] = &starlarkstruct.Module{Name: name, Members: members}
	}
	for name, module := range map[string]starlark.Value{"json": starjson.Module, "struct": starlark.NewBuiltin("struct", starlarkstruct.Make)} {
		w.globals[name], w.given[name] = module, true
	}
}

func (w *worker) tool(s stub) *starlark.Builtin {
	return starlark.NewBuiltin(s.Name, func(t *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
		if len(args) > len(s.Params) {
			return nil, fmt.Errorf("%s takes %d positional arguments (%s), %d were given", s.Name, len(s.Params), strings.Join(s.Params, ", "), len(args))
		}
		given := starlark.NewDict(len(args) + len(kwargs))
		for i, a := range args {
			if err := given.SetKey(starlark.String(s.Params[i]), a); err != nil {
				return nil, err
			}
		}
		for _, kv := range kwargs {
			if _, twice, _ := given.Get(kv[0]); twice {
				return nil, fmt.Errorf("%s got more than one value for %s", s.Name, kv[0])
			}
			if err := given.SetKey(kv[0], kv[1]); err != nil {
				return nil, err
			}
		}
		return w.call(t, s.Name, given)
	})
}

// call blocks until the host has answered.
func (w *worker) call(t *starlark.Thread, name string, given *starlark.Dict) (starlark.Value, error) {
	text, err := starlark.Call(t, starjson.Module.Members["encode"], starlark.Tuple{given}, nil)
	if err != nil {
		return nil, err
	}
	answer := make(chan request, 1)
	w.mu.Lock()
	w.last++
	id := w.last
	w.pending[id] = answer
	w.mu.Unlock()
	if err := w.send(map[string]any{"op": "call", "id": id, "name": name, "args": raw(text.(starlark.String))}); err != nil {
		return nil, err
	}
	m := <-answer
	if m.Error != nil {
		return nil, fmt.Errorf("ToolError: %s: %s", m.Error.Code, m.Error.Message)
	}
	return starlark.Call(t, starjson.Module.Members["decode"], starlark.Tuple{starlark.String(m.Value)}, nil)
}

// run runs a cell and echoes its last expression.
func (w *worker) run(m request) error {
	t := &starlark.Thread{Name: m.Cell, Print: func(_ *starlark.Thread, text string) { fmt.Fprintln(w.print, text) }}
	w.mu.Lock()
	w.cell, w.thread = m.Cell, t
	w.mu.Unlock()
	value, err := w.exec(t, m)
	w.mu.Lock()
	w.thread = nil
	w.mu.Unlock()
	done := map[string]any{"op": "done", "cell": m.Cell, "status": OK}
	switch {
	case err != nil && strings.Contains(err.Error(), "KeyboardInterrupt"):
		done["status"], done["exception"], done["traceback"] = Interrupted, "KeyboardInterrupt", shown(err)
	case err != nil:
		done["status"], done["exception"], done["traceback"] = Raised, "Error", shown(err)
	case value != nil && value != starlark.None:
		w.globals["_"] = value
		text := value.String()
		done["value"] = text[:min(len(text), 64<<10)]
	}
	return w.send(done)
}

func shown(err error) string {
	text := err.Error()
	var e *starlark.EvalError
	if errors.As(err, &e) {
		text = e.Backtrace()
	}
	return text[:min(len(text), 64<<10)]
}

func (w *worker) exec(t *starlark.Thread, m request) (starlark.Value, error) {
	file, err := dialect.Parse("<cell "+m.Cell+">", m.Code, 0)
	if err != nil {
		return nil, err
	}
	var last syntax.Expr
	if n := len(file.Stmts); n > 0 {
		if e, ok := file.Stmts[n-1].(*syntax.ExprStmt); ok {
			last, file.Stmts = e.X, file.Stmts[:n-1]
		}
	}
	if err := starlark.ExecREPLChunk(file, t, w.globals); err != nil || last == nil {
		return nil, err
	}
	return starlark.EvalExprOptions(dialect, t, last, w.globals)
}

// keep names what is bound. Starlark is deterministic, so a replay brings all of it back
// with its sharing, which no copy of values would.
func (w *worker) keep() error {
	lost := []string{}
	for name := range w.globals {
		if !w.given[name] && name != "_" {
			lost = append(lost, name)
		}
	}
	slices.Sort(lost)
	return w.send(map[string]any{"op": "kept", "lost": lost})
}

type raw string

// MarshalJSON gives text that is JSON already.
func (r raw) MarshalJSON() ([]byte, error) { return []byte(r), nil }

// WorkAsProcess is Work on descriptors 3 and 4, under the limits that the first argument
// has; the process ends with it.
func WorkAsProcess(limits string) {
	if err := limitSelf(limits); err != nil {
		fmt.Fprintln(os.Stderr, "sandbox-worker:", err)
		os.Exit(1)
	}
	_ = Work(os.NewFile(3, "requests"), os.NewFile(4, "replies"), os.Stdout) // its end is the end of the session
	os.Exit(0)
}
