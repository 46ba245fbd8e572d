package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"macaron/internal/disk/disktest"
	"macaron/internal/engine/enginetest"
	"macaron/internal/store/sqlite"
)

func init() { disktest.Main() } // this process may be the program whose disk fails

var each = flag.Int("disk.each", 311, "tests of a failing disk have each so many-th call fail; make test-disk has every one")

// plot is a directory with a home in it that is put back before every trial.
type plot struct {
	t     *testing.T
	dir   string
	fresh string // a copy of dir as each trial finds it
	flags []string
}

func newPlot(t *testing.T) *plot {
	t.Helper()
	p := &plot{t: t, dir: filepath.Join(t.TempDir(), "plot"), fresh: t.TempDir(), flags: append([]string{"--json", "--log-level", "error"}, tiny(t)...)}
	home := filepath.Join(p.dir, "home")
	p.must(os.MkdirAll(home, 0o700))
	contract, err := os.ReadFile(p.flags[6])
	p.must(err)
	p.flags[4], p.flags[6] = home, filepath.Join(p.dir, "macaron.toml")
	p.must(os.WriteFile(p.flags[6], contract, 0o600))
	conversations(t, p.dir)
	recipeOf(t, p.dir, "sft", "sft", "talk.jsonl", "")
	return p
}

func (p *plot) must(err error) {
	p.t.Helper()
	if err != nil {
		p.t.Fatal(err)
	}
}

// line fills in a line of the table.
func (p *plot) line(text string) []string {
	known := strings.NewReplacer("$DIR", p.dir, "$HOME", filepath.Join(p.dir, "home"), "$TOOL", p.tool(), "$DATASET", p.dataset())
	line := append([]string(nil), p.flags...)
	for _, a := range strings.Fields(text) {
		line = append(line, known.Replace(a))
	}
	return line
}

// tool is the digest of the tool of testdata/tool.json.
func (p *plot) tool() string {
	return "sha256:60f7ecb9f91b67fd5a58044c5f79ee39df2d834f614051384d9a254cd282ffb2"
}

// dataset is the one dataset of the home.
func (p *plot) dataset() string {
	list, err := filepath.Glob(filepath.Join(p.dir, "home", "datasets", strings.Repeat("[0-9a-f]", 64)))
	if err != nil || len(list) == 0 {
		return "none"
	}
	return list[0]
}

// prepare makes what a deed finds.
func (p *plot) prepare(d deed) {
	p.t.Helper()
	home := filepath.Join(p.dir, "home")
	for name, seed := range map[string]uint64{"new": 7, "other": 8} {
		p.must(os.CopyFS(filepath.Join(p.dir, name), os.DirFS(enginetest.Adapter(p.t, seed))))
	}
	for name, seed := range map[string]uint64{"a.gguf": 3, "b.gguf": 4} {
		p.must(os.WriteFile(filepath.Join(p.dir, name), enginetest.ModelBytes(seed), 0o600))
	}
	for _, line := range d.before {
		switch line {
		case "talk":
			from, _ := talked(p.t)
			p.must(os.CopyFS(home, os.DirFS(from)))
		case "own":
			serveOwnTools(p.t, home)
			p.copy(p.flags[6], filepath.Join(home, "macaron.toml"))
		default:
			if code, out := p.sound(line); code != 0 {
				p.t.Fatalf("%s: %d %s", line, code, out)
			}
		}
	}
	p.keep()
}

// keep has every trial begin with what there is now.
func (p *plot) keep() {
	p.t.Helper()
	p.copy(p.dir, p.fresh)
}

func (p *plot) reset() {
	p.t.Helper()
	p.copy(p.fresh, p.dir)
}

// copy makes to what from is, with every right.
func (p *plot) copy(from, to string) {
	p.t.Helper()
	p.must(os.RemoveAll(to))
	if out, err := exec.Command("cp", "-a", from, to).CombinedOutput(); err != nil {
		p.t.Fatalf("%v: %s", err, out)
	}
}

// sound does a line on a sound disk and gives its exit code and output.
func (p *plot) sound(text string) (int, string) {
	if text == "serve" {
		out, failed := speak(p.t, "", p.line(text))
		if strings.Contains(out, "http://") {
			return 0, out
		}
		return 10, out + failed
	}
	code, out, failed := invoke(p.t, "", p.line(text)...)
	return code, out + failed
}

// outputs are what a process says on its two ways.
type outputs struct{ out, err bytes.Buffer }

// command is this program as a process of its own; one that serves ends when it has said where.
func (p *plot) command(ctx context.Context, text string) (*exec.Cmd, *outputs) {
	cmd := exec.CommandContext(ctx, os.Args[0])
	cmd.Args = append([]string{"macaron"}, p.line(text)...)
	out := &outputs{}
	cmd.Stderr = &out.err
	cmd.Stdout = writer(func(b []byte) (int, error) {
		if bytes.Contains(b, []byte("http://")) {
			_ = cmd.Process.Signal(os.Interrupt) // it may have ended
		}
		return out.out.Write(b)
	})
	return cmd, out
}

// watched does a line under a plan of faults and gives how it ended, the calls that counted
// and those that failed.
func (p *plot) watched(text string, plan disktest.Plan) (code int, out string, seen, struck []disktest.Call) {
	p.t.Helper()
	ctx, stop := context.WithTimeout(p.t.Context(), time.Minute)
	defer stop()
	cmd, told := p.command(ctx, text)
	w, err := disktest.Start(cmd, p.dir, plan)
	p.must(err)
	err = cmd.Wait()
	p.must(w.Close())
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		p.t.Fatal(err)
	}
	seen, struck = w.Seen()
	return cmd.ProcessState.ExitCode(), told.out.String() + told.err.String(), seen, struck
}

// check looks at the log of the plot's home, if there is one.
func (p *plot) check() error {
	path := filepath.Join(p.dir, "home", "log.db")
	if _, err := os.Stat(path); err != nil {
		return nil
	}
	return sqlite.Check(p.t.Context(), path)
}
