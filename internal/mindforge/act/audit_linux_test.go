package act

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"macaron/internal/backend"
	"macaron/internal/chat"
	"macaron/internal/harness"
	"macaron/internal/harness/harnesstest"
	"macaron/internal/mindforge"
	"macaron/internal/repl"
	"macaron/internal/tool"
	"macaron/internal/tool/builtin"
	"macaron/internal/tool/kit"
)

// sandboxed is a rig with a sandbox for commands and code.
func sandboxed(t *testing.T, p policy) *Actor {
	t.Helper()
	a := rig(t, p)
	pool, err := repl.Open(ctx, repl.Options{Root: a.Deps.Home})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := pool.Close(); err != nil {
			t.Error(err)
		}
		if left, err := filepath.Glob(filepath.Join(a.Deps.Home, "run_*", "macaron-task-*")); len(left) > 0 || err != nil {
			t.Errorf("workspaces of plays are left: %v %v", left, err)
		}
	})
	a.Deps.Pool = func(context.Context) (*repl.Pool, error) { return pool, nil }
	a.Deps.Tools = func(c context.Context, b harness.Bench) ([]tool.Tool, func() error, error) {
		shell := builtin.Shell{Run: func(ctx context.Context, args []string) (builtin.Ran, error) {
			e, err := pool.Exec(ctx, repl.Command{Args: args, Dir: "/workspace", Binds: []repl.Bind{{From: b.Workspace, To: "/workspace", Writable: true}}, Limits: harness.Limits(b.Contract.Sandbox)})
			return builtin.Ran{Exit: e.Code, Output: e.Output, Truncated: e.Truncated, Reason: e.Reason}, err
		}}
		tools, err := kit.Build(c, b.Contract, kit.Parts{World: b.World, Files: &builtin.Files{Dir: b.Workspace}, Shell: &shell, Skip: harness.Own})
		return tools, func() error { return nil }, err
	}
	return a
}

// writes gives code in the text of an answer, then the answer.
func writes(answer string, cells ...string) policy {
	return func(_ backend.Request, said int, _ []string) []chat.Event {
		if said < len(cells) {
			return []chat.Event{{Text: "```python\n" + cells[said] + "\n```"}}
		}
		return finish(answer)
	}
}

// Commands and code of a run are played again in the sandbox, on the files as they were.
func TestPassesByCommandsAndCode(t *testing.T) {
	first, added, price := draw(t, "terminal", "first_line", nil), draw(t, "terminal", "append", nil), draw(t, "compose", "item_price", nil)
	saved := draw(t, "terminal", "count_save", nil)
	file, word := added.args["file"], added.args["text"]
	shell := func(command string) step { return step{"shell", map[string]any{"command": command}} }
	offered := uses("shell", "builtin:shell", "add_line", "world:add_line", "read_text", "world:read_text", "price_of", "world:price_of", "count_words", "world:count_words")
	repl, hybrid := "mode = \"repl\"\n", "mode = \"hybrid\"\n"
	adds := fmt.Sprintf("with open(%q, 'a') as f:\n    f.write(%q)", file, word+"\n")
	for name, x := range map[string]struct {
		d     drawn
		agent string
		model policy
		says  string // why it is not believed; "": it is
	}{
		"a command shows a line":       {first, "", does(always(first.answer), shell("head -n 1 "+first.args["file"])), ""},
		"a command writes a line":      {added, "", does(always("done"), shell("echo "+word+" >> "+file)), ""},
		"code writes a line":           {added, repl, writes("done", adds), ""},
		"code keeps a name":            {added, repl, writes("done", "word = "+fmt.Sprintf("%q", word), strings.Replace(adds, fmt.Sprintf("%q", word+"\n"), "word + '\\n'", 1)), ""},
		"code calls and writes":        {added, repl, writes("done", fmt.Sprintf("open('aside.txt', 'w').write('x')\nadd_line(file=%q, text=%q)", file, word)), ""},
		"code writes what a call gave": {saved, repl, writes("done", fmt.Sprintf("open(%q, 'w').write(str(count_words(file=%q)))", saved.args["file"], saved.Judged.Solution.Calls[0].Args["file"])), ""},
		"code raises, and goes on":     {added, hybrid, writes("done", "1/0", adds), ""},
		"code calls what looks only":   {price, hybrid, writes(price.answer, fmt.Sprintf("print(price_of(item=%q))", price.args["item"])), ""},
		"a command writes a reward":    {added, "", does(always("done"), shell("mkdir logs; echo 1 > logs/reward.txt"), shell("echo "+word+" >> "+file)), "asks for reward.txt"},
		"a command looks outside":      {first, "", does(always(first.answer), shell("cat /proc/1/environ"), shell("head -n 1 "+first.args["file"])), "asks for /proc/"},
		"code looks into tools":        {added, repl, writes("done", "print(add_line.__globals__)", adds), "asks for __globals__"},
		"a command gives nothing":      {first, "", does(always(first.answer), shell("true")), "is in no result of a call"},
		"code gives nothing":           {price, repl, writes(price.answer, "1"), "is in no result of a call"},
	} {
		c := harnesstest.Contract(t, harnesstest.Prompt, x.agent+harnesstest.Finish+offered)
		out, err := sandboxed(t, x.model).Try(ctx, mindforge.Pair{Contract: c}, x.d.Task, 1)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if why := strings.Join(out.Evidence, "\n"); out.Pass != (x.says == "") || !strings.Contains(why, x.says) || !out.Pass && out.Failure != mindforge.Cheat {
			t.Errorf("%s: %+v", name, out)
		}
	}
}
