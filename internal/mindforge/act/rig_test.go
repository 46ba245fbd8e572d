package act

import (
	"context"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"macaron/internal/adapter"
	"macaron/internal/backend"
	"macaron/internal/backend/backendtest"
	"macaron/internal/chat"
	"macaron/internal/contract"
	"macaron/internal/harness"
	"macaron/internal/ids"
	"macaron/internal/mindforge"
	"macaron/internal/mindforge/world"
	"macaron/internal/mindforge/world/compose"
	"macaron/internal/mindforge/world/terminal"
	"macaron/internal/mindforge/world/text"
	"macaron/internal/store/sqlite"
	"macaron/internal/tool"
	"macaron/internal/tool/kit"
)

var ctx = context.Background()

var worlds = []world.World{compose.New(), terminal.New(), text.New()}

// head is the part of a contract that every test has.
const head = `
schema = "macaron.hcp/2"
name = "test"
version = "1.0.0"
model = {base = "b"}
[prompts]
system = "{{specialist}}"
route = "{{adapters}}"
summary = "sum"
foreign = "{{summary}}"
tools = "Tools: {{tools}}"
[router]
adapter = "A"
default = "A"
request_chars = 100
[budgets]
route_tokens = 1
summary_tokens = 1
answer_tokens = 200
[[adapters]]
name = "A"
title = "A"
source = "a"
description = "d"
prompt = "You act."
[agent.prompts]
system = "{{specialist}} Do it."
gate = "Not yet: {{reason}}"
[workspace]
snapshots = "none"
`

// policy plays a model: what it says next follows from the conversation.
type policy func(r backend.Request, said int, results []string) []chat.Event

// rig is an actor whose model is scripted.
func rig(t testing.TB, p policy) *Actor {
	t.Helper()
	dir := t.TempDir()
	store, err := sqlite.Open(ctx, sqlite.Options{Path: filepath.Join(dir, "log.db"), Durability: sqlite.Normal})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	model := &backendtest.Scripted{On: func(_ context.Context, r backend.Request, emit func(chat.Event) bool) (bool, error) {
		said, results := 0, []string(nil)
		for _, m := range r.Messages {
			switch m.Role {
			case chat.Assistant:
				said++
			case chat.Tool:
				results = append(results, m.Text())
			}
		}
		events := p(r, said, results)
		if events == nil {
			return false, broken
		}
		backendtest.Emit(emit, events...)
		return true, nil
	}}
	d := harness.Deps{Generator: model, Log: store, Home: filepath.Join(dir, "runs"), Pause: func(context.Context, time.Duration) {}, Tools: toolbox}
	return &Actor{Deps: d, Owner: "o", Worlds: worlds, Source: func(*contract.Contract) ([]adapter.Revision, error) {
		return []adapter.Revision{{Name: "A", Hash: ids.DigestOf([]byte("A"))}}, nil
	}}
}

// toolbox makes what a contract declares of a task's tools.
func toolbox(c context.Context, b harness.Bench) ([]tool.Tool, func() error, error) {
	tools, err := kit.Build(c, b.Contract, kit.Parts{World: b.World, Skip: harness.Own})
	return tools, func() error { return nil }, err
}

// declared is a contract with the tools of some calls, those left out aside, and more lines:
// of [agent] first, then tables.
func declared(t testing.TB, calls []mindforge.Call, lines string, without ...string) *contract.Contract {
	t.Helper()
	own, tables, _ := strings.Cut(lines, "\n[")
	if tables != "" {
		tables = "\n[" + tables
	}
	seen := map[string]bool{}
	for _, w := range without {
		seen[w] = true
	}
	for _, c := range calls {
		if !seen[c.Tool] {
			seen[c.Tool] = true
			tables += "\n[[tools]]\nname = \"" + c.Tool + "\"\nuse = \"world:" + c.Tool + "\"\n"
		}
	}
	c, err := contract.Parse([]byte(head + "[agent]\nmode = \"functions\"\n" + own + "\n[[tools]]\nname = \"finish\"\nuse = \"builtin:run.finish\"\n" + tables))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// call is an event that calls a tool.
func call(name string, args map[string]string) chat.Event {
	b, err := json.Marshal(args)
	if err != nil {
		panic(err)
	}
	return backendtest.Call(0, "", name, string(b))
}

// finish ends a run.
func finish(answer string) []chat.Event {
	return []chat.Event{call("finish", map[string]string{"answer": answer})}
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
	b, err := json.Marshal(args)
	if err != nil {
		panic(err)
	}
	return backendtest.Call(0, "", c.Tool, string(b))
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
