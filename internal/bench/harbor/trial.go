package harbor

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"macaron/internal/disk"
	"macaron/internal/errs"
	"macaron/internal/repl"
)

// Sandbox runs commands apart from this machine; repl.Pool is one.
type Sandbox interface {
	Exec(ctx context.Context, c repl.Command) (repl.Exit, error)
}

// Trial is one attempt at a task. Its directory has app, agent (logs), verifier (logs).
type Trial struct {
	Task    *Task
	Sandbox Sandbox
	Dir     string // absolute, without links; made
	image   *image
	given   Packages
}

// Result is what came of a trial.
type Result struct {
	Task    string             `json:"task"`
	Agent   string             `json:"agent"`
	Reward  float64            `json:"reward"`
	Rewards map[string]float64 `json:"rewards"`
	Exit    int                `json:"verifier_exit"`
	Notes   []string           `json:"notes,omitempty"`
	Run     string             `json:"run,omitempty"`
}

// Open builds the environment.
func Open(ctx context.Context, t *Task, s Sandbox, dir string, given Packages) (*Trial, error) {
	text, err := read(t.Dir, "environment/Dockerfile")
	if err != nil {
		return nil, err
	}
	im, err := readImage(string(text), given)
	if err != nil {
		return nil, err
	}
	maps.Copy(im.env, t.Config.Env.Env)
	if t.Config.Env.Workdir != "" {
		im.workdir = t.Config.Env.Workdir
	}
	tr := &Trial{Task: t, Sandbox: s, Dir: dir, image: im, given: given}
	for _, d := range []string{"app", "agent", "artifacts", "verifier"} {
		if err := os.Mkdir(filepath.Join(dir, d), 0o755); err != nil {
			return nil, disk.Error(err, "the trial's directory cannot be made")
		}
	}
	if err := os.MkdirAll(filepath.Join(dir, strings.TrimPrefix(im.workdir, "/")), 0o755); err != nil {
		return nil, disk.Error(err, "the trial's directory cannot be made")
	}
	for _, c := range im.copies {
		if err := place(filepath.Join(t.Dir, "environment", c[0]), filepath.Join(dir, c[1]), strings.HasSuffix(c[1], "/")); err != nil {
			return nil, err
		}
	}
	for _, command := range im.run {
		exit, err := tr.Shell(ctx, command, t.Config.Env.BuildSeconds, nil)
		if err == nil && exit.Code != 0 {
			err = errs.New(errs.Unsupported, "RUN "+errs.Clip(command)+" fails here: "+errs.Clip(exit.Output), "there is no network, and only /app can be written")
		}
		if err != nil {
			return nil, err
		}
	}
	return tr, nil
}

// place copies a file or the content of a directory. Links are refused.
func place(from, to string, into bool) error {
	st, err := os.Lstat(from)
	switch {
	case err != nil:
		return errs.Wrap(errs.NotFound, err, "the task has no "+from, "")
	case st.IsDir():
		return tree(from, to)
	case into:
		to = filepath.Join(to, filepath.Base(from))
	}
	return file(from, to, st.Mode())
}

func tree(from, to string) error {
	return filepath.WalkDir(from, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(from, p)
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil || d.IsDir() {
			return errors.Join(err, os.MkdirAll(filepath.Join(to, rel), 0o755))
		}
		return file(p, filepath.Join(to, rel), info.Mode())
	})
}

func file(from, to string, mode fs.FileMode) error {
	if !mode.IsRegular() {
		return errs.New(errs.Unsupported, from+" is no regular file", "")
	}
	b, err := os.ReadFile(from)
	if err == nil {
		err = os.MkdirAll(filepath.Dir(to), 0o755)
	}
	if err == nil {
		err = os.WriteFile(to, b, mode.Perm()|0o444) // the sandbox's user is not the owner of what it may only read
	}
	return disk.Error(err, to+" cannot be written")
}

// Shell runs a command as the agent does: it may write /app, /logs/agent and
// /logs/artifacts, and there is neither /tests nor /logs/verifier.
func (tr *Trial) Shell(ctx context.Context, command string, seconds float64, more map[string]string) (repl.Exit, error) {
	return tr.exec(ctx, []string{"/bin/bash", "-c", command}, seconds, more,
		repl.Bind{From: tr.Dir + "/app", To: app, Writable: true}, repl.Bind{From: tr.Dir + "/agent", To: "/logs/agent", Writable: true}, repl.Bind{From: tr.Dir + "/artifacts", To: "/logs/artifacts", Writable: true})
}

func (tr *Trial) exec(ctx context.Context, args []string, seconds float64, more map[string]string, binds ...repl.Bind) (repl.Exit, error) {
	env := maps.Clone(tr.image.env)
	maps.Copy(env, more)
	if alternatives != "" {
		binds = append(binds, repl.Bind{From: alternatives, To: "/etc/alternatives"})
	}
	return tr.Sandbox.Exec(ctx, repl.Command{Args: args, Dir: tr.image.workdir, Binds: binds, Env: env,
		Limits: repl.Limits{WallMS: int(seconds * 1000), MemoryMB: tr.Task.Config.Env.MemoryMB}})
}

