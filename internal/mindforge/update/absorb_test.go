package update_test

import (
	"context"
	"encoding/json"
	"iter"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"macaron/internal/adapter"
	"macaron/internal/backend"
	"macaron/internal/backend/local"
	"macaron/internal/chat"
	"macaron/internal/contract"
	"macaron/internal/errs"
	"macaron/internal/harness"
	"macaron/internal/mindforge"
	"macaron/internal/mindforge/act"
	"macaron/internal/mindforge/evaluation"
	"macaron/internal/mindforge/expansion"
	"macaron/internal/mindforge/update"
	"macaron/internal/mindforge/world"
	"macaron/internal/mindforge/world/compose"
	"macaron/internal/record"
	"macaron/internal/store/sqlite"
	"macaron/internal/tool"
	"macaron/internal/tool/kit"
	"macaron/internal/transcript"
)

var worlds = []world.World{compose.New()}

// pairOf is a contract with two tools whose specialist is told something.
func pairOf(t testing.TB, prompt string) mindforge.Pair {
	t.Helper()
	c := must[*contract.Contract](t)(contract.Parse([]byte(`
schema = "macaron.hcp/2"
name = "test"
version = "1.0.0"
model = {base = "b"}
[prompts]
system = "{{specialist}}"
route = "{{adapters}}"
summary = "sum"
foreign = "{{summary}}"
tools = "{{tools}}"
[router]
adapter = "L1"
default = "L1"
request_chars = 100
[budgets]
route_tokens = 1
summary_tokens = 1
answer_tokens = 200
[[adapters]]
name = "L1"
title = "A"
source = "a"
description = "d"
prompt = "` + prompt + `"
[agent.prompts]
system = "{{specialist}}"
gate = "Not yet: {{reason}}"
[workspace]
snapshots = "none"
[agent]
mode = "functions"
[[tools]]
name = "price_of"
use = "world:price_of"
[[tools]]
name = "finish"
use = "builtin:run.finish"
`)))
	return mindforge.Pair{Contract: c}
}

// knows is a model that does a task when its prompt has the word that it needs: it speaks
// with the engine's tokens, and log probabilities that nobody looks at.
type knows struct {
	*local.Backend
	s    *shop
	task mindforge.Task
}

func (k *knows) Generate(_ context.Context, r backend.Request) iter.Seq2[chat.Event, error] {
	return func(yield func(chat.Event, error) bool) {
		said := 0
		for _, m := range r.Messages {
			if m.Role == chat.Assistant {
				said++
			}
		}
		name, args := "finish", map[string]string{"answer": k.task.Judged.Solution.Answer}
		if calls := k.task.Judged.Solution.Calls; said < len(calls) {
			name, args = calls[said].Tool, calls[said].Args
		}
		b, err := json.Marshal(args)
		if err != nil {
			yield(chat.Event{}, err)
			return
		}
		raw := append(k.s.engine.Tokenizer().Encode(name+string(b), false), 2)
		for _, e := range []chat.Event{{Start: &chat.Start{PromptTokens: len(r.Tokens)}}, {ToolCall: &chat.ToolCallDelta{Name: name, Arguments: string(b)}},
			{Finish: &chat.Finish{Reason: chat.FinishTools, Raw: raw, Logps: make([]float32, len(raw)), Usage: chat.Usage{PromptTokens: len(r.Tokens), OutputTokens: len(raw)}}}} {
			if !yield(e, nil) {
				return
			}
		}
	}
}

// actor runs the harness of production.
func (s *shop) actor(t testing.TB) act.Actor {
	t.Helper()
	dir := t.TempDir()
	store := must[*sqlite.Store](t)(sqlite.Open(ctx, sqlite.Options{Path: filepath.Join(dir, "log.db"), Durability: sqlite.Normal}))
	t.Cleanup(func() { _ = store.Close() })
	engine := must[*local.Backend](t)(local.New(s.engine, func(adapter.Revision) (string, error) { return "", errs.New(errs.AdapterNotFound, "none", "") }))
	tools := func(c context.Context, b harness.Bench) ([]tool.Tool, func() error, error) {
		tools, err := kit.Build(c, b.Contract, kit.Parts{World: b.World, Skip: harness.Own})
		return tools, func() error { return nil }, err
	}
	d := harness.Deps{Generator: &knows{Backend: engine, s: s}, Log: store, Home: filepath.Join(dir, "runs"), Pause: func(context.Context, time.Duration) {}, Tools: tools}
	return act.Actor{Deps: d, Owner: "o", Worlds: worlds, Purpose: record.Discovery, Source: func(*contract.Contract) ([]adapter.Revision, error) {
		return []adapter.Revision{{Name: "L1"}}, nil
	}}
}

