package world

import (
	"context"
	"encoding/json"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"sync"

	"macaron/internal/bench"
	"macaron/internal/disk"
	"macaron/internal/errs"
	"macaron/internal/mindforge"
	"macaron/internal/tool"
)

// Open implements World. The task is made again: nothing that came with it is believed.
func (m Maker[S]) Open(t mindforge.Task) (bench.Case, error) {
	made, err := m.again(t)
	if err != nil {
		return nil, err
	}
	if made.ID != t.ID || t.World != m.rules.Name {
		return nil, notFound("the task is not what its name says: ", t.ID)
	}
	return &run[S]{m: m, t: made}, nil
}

func (m Maker[S]) again(t mindforge.Task) (task[S], error) {
	if !strings.HasPrefix(t.Family, FreeFamily) {
		return m.made(recipe{t.Family, t.Level, t.Seed, t.Ways})
	}
	var v Verifier
	if err := strict(t.Judged.Spec, &v); err != nil || v.Free == nil {
		return task[S]{}, notFound("the task comes without what it is opened with: ", t.ID)
	}
	return m.free(*v.Free)
}

// run is a task under way. Its tools may be called at the same time.
type run[S any] struct {
	m    Maker[S]
	t    task[S]
	mu   sync.Mutex
	last string            // what the last call that did not fail gave
	left map[string]string // the files that the run has left, of those that are judged
}

// Last, as an answer, is what the last call of a tool of the task gave. A contract may hold
// the model to it, which then acts without writing anything.
const Last = "$last"

// Steps implements bench.Case.
func (*run[S]) Steps() int { return 1 }

// Step implements bench.Case.
func (r *run[S]) Step(context.Context, int, []string) (bench.Step, error) {
	step := bench.Step{Instruction: Prompt(r.t.Task), Offer: r.offer}
	if r.m.rules.Files != nil {
		step.Files = map[string][]byte{}
		for name, text := range r.m.rules.Files(r.t.begin) {
			step.Files[name] = []byte(text)
		}
	}
	return step, nil
}

func (r *run[S]) offer(workspace string) map[string]tool.Tool {
	s := r.m.rules.Copy(r.t.begin)
	if r.m.rules.At != nil {
		s = r.m.rules.At(workspace, s)
	}
	out := map[string]tool.Tool{}
	for _, f := range r.t.offered {
		out[f.Name] = hosted[S]{f, s, r}
	}
	return out
}

// Look implements bench.Witness.
func (r *run[S]) Look(_ context.Context, _ int, workspace string) (err error) {
	if r.m.rules.Files != nil {
		r.left, err = Left(workspace, r.t.goal)
	}
	return err
}

// Score implements bench.Case.
func (r *run[S]) Score(_ context.Context, answers []string) (bench.Score, error) {
	answer := ""
	if len(answers) > 0 {
		answer = answers[0]
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if strings.TrimSpace(answer) == Last {
		answer = r.last
	}
	return r.t.goal.Judge(answer, r.left), nil
}

// Close implements bench.Case.
func (*run[S]) Close() error { return nil }

// Left reads the files that a goal is about out of a workspace, which may be hostile. What
// is no regular file is there, with a content that nothing is equal to.
func Left(workspace string, g Goal) (map[string]string, error) {
	root, err := os.OpenRoot(workspace)
	if err != nil {
		return nil, disk.Error(err, "the workspace cannot be looked at")
	}
	defer root.Close() // read only
	out := map[string]string{}
	for name, want := range g.Files {
		if text, ok := lies(root, name, len(want)+2); ok {
			out[name] = text
		}
	}
	for _, name := range g.Gone {
		if _, err := root.Lstat(name); err == nil {
			out[name] = ""
		}
	}
	return out, nil
}

const noText = "\x00 no regular file"

func lies(root *os.Root, name string, most int) (string, bool) {
	for dir := name; dir != "."; dir = path.Dir(dir) {
		info, err := root.Lstat(dir)
		if err != nil {
			return "", false
		}
		if dir == name && !info.Mode().IsRegular() || dir != name && info.Mode()&fs.ModeSymlink != 0 {
			return noText, true
		}
		if dir == name && info.Size() > int64(most) {
			return noText, true
		}
	}
	b, err := root.ReadFile(name)
	if err != nil || len(b) > most {
		return noText, true
	}
	return string(b), true
}

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
func PlayCase(ctx context.Context, c bench.Case, s mindforge.Solution) (score bench.Score, err error) {
	defer func() {
		if closed := c.Close(); err == nil {
			err = closed
		}
	}()
	step, err := c.Step(ctx, 0, nil)
	if err != nil {
		return bench.Score{}, err
	}
	dir, err := Lay(step.Files)
	if err != nil {
		return bench.Score{}, err
	}
	defer os.RemoveAll(dir) // a temporary directory
	offered := map[string]tool.Tool{}
	for _, t := range step.Tools {
		offered[t.Def().Name] = t
	}
	if step.Offer != nil {
		offered = step.Offer(dir)
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

// Lay makes a workspace, which the caller removes; "" where the task has none.
func Lay(files map[string][]byte) (string, error) {
	if files == nil {
		return "", nil
	}
	dir, err := os.MkdirTemp("", "macaron-task-")
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
