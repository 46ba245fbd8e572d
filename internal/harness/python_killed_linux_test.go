package harness

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"macaron/internal/backend"
	"macaron/internal/chat"
	"macaron/internal/contract"
	"macaron/internal/record"
	"macaron/internal/tool"
)

// sandboxed lists the living processes below this one: those of its sandboxes.
func sandboxed() (pids []int, names map[int]string) {
	parents, names := map[int]int{}, map[int]string{}
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, path := range stats {
		text, err := os.ReadFile(path)
		if err != nil {
			continue
		}
		head, tail, _ := strings.Cut(string(text), ") ")
		id, name, _ := strings.Cut(head, " (")
		fields := strings.Fields(tail)
		pid, _ := strconv.Atoi(id)
		if parent, err := strconv.Atoi(fields[1]); err == nil && fields[0] != "Z" {
			parents[pid], names[pid] = parent, name
		}
	}
	below := []int{os.Getpid()}
	for i := 0; i < len(below); i++ {
		for pid, parent := range parents {
			if parent == below[i] {
				below = append(below, pid)
			}
		}
	}
	return below[1:], names
}

// slay kills the outermost process of the sandbox that has a name, or the innermost one.
func slay(t *testing.T, name string) (family []int) {
	t.Helper()
	family, names := sandboxed()
	for _, pid := range family {
		if strings.HasPrefix(names[pid], name) {
			if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
				t.Error(err)
			}
			return family
		}
	}
	t.Errorf("no %s among %v", name, names)
	return family
}

// vanished waits until none of the processes lives.
func vanished(t *testing.T, family []int) {
	t.Helper()
	var left []int
	for range 6000 {
		left = left[:0]
		_, names := sandboxed()
		for _, pid := range family {
			if names[pid] != "" {
				left = append(left, pid)
			}
		}
		if len(left) == 0 {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Errorf("the processes %v are left", left)
}

// The Python or its bwrap is killed from outside in the middle of a cell. The run goes on
// with an empty namespace, and the model is told; where a change was under way that nobody
// knows the end of, the run is in doubt. No effect happens twice, and no process stays.
func TestPythonKilledWithinACell(t *testing.T) {
	const wait = "\nopen('here', 'w').close()\nimport time; time.sleep(60)\n"
	for when, c := range map[string]struct{ code, effects string }{
		"before a call":           {wait + "effect(1)", "2"},
		"in a call that ends":     {"effect(1)\neffect(9)", "1 2"},
		"in a call that gives up": {"effect(1)\neffect(9)", "1 2"},
		"after a call":            {"effect(1)" + wait, "1 2"},
	} {
		for mode, victim := range map[contract.Mode]string{contract.REPL: "python", contract.Hybrid: "bwrap"} {
			t.Run(fmt.Sprintf("%s, %s, %s", when, mode, victim), func(t *testing.T) {
				dir := t.TempDir()
				kind := tool.Write
				if mode == contract.Hybrid { // its code changes nothing
					kind = tool.Read
				}
				var family []int
				count := countingTools(dir)[0].(function)
				effect := function{count.def, func(ctx context.Context, args map[string]any) (any, error) {
					out, err := count.do(ctx, args)
					if args["n"].(float64) != 1 || !strings.HasPrefix(when, "in") {
						return out, err
					}
					family = slay(t, victim)
					if vanished(t, family); when == "in a call that ends" {
						return out, err
					}
					<-ctx.Done()
					return nil, ctx.Err()
				}}
				effect.def.Effect = kind
				r := setup(t, dir, "", script(say("```python\nx = 1\n"+c.code+"\n```"), "```python\neffect(2)\n'x' in globals()\n```", "7"), true, effect)
				if !strings.HasPrefix(when, "in") {
					killed := make(chan []int, 1)
					go func() {
						for range 10_000 {
							if here, _ := filepath.Glob(filepath.Join(dir, "runs", "*", "work", "here")); len(here) > 0 {
								killed <- slay(t, victim)
								return
							}
							time.Sleep(5 * time.Millisecond)
						}
						killed <- nil
					}()
					defer func() { vanished(t, <-killed) }()
				}
				got := r.run(t, Options{Mode: mode})
				told, effects := []string{"Its names are gone", "False"}, c.effects
				if when == "in a call that gives up" && kind == tool.Write {
					if got.Status != record.RunInDoubt || got.Call == "" {
						t.Fatalf("%+v", got)
					}
					r.check(t, when, story{code: true, effects: "1"})
					var err error
					if got, err = r.Resume(ctx, "o", got.RunID, Decision{AssumeDone: got.Call}, Options{}); err != nil {
						t.Fatal(err)
					}
					told, effects = []string{"9", "True"}, "1 9 2" // the cell ran anew
				}
				done(t, got, "7")
				for i, text := range r.shown(t, got.RunID) {
					if !strings.Contains(text, told[i]) {
						t.Errorf("%d: %q, want %q", i, text, told[i])
					}
				}
				r.check(t, when, story{code: true, effects: effects})
			})
		}
	}
}

// Killed while the model thinks, or when the cell is about to be sent, the Python is brought back
// from the record, and the cell runs in it.
func TestPythonKilledBetweenCells(t *testing.T) {
	for _, moment := range []string{"the model thinks", "the cell is sent"} {
		for _, victim := range []string{"python", "bwrap"} {
			dir := t.TempDir()
			policy := script("```python\nx = effect(1)\n```", "```python\neffect(x + 1)\n```", "7")
			answer, asked, sent := policy.On, 0, 0
			policy.On = func(ctx context.Context, q backend.Request, emit func(chat.Event) bool) (bool, error) {
				if asked++; asked == 2 && moment == "the model thinks" {
					vanished(t, slay(t, victim))
				}
				return answer(ctx, q, emit)
			}
			r := setup(t, dir, `mode = "repl"`, policy, true, countingTools(dir)...)
			r.Point = func(name string) {
				if name != "cell" {
					return
				}
				if sent++; sent == 2 && moment == "the cell is sent" {
					vanished(t, slay(t, victim))
				}
			}
			done(t, r.run(t, Options{}), "7")
			r.check(t, victim+" as "+moment, story{code: true, effects: "1 2"})
		}
	}
}
