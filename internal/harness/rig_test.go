package harness

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"macaron/internal/adapter"
	"macaron/internal/backend"
	"macaron/internal/backend/backendtest"
	"macaron/internal/chat"
	"macaron/internal/clock"
	"macaron/internal/contract"
	"macaron/internal/errs"
	"macaron/internal/harness/harnesstest"
	"macaron/internal/ids"
	"macaron/internal/record"
	"macaron/internal/repl"
	"macaron/internal/store/sqlite"
	"macaron/internal/tool"
	"macaron/internal/toolshed"
)

var ctx = context.Background()

func TestMain(m *testing.M) {
	if os.Getenv(childEnv) != "" {
		child()
		return
	}
	if dir := os.Getenv(collectEnv); dir != "" {
		collectChild(dir)
		return
	}
	goleak.VerifyTestMain(m)
}

// fixed is a contract and its one adapter, for whoever asks.
type fixed struct {
	c   *contract.Contract
	rev adapter.Revision
}

func (f fixed) Current(context.Context, string) (*contract.Contract, []adapter.Revision, error) {
	return f.c, []adapter.Revision{f.rev}, nil
}

func (f fixed) Contract(h ids.Digest) (*contract.Contract, error) {
	if f.c.Hash() != h {
		return nil, errs.New(errs.NotFound, "no such contract", "")
	}
	return f.c, nil
}

// function is a tool of a test.
type function struct {
	def tool.Def
	do  func(ctx context.Context, args map[string]any) (any, error)
}

func (f function) Def() tool.Def { return f.def }

func (f function) Invoke(ctx context.Context, c tool.Call) (tool.Result, error) {
	var args map[string]any
	if err := json.Unmarshal(c.Arguments, &args); err != nil {
		return tool.Result{}, err
	}
	out, err := f.do(ctx, args)
	if err != nil {
		return tool.Result{}, err
	}
	value, err := plain(out)
	return tool.Result{Value: value}, err
}

// number is a tool of one integer, n.
func number(name string, e tool.Effect, do func(n int) (any, error)) function {
	return function{tool.Def{Name: name, Effect: e, Parameters: object(`"n":{"type":"integer"}`, `"n"`)}, func(_ context.Context, args map[string]any) (any, error) {
		return do(int(args["n"].(float64)))
	}}
}

// rig is a harness on a real log, with a scripted policy and tools that count.
type rig struct {
	*Harness
	log    *sqlite.Store
	policy *backendtest.Scripted
	dir    string
}

// shed keeps tools of a test's runs.
type shed struct{ *toolshed.Shed }

func (s shed) Save(ctx context.Context, owner string, t record.ToolSaved) (Saved, error) {
	e, err := s.Shed.Save(ctx, owner, t)
	return Saved{Tool: e.Tool, Status: string(e.Status), Parameters: e.Saved.Parameters, Trajectory: e.Saved.Trajectory}, err
}

// say is one answer of the policy: text, or calls written NAME {"arguments"}.
type say string

func (s say) events() []chat.Event {
	var out []chat.Event
	for i, line := range strings.Split(string(s), "\n") {
		name, args, ok := strings.Cut(line, " {")
		if !ok || strings.ContainsAny(name, " `'") {
			return []chat.Event{{Text: string(s)}}
		}
		out = append(out, backendtest.Call(i, "", name, "{"+args))
	}
	return out
}

// script makes a policy that says these answers in turn: which one is next follows from the
// conversation, as with a model, so that a run that is resumed gets the right one.
func script(answers ...say) *backendtest.Scripted {
	return harnesstest.Model(func(_ backend.Request, said int, _ []string) []chat.Event {
		if said < len(answers) {
			return answers[said].events()
		}
		return say("no more").events()
	})
}

// fault is called at every write of the logs that are opened after it was set.
var fault func(sqlite.Stage, record.Kind) error

// setup makes a rig in a directory. With code it has a sandbox.
func setup(t testing.TB, dir, agent string, policy *backendtest.Scripted, code bool, tools ...tool.Tool) *rig {
	t.Helper()
	store := harnesstest.Log(t, dir, fault)
	r := &rig{log: store, policy: policy, dir: dir}
	home := filepath.Join(dir, "runs")
	d := Deps{Generator: policy, Contracts: fixed{harnesstest.Contract(t, harnesstest.Prompt, agent), harnesstest.Adapter}, Log: store, Home: home, Pause: func(context.Context, time.Duration) {},
		Tools: func(context.Context, Bench) ([]tool.Tool, func() error, error) {
			return tools, func() error { return nil }, nil
		}}
	var pool *repl.Pool
	if code {
		var err error
		if pool, err = repl.Open(ctx, repl.Options{Root: home}); err != nil {
			t.Fatal(err)
		}
		d.Pool = func(context.Context) (*repl.Pool, error) { return pool, nil }
		d.Saver = shed{&toolshed.Shed{Log: store, Sandbox: pool, IDs: ids.NewSource(clock.System{}, nil), Clock: clock.System{}}}
	}
	r.Harness = New(d)
	t.Cleanup(func() {
		r.Close()
		if pool != nil {
			if err := pool.Close(); err != nil {
				t.Error(err)
			}
		}
	})
	return r
}

// run runs a task to its end.
func (r *rig) run(t *testing.T, o Options) Report {
	t.Helper()
	got, err := r.Run(ctx, "o", Task{Instruction: "do it"}, o)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// shown lists what the model was told, behind the task.
func (r *rig) shown(t *testing.T, id string) []string {
	t.Helper()
	run, err := r.Transcript(ctx, "o", id)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, m := range run.Messages()[2:] {
		if m.Role != chat.Assistant {
			out = append(out, m.Text())
		}
	}
	return out
}

func done(t *testing.T, got Report, answer string) {
	t.Helper()
	if got.Status != record.RunDone || got.Answer != answer {
		t.Fatalf("%+v", got)
	}
}
