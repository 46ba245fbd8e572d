package harness

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"macaron/internal/errs"
	"macaron/internal/record"
	"macaron/internal/store/sqlite"
	"macaron/internal/tool"
)

// The child of the kill tests: this program again, which runs or resumes a run in a
// directory and kills itself at the n-th point.
const childEnv = "MACARON_TEST_RUN"

// story is one run that the kill tests cut.
type story struct {
	agent   string
	answers []say
	code    bool
	writes  bool // every write of the log is a point, too
	saves   bool // a tool, once
	answer  string
	effects string // what must have happened, each once
}

var stories = map[string]story{
	"functions": {writes: true, answers: []say{"look {\"n\":1}\neffect {\"n\":1}", `effect {"n":2}`, `keep {"text":"remember this"}`, "nine", "9"}, answer: "9", effects: "1 2",
		agent: "\n[memory]\nmax_items = 4\n[[tools]]\nname = \"keep\"\nuse = \"builtin:memory.add\"\n[[hooks]]\nname = \"digits\"\non = \"stop\"\ncheck = \"answer.matches\"\nwith = {pattern = \"[0-9]+\"}\n"},
	"code": {code: true, agent: `mode = "repl"`, answer: "7", effects: "1 2 3",
		answers: []say{"```python\nx = look(1)\neffect(1)\nopen('a.txt', 'a').write('a')\n```", "```python\nfor i in (2, 3):\n    effect(i)\n    x += 3\nopen('a.txt', 'a').write('b')\n```", "```python\n(x, open('a.txt').read())\n```", "7"}},
	"saves": {code: true, writes: true, saves: true, agent: saving, answers: []say{`save_tool {"name":"twice","source":"def twice(n: int):\n    return n * 2\n"}`, "kept"}, answer: "kept"},
}

const saving = "\n[[tools]]\nname = \"save_tool\"\nuse = \"builtin:tools.save\"\n"

// countingTools are tools whose calls are lines of a file.
func countingTools(dir string) []tool.Tool {
	line := func(name string, e tool.Effect) function {
		return number(name, e, func(n int) (any, error) {
			f, err := os.OpenFile(filepath.Join(dir, name), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
			if err != nil {
				return nil, err
			}
			_, err = fmt.Fprintln(f, n)
			return n, joined(err, f.Close())
		})
	}
	return []tool.Tool{line("effect", tool.Write), line("look", tool.Read)}
}

// child runs in the other process.
func child() {
	var o struct {
		Dir, Story, Run string
		At              int
	}
	must(json.Unmarshal([]byte(os.Getenv(childEnv)), &o))
	s := stories[o.Story]
	t := &loose{}
	var reach func(string)
	if s.writes {
		fault = func(stage sqlite.Stage, k record.Kind) error {
			if reach != nil {
				reach(string(stage) + " " + string(k))
			}
			return nil
		}
	}
	r := setup(t, o.Dir, s.agent, script(s.answers...), s.code, countingTools(o.Dir)...)
	points := 0
	reach = func(name string) {
		if points++; points == o.At {
			must(os.WriteFile(filepath.Join(o.Dir, "killed"), []byte(name), 0o600))
			must(syscall.Kill(os.Getpid(), syscall.SIGKILL))
			select {}
		}
	}
	r.Point = reach
	if o.Run == "" {
		_, err := r.Run(ctx, "o", Task{Instruction: "do it"}, Options{})
		must(err)
	} else {
		_, err := r.Resume(ctx, "o", o.Run, Decision{}, Options{})
		must(err)
	}
	t.end()
}

func must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(3)
	}
}

// loose stands for the test in the other process.
type loose struct {
	testing.TB
	cleanups []func()
}

func (l *loose) Helper()          {}
func (l *loose) Cleanup(f func()) { l.cleanups = append(l.cleanups, f) }
func (l *loose) Fatal(a ...any)   { fmt.Fprintln(os.Stderr, a...); os.Exit(3) }
func (l *loose) Error(a ...any)   { l.Fatal(a...) }

func (l *loose) end() {
	for i := len(l.cleanups) - 1; i >= 0; i-- {
		l.cleanups[i]()
	}
}

// spawn runs the child and tells whether it was killed.
func spawn(t *testing.T, dir, name, run string, at int) (killed bool) {
	t.Helper()
	o, err := json.Marshal(map[string]any{"Dir": dir, "Story": name, "Run": run, "At": at})
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(context.Background(), os.Args[0])
	cmd.Env = append(os.Environ(), childEnv+"="+string(o))
	out, err := cmd.CombinedOutput()
	if err == nil {
		return false
	}
	if st, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); !ok || st.Signal() != syscall.SIGKILL {
		t.Fatalf("the child ended by itself: %v\n%s", err, out)
	}
	return true
}

