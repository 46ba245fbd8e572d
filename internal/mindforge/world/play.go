package world

import (
	"context"
	"io/fs"
	"os"
	"path"
	"strings"
	"sync"

	"macaron/internal/bench"
	"macaron/internal/disk"
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