// doing is the actor whose model knows each task that it is given.
type doing struct{ act.Actor }

func (d doing) Try(ctx context.Context, p mindforge.Pair, t mindforge.Task, seed uint64) (mindforge.Outcome, error) {
	t, err := world.Again(worlds, t.ID)
	if err != nil {
		return mindforge.Outcome{}, err
	}
	a, k := d.Actor, *d.Deps.Generator.(*knows)
	k.task = t
	a.Deps.Generator = &k
	return a.Try(ctx, p, t, seed)
}

// families puts one family into validation.
type families struct{ held string }

func (f families) Of(_, family string) evaluation.Split {
	if family == f.held {
		return evaluation.Validation
	}
	return evaluation.Train
}

// What was done under a long contract is played again under a short one, by the harness: the
// same words, behind the prompts of the short contract; the adapter learns these.
func TestAbsorb(t *testing.T) {
	s := open(t, true)
	a := s.actor(t)
	long, short := pairOf(t, "You act. When you are asked for a price, call price_of first, and then say the number to finish."), pairOf(t, "You act.")
	var g update.Generation
	for seed := range uint64(4) {
		task := must[mindforge.Task](t)(worlds[0].Make("item_price", 0, seed))
		out := must[mindforge.Outcome](t)(doing{a}.Try(ctx, long, task, seed))
		if !out.Pass {
			t.Fatalf("%+v", out)
		}
		g.Tasks, g.Tries = append(g.Tasks, task), append(g.Tries, expansion.Tried{Item: task.ID, Family: task.Family, Outcome: out})
	}
	h := harness.New(a.Deps)
	defer h.Close()
	g.Record = func(ctx context.Context, run string) (*transcript.Run, error) { return h.Transcript(ctx, "o", run) }
	var all []update.Trajectory
	for i, x := range g.Tries {
		all = append(all, update.Trajectory{Task: g.Tasks[i], Outcome: x.Outcome, Run: must[*transcript.Run](t)(g.Record(ctx, x.Outcome.Run))})
	}
	u := s.updater(t, nil, nil)
	u.Splits = families{"item_room"}
	set := settings(update.SFT)
	set.Selection.Effective, set.Selection.Alike, set.MaxTokens = 1, 0, 1024
	replay := &update.Replayer{Actor: a}
	again := must[update.Trajectory](t)(replay.Play(ctx, short, all[0], 9))
	before, after := all[0].Run.Turns[0].Head.Blob, again.Run.Turns[0].Head.Blob
	if !again.Outcome.Pass || len(after.Prompt) >= len(before.Prompt) || !slices.Equal(after.Tokens, before.Tokens) || again.Run.Head.Contract != short.Contract.Hash() {
		t.Fatalf("played again: %+v, a prompt of %d tokens, it was %d", again.Outcome, len(after.Prompt), len(before.Prompt))
	}
	held := must[mindforge.Task](t)(worlds[0].Make("item_room", 0, 1))
	got := must[update.Absorbed](t)(u.Absorb(ctx, update.Absorption{Job: update.Job{Run: "r", Generation: 1, Seed: 3, Settings: set},
		Long: long, Short: short, Replay: replay, Actor: doing{a}, Held: []mindforge.Task{held}, Repeats: 1}, all))
	if got.Replayed != 4 || got.Report.Taken != 4 || got.Candidate.Operator != mindforge.Absorb || got.Candidate.Contract != short.Contract.Hash() ||
		got.Candidate.Revisions[0].Hash != got.Made.Revision.Hash || got.Made.Metrics["loss_last"] == 0 || got.Before.Prompt >= got.Long.Prompt {
		t.Errorf("%+v", got)
	}
	if _, err := u.Absorb(ctx, update.Absorption{Held: g.Tasks, Long: long, Short: short, Replay: replay}, all); errs.CodeOf(err) != errs.Forbidden {
		t.Errorf("measured on what is trained on: %v", err)
	}
	g.Run, g.Number, g.Settings, g.Pair, g.Replay = "r2", 1, set, short, replay
	learnt, ok, err := u.Learn(ctx, g)
	if err != nil || !ok || learnt.Report.Taken != 4 || learnt.Pair.Revisions[0].Name != "L1" || learnt.Made.Data != got.Made.Data {
		t.Errorf("%v %v %+v", ok, err, learnt)
	}
}