// alternatives is Debian's directory of links into /usr, by which awk and its like are
// found. It has names of installed programs and nothing else.
var alternatives = func() string {
	const dir = "/etc/alternatives"
	if real, err := filepath.EvalSymlinks(dir); err != nil || real != dir {
		return ""
	}
	return dir
}()

// Oracle runs the task's own solution.
func (tr *Trial) Oracle(ctx context.Context) error {
	if _, err := read(tr.Task.Dir, "solution/solve.sh"); err != nil {
		return err
	}
	if err := tree(filepath.Join(tr.Task.Dir, "solution"), filepath.Join(tr.Dir, "solution")); err != nil {
		return err
	}
	exit, err := tr.exec(ctx, []string{"/bin/bash", "/solution/solve.sh"}, tr.Task.Config.Agent.Seconds, tr.Task.Config.Solution.Env,
		repl.Bind{From: tr.Dir + "/app", To: app, Writable: true}, repl.Bind{From: tr.Dir + "/solution", To: "/solution"})
	if err == nil && exit.Code != 0 {
		err = errs.New(errs.Internal, fmt.Sprintf("the solution ends with %d: %s", exit.Code, errs.Clip(exit.Output)), "")
	}
	return err
}

// Verify runs the tests in a sandbox of their own, on a copy of what the agent left: they
// come into being only now, and the place of the reward is new and empty.
func (tr *Trial) Verify(ctx context.Context) (Result, error) {
	r := Result{Task: tr.Task.Name, Notes: slices.Clone(tr.Task.Notes)}
	if tr.image.pip {
		r.Notes = append(r.Notes, "the image's Python packages are there for the verifier only")
	}
	tests, left := filepath.Join(tr.Dir, "tests"), filepath.Join(tr.Dir, "left")
	if err := tree(filepath.Join(tr.Task.Dir, "tests"), tests); err != nil {
		return r, err
	}
	if err := os.CopyFS(left, os.DirFS(filepath.Join(tr.Dir, "app"))); err != nil {
		return r, errs.Wrap(errs.Unsupported, err, "what the agent left cannot be copied", "links and devices in /app are not")
	}
	seconds := tr.Task.Config.Verifier.Seconds
	if seconds == 0 {
		seconds = 600
	}
	env := maps.Clone(tr.image.env)
	maps.Copy(env, tr.Task.Config.Verifier.Env)
	binds := append(tr.given.show(env), repl.Bind{From: left, To: app, Writable: true}, repl.Bind{From: tests, To: "/tests"},
		repl.Bind{From: tr.Dir + "/verifier", To: "/logs/verifier", Writable: true}, repl.Bind{From: tr.Dir + "/artifacts", To: "/logs/artifacts"})
	exit, err := tr.exec(ctx, []string{"/bin/bash", "/tests/test.sh"}, seconds, env, binds...)
	if err != nil {
		return r, err
	}
	r.Exit = exit.Code
	if err := os.WriteFile(filepath.Join(tr.Dir, "verifier.txt"), []byte(exit.Output), 0o600); err != nil {
		return r, disk.Error(err, "the verifier's output cannot be kept")
	}
	r.Rewards, err = reward(filepath.Join(tr.Dir, "verifier"))
	r.Reward = r.Rewards["reward"]
	return r, err
}

// reward reads reward.json, numbers by name, or reward.txt, one number. The exit code of a
// verifier says nothing. A number that is not finite, and a file that is a link, are refused.
func reward(dir string) (map[string]float64, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, disk.Error(err, "the verifier's directory cannot be read")
	}
	defer root.Close() // a directory handle
	out := map[string]float64{}
	bad := func(err error) error {
		return errs.Wrap(errs.FormatInvalid, err, "the verifier's reward cannot be read", "reward.txt has one number, reward.json numbers by name")
	}
	if b, err := small(root, "reward.json"); err == nil {
		if err := json.NewDecoder(bytes.NewReader(b)).Decode(&out); err != nil || len(out) == 0 {
			return nil, bad(fmt.Errorf("reward.json: %w", cmp.Or(err, errors.New("there is no number in it"))))
		}
		if _, ok := out["reward"]; !ok && len(out) == 1 {
			for _, v := range out {
				out["reward"] = v
			}
		}
	} else if b, err := small(root, "reward.txt"); err == nil {
		if out["reward"], err = strconv.ParseFloat(strings.TrimSpace(string(b)), 64); err != nil {
			return nil, bad(err)
		}
	} else {
		return nil, errs.Wrap(errs.NotFound, err, "the verifier has written no reward", "its output is in verifier.txt")
	}
	for name, v := range out {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return nil, bad(fmt.Errorf("%s is not finite", name))
		}
	}
	return out, nil
}

func small(root *os.Root, name string) ([]byte, error) {
	st, err := root.Lstat(name)
	if err != nil {
		return nil, err
	}
	if !st.Mode().IsRegular() || st.Size() > maxText {
		return nil, fmt.Errorf("%s is no small regular file", name)
	}
	return root.ReadFile(name)
}
