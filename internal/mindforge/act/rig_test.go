package act

import (
	"context"
	"encoding/json"
	"path/filepath"
	"testing"
	"time"

	"macaron/internal/adapter"
	"macaron/internal/backend"
	"macaron/internal/chat"
	"macaron/internal/contract"
	"macaron/internal/harness"
	"macaron/internal/harness/harnesstest"
	"macaron/internal/mindforge"
	"macaron/internal/mindforge/world"
	"macaron/internal/mindforge/world/compose"
	"macaron/internal/mindforge/world/terminal"
	"macaron/internal/mindforge/world/text"
	"macaron/internal/tool"
	"macaron/internal/tool/builtin"
	"macaron/internal/tool/kit"
)

var ctx = context.Background()

var worlds = []world.World{compose.New(), terminal.New(), text.New()}

type policy = harnesstest.Policy

// rig is an actor whose model is scripted.
func rig(t testing.TB, p policy) *Actor {
	t.Helper()
	dir := t.TempDir()
	d := harness.Deps{Generator: harnesstest.Model(p), Log: harnesstest.Log(t, dir, nil), Home: filepath.Join(dir, "runs"), Pause: func(context.Context, time.Duration) {}, Tools: toolbox}
	return &Actor{Deps: d, Owner: "o", Worlds: worlds, Source: func(*contract.Contract) ([]adapter.Revision, error) {
		return []adapter.Revision{harnesstest.Adapter}, nil
	}}
}

// toolbox makes what a contract declares of a task's tools.
func toolbox(c context.Context, b harness.Bench) ([]tool.Tool, func() error, error) {
	tools, err := kit.Build(c, b.Contract, kit.Parts{World: b.World, Files: &builtin.Files{Dir: b.Workspace}, Skip: harness.Own})
	return tools, func() error { return nil }, err
}

// declared is a contract with the tools of some calls, those left out aside, and more lines:
// of [agent] first, then tables.
func declared(t testing.TB, calls []mindforge.Call, lines string, without ...string) *contract.Contract {
	t.Helper()
	lines += harnesstest.NoSnapshots + harnesstest.Finish
	seen := map[string]bool{}
	for _, w := range without {
		seen[w] = true
	}
	for _, c := range calls {
		if !seen[c.Tool] {
			seen[c.Tool] = true
			lines += "\n[[tools]]\nname = \"" + c.Tool + "\"\nuse = \"world:" + c.Tool + "\"\n"
		}
	}
	return harnesstest.Contract(t, harnesstest.Prompt, lines)
}

// finish ends a run.
func finish(answer string) []chat.Event {
	return []chat.Event{harnesstest.Call(0, "finish", map[string]string{"answer": answer})}
}

// resolve puts results in the place of references, and numbers where the tool wants them.
func resolve(r backend.Request, c mindforge.Call, results []string) chat.Event {
	args := map[string]any{}
	for k, v := range c.Args {
		if n, ok := world.Ref(v); ok && n < len(results) {
			v = unquote(results[n])
		}
		args[k] = v
		if wantsNumber(r, c.Tool, k) {
			args[k] = json.Number(v)
		}
	}
	return harnesstest.Call(0, c.Tool, args)
}

func wantsNumber(r backend.Request, name, param string) bool {
	for _, d := range r.Tools {
		var s struct {
			Properties map[string]struct{ Type string }
		}
		if d.Name == name && json.Unmarshal(d.Parameters, &s) == nil {
			return s.Properties[param].Type == "integer"
		}
	}
	return false
}

func unquote(s string) string {
	var out string
	if json.Unmarshal([]byte(s), &out) == nil {
		return out
	}
	return s
}

// solve does the task and gives its answer by end.
func solve(task mindforge.Task, end func(answer string) []chat.Event) policy {
	s := task.Judged.Solution
	return func(r backend.Request, said int, results []string) []chat.Event {
		if said < len(s.Calls) {
			return []chat.Event{resolve(r, s.Calls[said], results)}
		}
		return end(s.Answer)
	}
}
