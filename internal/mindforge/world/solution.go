package world

import (
	"context"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"strings"

	"macaron/internal/bench"
	"macaron/internal/disk"
	"macaron/internal/errs"
	"macaron/internal/mindforge"
	"macaron/internal/tool"
)

// Play plays a solution against a fresh copy of a task, through the tools that its runs have.
// A call that fails ends it: the solution fails.
func Play(ctx context.Context, w World, t mindforge.Task, s mindforge.Solution) (bench.Score, error) {
	c, err := w.Open(t)
	if err != nil {
		return bench.Score{}, err
	}
	return PlayCase(ctx, c, s)
}

// PlayCase is Play of a case that is open. It closes it.
func PlayCase(ctx context.Context, c bench.Case, s mindforge.Solution) (bench.Score, error) {
	return PlayWith(ctx, c, s, More{})
}

// More is what a solution is played with beside what its task offers.
type More struct {
	Below string // directory in which workspaces are made; "": that of temporary files
	// Tools gives tools that work on a workspace, beside the offered ones, by the names that
	// solutions call them with. Where both have a name, the task's is called. nil: there are none.
	Tools func(workspace string, offered map[string]tool.Tool) (map[string]tool.Tool, error)
}

// PlayWith is PlayCase with more tools.
func PlayWith(ctx context.Context, c bench.Case, s mindforge.Solution, more More) (score bench.Score, err error) {
	defer func() {
		if closed := c.Close(); err == nil {
			err = closed
		}
	}()
	step, err := c.Step(ctx, 0, nil)
	if err != nil {
		return bench.Score{}, err
	}
	if step.Files == nil && more.Tools != nil {
		step.Files = map[string][]byte{} // a run has a workspace, whatever its task is about
	}
	dir, err := lay(step.Files, more.Below)
	if err != nil {
		return bench.Score{}, err
	}
	defer os.RemoveAll(dir) // a temporary directory
	offered, err := laid(step, dir, more)
	if err != nil {
		return bench.Score{}, err
	}
	answer, failed := play(s, func(name string, args map[string]string) (string, error) { return Invoke(ctx, offered[name], args) })
	if failed != nil {
		return bench.Score{Note: errs.Clip(failed.Error())}, nil
	}
	if l, ok := c.(bench.Witness); ok {
		if err := l.Look(ctx, 0, dir); err != nil {
			return bench.Score{}, err
		}
	}
	return c.Score(ctx, []string{answer})
}

// laid are the tools that a solution can call in a workspace.
func laid(step bench.Step, dir string, more More) (map[string]tool.Tool, error) {
	offered := map[string]tool.Tool{}
	for _, t := range step.Tools {
		offered[t.Def().Name] = t
	}
	if step.Offer != nil {
		maps.Copy(offered, step.Offer(dir))
	}
	if more.Tools == nil {
		return offered, nil
	}
	out, err := more.Tools(dir, maps.Clone(offered))
	if err != nil {
		return nil, err
	}
	maps.Copy(out, offered)
	return out, nil
}

// Lay makes a workspace, which the caller removes; "" where the task has none.
func Lay(files map[string][]byte) (string, error) { return lay(files, "") }

func lay(files map[string][]byte, below string) (string, error) {
	if files == nil {
		return "", nil
	}
	dir, err := os.MkdirTemp(below, "macaron-task-")
	if err != nil {
		return "", disk.Error(err, "a workspace cannot be made")
	}
	for name, content := range files {
		at := filepath.Join(dir, name)
		if err = os.MkdirAll(filepath.Dir(at), 0o700); err == nil {
			err = os.WriteFile(at, content, 0o600)
		}
		if err != nil {
			return "", disk.Error(err, at+" cannot be written")
		}
	}
	return dir, nil
}

// play makes the calls of a solution, one after the other, and gives its answer, in which a
// value of a call may stand too.
func play(s mindforge.Solution, call func(name string, args map[string]string) (string, error)) (string, error) {
	var values []string
	put := func(v string) (string, error) {
		at, ok := Ref(v)
		if !ok {
			if strings.HasPrefix(v, "$$") { // mindforge.Literal
				v = v[1:]
			}
			return v, nil
		}
		if at >= len(values) {
			return "", bad("there is no call "+v, "")
		}
		return values[at], nil
	}
	for _, c := range s.Calls {
		args := map[string]string{}
		for name, v := range c.Args {
			filled, err := put(v)
			if err != nil {
				return "", err
			}
			args[name] = filled
		}
		v, err := call(c.Tool, args)
		if err != nil {
			return "", err
		}
		values = append(values, v)
	}
	return put(s.Answer)
}

// Invoke calls a tool with the arguments of a solution, and gives the result as solutions use it.
func Invoke(ctx context.Context, t tool.Tool, args map[string]string) (string, error) {
	if t == nil {
		return "", notFound("there is no such tool", "")
	}
	raw, err := arguments(t.Def().Parameters, args)
	if err != nil {
		return "", err
	}
	r, err := t.Invoke(ctx, tool.Call{Arguments: raw})
	switch {
	case err != nil:
		return "", err
	case r.Error != nil:
		return "", errs.New(r.Error.Code, r.Error.Message, "")
	}
	return text(r.Value), nil
}

// text is a result as solutions use it: a text itself, anything else as JSON.
func text(value json.RawMessage) string {
	var s string
	if json.Unmarshal(value, &s) != nil {
		return strings.TrimSpace(string(value))
	}
	return s
}

// arguments gives the arguments of a solution, which are texts, in the form of a tool's
// schema: what is no text there is JSON.
func arguments(schema json.RawMessage, args map[string]string) (json.RawMessage, error) {
	var takes struct {
		Properties map[string]struct {
			Type string `json:"type"`
		} `json:"properties"`
	}
	if err := json.Unmarshal(schema, &takes); err != nil {
		return nil, bad("the tool has no schema", "")
	}
	all := map[string]json.RawMessage{}
	for name, v := range args {
		if kind := takes.Properties[name].Type; kind != "" && kind != "string" && json.Valid([]byte(v)) {
			all[name] = json.RawMessage(v)
		} else {
			all[name] = quoted(v)
		}
	}
	return json.Marshal(all)
}
