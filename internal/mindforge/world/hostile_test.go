package world_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"macaron/internal/mindforge"
	"macaron/internal/mindforge/world"
	"macaron/internal/tool"
	"macaron/internal/tool/gate"
)

// unkept is a ledger that keeps nothing.
type unkept struct{}

func (unkept) Past(context.Context, tool.Call, tool.Def) (*tool.Result, error) { return nil, nil }
func (unkept) Begin(context.Context, tool.Call, tool.Def) error                { return nil }
func (unkept) End(context.Context, tool.Call, tool.Result) error               { return nil }

// Tools have schemas that a gate takes, and withstand arguments that are none.
func TestToolsWithstandHostileArguments(t *testing.T) {
	each(t, func(t *testing.T, w world.World, family string) {
		task := make1(t, w, family, 3, 5)
		c, err := w.Open(task)
		if err != nil {
			t.Fatal(err)
		}
		step, err := c.Step(t.Context(), 0, nil)
		if err != nil {
			t.Fatal(err)
		}
		var all []tool.Tool
		for _, x := range step.Offer(t.TempDir()) {
			all = append(all, x)
		}
		if _, err := gate.New(gate.Options{Tools: all, Ledger: unkept{}}); err != nil {
			t.Fatal(err)
		}
		for _, x := range all {
			for _, args := range []string{``, `{`, `[]`, `{"file":"../../etc/passwd"}`, `{"item":{}}`, `{"a":1e99,"b":1}`, `{"a":9999999999999999,"b":9999999999999999}`, `{"list":","}`, `{"text":"` + strings.Repeat("x", 5000) + `","file":"a"}`, `{} {}`} {
				if _, err := x.Invoke(t.Context(), tool.Call{Arguments: json.RawMessage(args)}); err == nil && len(args) > 2 {
					t.Errorf("%s takes %s", x.Def().Name, errClip(args))
				}
			}
		}
	})
}

func errClip(s string) string { return s[:min(len(s), 60)] }

// What a hostile run leaves in the place of a file is not followed, not waited for, and not
// taken for the file.
func TestAHostileWorkspace(t *testing.T) {
	g := world.Goal{Files: map[string]string{"a.txt": "secret\n"}, Gone: []string{"b.txt"}}
	outside := filepath.Join(t.TempDir(), "outside")
	if err := os.WriteFile(outside, []byte("secret\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, lay := range map[string]func(at string) error{
		"nothing":   func(string) error { return nil },
		"link":      func(at string) error { return os.Symlink(outside, at) },
		"directory": func(at string) error { return os.Mkdir(at, 0o700) },
		"pipe":      func(at string) error { return syscall.Mkfifo(at, 0o600) },
		"large":     func(at string) error { return os.WriteFile(at, []byte(strings.Repeat("secret\n", 1000)), 0o600) },
		"inner link": func(at string) error {
			return os.Symlink(filepath.Base(at)+"x", at)
		},
	} {
		dir := t.TempDir()
		if err := lay(filepath.Join(dir, "a.txt")); err != nil {
			t.Fatal(err)
		}
		left, err := world.Left(dir, g)
		if err != nil {
			t.Fatal(err)
		}
		if g.Judge("", left).Points != 0 {
			t.Errorf("%s passes", name)
		}
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a.txt"), []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	left, err := world.Left(dir, g)
	if err != nil || g.Judge("anything", left).Points != 1 {
		t.Error("the file does not pass", err)
	}
	if err := os.Symlink("nowhere", filepath.Join(dir, "b.txt")); err != nil {
		t.Fatal(err)
	}
	if left, err = world.Left(dir, g); err != nil || g.Judge("", left).Points != 0 {
		t.Error("what must be gone is there as a link, and passes", err)
	}
}

// Names of tasks are hostile too.
func TestNamesOfTasks(t *testing.T) {
	for _, id := range []string{"", "compose", "compose/item_price/0", "none/item_price/0/1", "compose/none/0/1", "compose/item_price/99/1", "compose/item_price/-1/1", "compose/item_price/0/x", "compose/item_price/0/1+", "compose/item_price/0/1+none.1", "compose/item_price/0/1+lift.x", "compose/item_price/00/1", "compose/item_price/0/1+lift.01", strings.Repeat("x", 5000)} {
		if task, err := world.Again(worlds, id); err == nil {
			t.Errorf("%q is the task %s", id, task.ID)
		}
	}
	task := make1(t, worlds[0], "item_price", 0, 1)
	for range world.MaxWays {
		task.Ways = append(task.Ways, mindforge.Step{Way: mindforge.Lift, Seed: 1})
	}
	if _, err := worlds[0].Harder(task, mindforge.Lift, 1); err == nil {
		t.Error("a task is made harder without a bound")
	}
}

// A solution that names calls that there are not, and tools that the task does not offer, fails.
func TestStrangeSolutionsFail(t *testing.T) {
	task := make1(t, worlds[0], "item_room", 0, 1)
	good := task.Judged.Solution
	for what, change := range map[string]func(s *mindforge.Solution){
		"a later call":  func(s *mindforge.Solution) { s.Calls[0].Args = map[string]string{"item": "$1"} },
		"another tool":  func(s *mindforge.Solution) { s.Calls[0].Tool = "save_text" },
		"more args":     func(s *mindforge.Solution) { s.Calls[0].Args["x"] = "1" },
		"a large ref":   func(s *mindforge.Solution) { s.Answer = "$9999" },
		"another order": func(s *mindforge.Solution) { slices.Reverse(s.Calls) },
	} {
		s := mindforge.Solution{Answer: good.Answer}
		for _, c := range good.Calls {
			args := map[string]string{}
			for k, v := range c.Args {
				args[k] = v
			}
			s.Calls = append(s.Calls, mindforge.Call{Tool: c.Tool, Args: args})
		}
		change(&s)
		if score, err := world.Play(t.Context(), worlds[0], task, s); err != nil || score.Points != 0 {
			t.Errorf("%s: %v %v", what, score, err)
		}
	}
	good.Answer = "$1" // the value of the last call is an answer too
	if score, err := world.Play(t.Context(), worlds[0], task, good); err != nil || score.Points != 1 {
		t.Error(score, err)
	}
}

// A text that looks like the value of a call is a text where it is meant as one.
func TestTextsThatLookLikeValues(t *testing.T) {
	goal := world.Goal{Files: map[string]string{"a.txt": "$5 and $$\n", "b.txt": "$0\n"}}
	write := func(file, text string) mindforge.Call {
		return mindforge.Call{Tool: "write_text", Args: map[string]string{"file": file, "text": mindforge.Literal(text)}}
	}
	good := mindforge.Solution{Calls: []mindforge.Call{write("a.txt", "$5 and $$"), write("b.txt", "$0")}, Answer: "done"}
	f := world.Free{World: "terminal", Instruction: "Write it.", Answer: "Answer done.", Goal: goal, Solution: good, Failing: make([]mindforge.Solution, 3)}
	task, err := worlds[1].Free(f)
	if err != nil {
		t.Fatal(err)
	}
	if score, err := world.Play(t.Context(), worlds[1], task, good); err != nil || score.Points != 1 {
		t.Error(score, err)
	}
	good.Calls[1].Args["text"] = "$0" // what the first call gave
	if score, err := world.Play(t.Context(), worlds[1], task, good); err != nil || score.Points != 0 {
		t.Error(score, err)
	}
}