// A run that is killed at any point is resumed in another process and ends as it would
// have; each effect has happened once. Where nobody can know, the run says which call is
// in doubt, and goes on when a person has said.
func TestKilledAtEveryPoint(t *testing.T) {
	for name, s := range stories {
		doubts, points := 0, 0
		for at := 1; ; at++ {
			dir := t.TempDir()
			if !spawn(t, dir, name, "", at) {
				break
			}
			points++
			point, err := os.ReadFile(filepath.Join(dir, "killed"))
			if err != nil {
				t.Fatal(err)
			}
			where := fmt.Sprintf("%s, point %d (%s)", name, at, point)
			r := setup(t, dir, s.agent, script(s.answers...), s.code, countingTools(dir)...)
			left, err := r.Sweep(ctx)
			if err != nil || len(left) > 1 {
				t.Fatalf("%s: %+v %v", where, left, err)
			}
			all, err := r.List(ctx, "o", "", 9)
			if err != nil || len(all) > 1 {
				t.Fatalf("%s: %+v %v", where, all, err)
			}
			if len(all) == 0 { // it had not begun
				if got := lines(dir, "effect"); len(got) > 0 {
					t.Errorf("%s: %q, and no run", where, got)
				}
				continue
			}
			if all[0].Status == record.RunDone {
				r.check(t, where, s)
				continue
			}
			got, err := r.Resume(ctx, "o", all[0].Run, Decision{}, Options{})
			if err != nil {
				t.Fatalf("%s: %v", where, err)
			}
			if got.Status == record.RunInDoubt {
				doubts++
				got = r.settle(t, where, got)
			}
			if got.Status != record.RunDone || got.Answer != s.answer {
				t.Errorf("%s: %+v", where, got)
			}
			r.check(t, where, s)
		}
		t.Logf("%s: %d points, %d times in doubt", name, points, doubts)
		if !s.saves && (points < 30 || doubts == 0) || s.saves && (points < 20 || doubts > 0) {
			t.Errorf("%s: %d points, %d times in doubt", name, points, doubts)
		}
	}
}

// settle decides about the call in doubt as a person would: by looking whether its effect
// is there.
func (r *rig) settle(t *testing.T, where string, got Report) Report {
	t.Helper()
	run, err := r.Transcript(ctx, "o", got.RunID)
	if err != nil {
		t.Fatal(err)
	}
	var args struct{ N int }
	if c := run.Call(got.Call); c == nil || json.Unmarshal(c.Called.Arguments, &args) != nil {
		t.Fatalf("%s: in doubt, but not of what: %+v", where, got)
	}
	d := Decision{Retry: got.Call}
	for _, n := range lines(r.dir, "effect") {
		if n == strconv.Itoa(args.N) {
			d = Decision{AssumeDone: got.Call}
		}
	}
	got, err = r.Resume(ctx, "o", got.RunID, d, Options{})
	if err != nil && errs.CodeOf(err) != "" {
		t.Fatalf("%s: %v", where, err)
	}
	return got
}

// check counts effects.
func (r *rig) check(t *testing.T, where string, s story) {
	t.Helper()
	if got := strings.Join(lines(r.dir, "effect"), " "); got != s.effects {
		t.Errorf("%s: the effects are %q, want %q", where, got, s.effects)
	}
	if s.saves {
		r.savedOnce(t, where)
	}
	if !s.code {
		if items, err := r.log.Memory(ctx, "o", "test", 9); err != nil || len(items) != 1 {
			t.Errorf("%s: %d items %v", where, len(items), err)
		}
	}
}

// savedOnce wants one tool in the shed, one record of its saving, and in it the run.
func (r *rig) savedOnce(t *testing.T, where string) {
	t.Helper()
	runs, err := r.List(ctx, "o", "", 9)
	if err != nil || len(runs) != 1 {
		t.Fatalf("%s: %+v %v", where, runs, err)
	}
	shelves, err := r.log.Shed(ctx, "o", 9)
	if err != nil || len(shelves) != 1 {
		t.Fatalf("%s: %+v %v", where, shelves, err)
	}
	all, err := r.log.Records(ctx, "o", shelves[0].Session, 0, 9)
	if err != nil || len(all) != 2 {
		t.Fatalf("%s: %d records %v", where, len(all), err)
	}
	if b, ok := all[1].Body.(record.ToolSaved); !ok || b.Trajectory != runs[0].Run {
		t.Errorf("%s: %+v", where, all[1])
	}
}

func lines(dir, name string) []string {
	b, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		return nil
	}
	return strings.Fields(string(b))
}
