package gate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"macaron/internal/errs"
	"macaron/internal/tool"
)

// journal is a ledger in memory that tells the order of what happens.
type journal struct {
	mu     sync.Mutex
	log    []string
	past   map[string]tool.Result
	begun  map[string]bool // without end: Past fails for those that change things
	broken bool
}

func (j *journal) add(s string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.log = append(j.log, s)
}

func (j *journal) Past(_ context.Context, c tool.Call, d tool.Def) (*tool.Result, error) {
	if r, ok := j.past[c.ID]; ok {
		return &r, nil
	}
	if j.begun[c.ID] && d.Effect.Changes() {
		return nil, errs.New(errs.InvalidRequest, "unknown", "")
	}
	return nil, nil
}

func (j *journal) Begin(_ context.Context, c tool.Call, _ tool.Def) error {
	if j.broken {
		return errs.New(errs.StorageFull, "full", "")
	}
	j.add("begin " + c.ID)
	return nil
}

func (j *journal) End(ctx context.Context, c tool.Call, r tool.Result) error {
	how := "ok"
	if r.Error != nil {
		how = string(r.Error.Code)
		if r.Error.Refused {
			how += " refused"
		}
		if r.Error.Unknown {
			how += " unknown"
		}
	}
	j.add("end " + c.ID + " " + how)
	return ctx.Err()
}

// fake is a tool with a function for a body.
type fake struct {
	def tool.Def
	do  func(ctx context.Context, c tool.Call) (tool.Result, error)
}

func (f fake) Def() tool.Def                                                { return f.def }
func (f fake) Invoke(ctx context.Context, c tool.Call) (tool.Result, error) { return f.do(ctx, c) }

func value(s string) func(context.Context, tool.Call) (tool.Result, error) {
	return func(context.Context, tool.Call) (tool.Result, error) {
		return tool.Result{Value: json.RawMessage(s)}, nil
	}
}

func gateOf(t *testing.T, o Options, tools ...tool.Tool) (*Gate, *journal) {
	t.Helper()
	j := &journal{past: map[string]tool.Result{}, begun: map[string]bool{}}
	o.Tools, o.Ledger = tools, j
	if o.Wait == nil {
		o.Wait = func(context.Context, time.Duration) error { j.add("wait"); return nil }
	}
	g, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	return g, j
}

var add = tool.Def{Name: "add", Effect: tool.Pure, Parameters: json.RawMessage(`{"type":"object","properties":{"a":{"type":"integer"},"b":{"type":"integer"}},"required":["a","b"],"additionalProperties":false}`)}

func call(id, name, args string) tool.Call {
	return tool.Call{ID: id, Name: name, Arguments: json.RawMessage(args)}
}

func TestEffectComesAfterItsRecord(t *testing.T) {
	var j *journal
	g, j := gateOf(t, Options{Approve: func(context.Context, tool.Call, tool.Def) error { j.add("approve"); return nil }},
		fake{tool.Def{Name: "send", Effect: tool.Irreversible, Approval: true}, func(context.Context, tool.Call) (tool.Result, error) {
			j.add("effect")
			return tool.Result{Value: json.RawMessage(`1`)}, nil
		}})
	if r, err := g.Invoke(context.Background(), call("c1", "send", "")); err != nil || string(r.Value) != "1" {
		t.Fatal(r, err)
	}
	if diff := cmp.Diff([]string{"approve", "begin c1", "effect", "end c1 ok"}, j.log); diff != "" {
		t.Error(diff)
	}
	j.broken = true
	if _, err := g.Invoke(context.Background(), call("c2", "send", "{}")); errs.CodeOf(err) != errs.StorageFull || slices.Contains(j.log[4:], "effect") {
		t.Errorf("an effect without a record: %v %v", err, j.log)
	}
}

func TestWhatWasDoneIsNotDoneAgain(t *testing.T) {
	effects := 0
	g, j := gateOf(t, Options{}, fake{tool.Def{Name: "send", Effect: tool.Irreversible, MaxCalls: 2}, func(context.Context, tool.Call) (tool.Result, error) {
		effects++
		return tool.Result{Value: json.RawMessage(`1`)}, nil
	}})
	j.past["c1"] = tool.Result{Value: json.RawMessage(`7`)}
	j.begun["c2"] = true
	if r, err := g.Invoke(context.Background(), call("c1", "send", "{}")); err != nil || string(r.Value) != "7" {
		t.Error(r, err)
	}
	if _, err := g.Invoke(context.Background(), call("c2", "send", "{}")); err == nil {
		t.Error("a call of unknown outcome was made again")
	}
	if effects != 0 || g.Calls() != 1 {
		t.Errorf("%d effects, %d calls", effects, g.Calls())
	}
}

func TestRefusals(t *testing.T) {
	sum := fake{add, value(`3`)}
	for _, c := range []struct {
		name string
		o    Options
		def  tool.Def
		call tool.Call
		code errs.Code
		says string
	}{
		{"unknown", Options{}, add, call("c", "sub", "{}"), errs.NotFound, "there are: add"},
		{"schema", Options{}, add, call("c", "add", `{"a":1,"b":"x"}`), errs.InvalidRequest, "at /b got string, want integer"},
		{"missing", Options{}, add, call("c", "add", `{"a":1}`), errs.InvalidRequest, "missing property 'b'"},
		{"twice", Options{}, add, call("c", "add", `{"a":1,"b":2,"b":3}`), errs.InvalidRequest, "a key twice"},
		{"no JSON", Options{}, add, call("c", "add", `{"a":1`), errs.InvalidRequest, "not JSON"},
		{"more than JSON", Options{}, add, call("c", "add", `{"a":1,"b":2} `+"x"), errs.InvalidRequest, "goes on"},
		{"no UTF-8", Options{}, add, call("c", "add", "\"\xff\""), errs.InvalidRequest, "UTF-8"},
		{"deep", Options{}, tool.Def{Name: "any", Effect: tool.Pure, Parameters: json.RawMessage(`{}`)}, call("c", "any", strings.Repeat("[", 600)+strings.Repeat("]", 600)), errs.InvalidRequest, "deeper"},
		{"no parameters", Options{}, tool.Def{Name: "now", Effect: tool.Read}, call("c", "now", `{"x":1}`), errs.InvalidRequest, "additional"},
		{"long", Options{Limits: Limits{Arguments: 10}}, add, call("c", "add", `{"a":1,"b":2}`), errs.TooLarge, "at most 10"},
		{"effect", Options{Policy: Policy{Effects: []tool.Effect{tool.Pure}}}, tool.Def{Name: "w", Effect: tool.Write}, call("c", "w", "{}"), errs.Forbidden, "effect write"},
		{"from code", Options{Policy: Policy{InCode: []tool.Effect{tool.Pure}}}, tool.Def{Name: "w", Effect: tool.Write}, tool.Call{ID: "c", Name: "w", Parent: "cell"}, errs.Forbidden, "not called from code"},
		{"nobody", Options{}, tool.Def{Name: "w", Effect: tool.Write, Approval: true}, call("c", "w", "{}"), errs.Forbidden, "approval"},
		{"policy asks", Options{Policy: Policy{Approve: []tool.Effect{tool.Write}}}, tool.Def{Name: "w", Effect: tool.Write}, call("c", "w", "{}"), errs.Forbidden, "approval"},
		{"no", Options{Approve: func(context.Context, tool.Call, tool.Def) error { return errs.New(errs.Forbidden, "too dear", "") }}, tool.Def{Name: "w", Effect: tool.Write, Approval: true}, call("c", "w", "{}"), errs.Forbidden, "too dear"},
	} {
		t.Run(c.name, func(t *testing.T) {
			sum.def = c.def
			g, j := gateOf(t, c.o, sum)
			r, err := g.Invoke(context.Background(), c.call)
			if err != nil {
				t.Fatal(err)
			}
			if r.Error == nil || r.Error.Code != c.code || !r.Error.Refused || !strings.Contains(r.Error.Message, c.says) {
				t.Errorf("got %+v", r.Error)
			}
			if diff := cmp.Diff([]string{"end c " + string(c.code) + " refused"}, j.log); diff != "" {
				t.Error(diff)
			}
			if g.Calls() != 0 {
				t.Error("a refused call was counted")
			}
		})
	}
}

func TestApprovalThatIsStillToComeIsNoResult(t *testing.T) {
	later := errors.New("ask later")
	g, j := gateOf(t, Options{Approve: func(context.Context, tool.Call, tool.Def) error { return later }}, fake{tool.Def{Name: "w", Effect: tool.Write, Approval: true}, value("1")})
	if _, err := g.Invoke(context.Background(), call("c", "w", "{}")); !errors.Is(err, later) || len(j.log) != 0 {
		t.Errorf("%v %v", err, j.log)
	}
}

// Nobody is asked about a call that the budget does not allow anyway.
func TestNoPersonIsAskedInVain(t *testing.T) {
	asked := 0
	g, _ := gateOf(t, Options{Approve: func(context.Context, tool.Call, tool.Def) error { asked++; return nil }}, fake{tool.Def{Name: "w", Effect: tool.Write, Approval: true, MaxCalls: 1}, value("1")})
	for _, id := range []string{"a", "b"} {
		if _, err := g.Invoke(context.Background(), call(id, "w", "{}")); err != nil {
			t.Fatal(err)
		}
	}
	if asked != 1 || g.Calls() != 1 {
		t.Errorf("asked %d times for %d calls", asked, g.Calls())
	}
	if spent := g.Spent(); len(spent) != 1 || spent[0] != "w" {
		t.Errorf("spent: %v", spent)
	}
}

// A refusal that is on record costs nothing of the budget in the process that resumes.
func TestRestoredRefusalsAreNotCounted(t *testing.T) {
	g, _ := gateOf(t, Options{Limits: Limits{Calls: 1}}, fake{add, value("3")})
	if err := g.Restore(call("a", "add", "{}"), tool.Result{Error: &tool.Error{Code: errs.Forbidden, Refused: true}}); err != nil {
		t.Fatal(err)
	}
	if err := g.Restore(call("b", "add", "{}"), tool.Result{Error: &tool.Error{Code: errs.UpstreamFailed}}); err != nil || g.Calls() != 1 {
		t.Errorf("%d calls, %v", g.Calls(), err)
	}
}

func TestBudgetsHoldUnderConcurrency(t *testing.T) {
	one, other := add, add
	one.Name, one.MaxCalls, other.Name = "one", 5, "other"
	g, _ := gateOf(t, Options{Limits: Limits{Calls: 20}}, fake{one, value("1")}, fake{other, value("1")})
	var wg sync.WaitGroup
	var mu sync.Mutex
	done := map[string]int{}
	for i := range 80 {
		name := []string{"one", "other"}[i%2]
		wg.Go(func() {
			r, err := g.Invoke(context.Background(), call(fmt.Sprint(i), name, `{"a":1,"b":2}`))
			if err == nil && r.Error == nil {
				mu.Lock()
				defer mu.Unlock()
				done[name]++
			}
		})
	}
	wg.Wait()
	if done["one"] != 5 || done["other"] != 15 || g.Calls() != 20 {
		t.Errorf("%v, %d calls", done, g.Calls())
	}
}

func TestRetriesOnlyWhereTheyDoNoHarm(t *testing.T) {
	for _, c := range []struct {
		effect   tool.Effect
		err      tool.Error
		attempts int
		unknown  bool
	}{
		{tool.Read, tool.Error{Code: errs.UpstreamUnavailable}, 3, false},
		{tool.Read, tool.Error{Code: errs.InvalidRequest}, 1, false},
		{tool.Write, tool.Error{Code: errs.UpstreamUnavailable}, 1, true},
		{tool.Irreversible, tool.Error{Code: errs.UpstreamUnavailable, Retryable: true}, 3, false},
		{tool.Write, tool.Error{Code: errs.InvalidRequest}, 1, false},
	} {
		n := 0
		g, _ := gateOf(t, Options{}, fake{tool.Def{Name: "f", Effect: c.effect, Retries: 2}, func(context.Context, tool.Call) (tool.Result, error) {
			n++
			e := c.err
			return tool.Result{Error: &e}, nil
		}})
		r, err := g.Invoke(context.Background(), call("c", "f", "{}"))
		if err != nil || n != c.attempts || r.Error == nil || r.Error.Unknown != c.unknown {
			t.Errorf("%s %+v: %d attempts, %+v, %v", c.effect, c.err, n, r.Error, err)
		}
	}
}

func TestAttemptsAreFurtherAndFurtherApart(t *testing.T) {
	var waits []time.Duration
	g, _ := gateOf(t, Options{Wait: func(_ context.Context, d time.Duration) error { waits = append(waits, d); return nil }},
		fake{tool.Def{Name: "f", Effect: tool.Read, Retries: 3}, func(context.Context, tool.Call) (tool.Result, error) {
			return tool.Result{Value: json.RawMessage(`"half of it"`), Error: &tool.Error{Code: errs.Overloaded}}, nil
		}})
	r, err := g.Invoke(context.Background(), call("c", "f", "{}"))
	if err != nil || r.Error == nil || r.Value != nil {
		t.Errorf("a failed call has a value: %+v %v", r, err)
	}
	if diff := cmp.Diff([]time.Duration{pause, 2 * pause, 4 * pause}, waits); diff != "" {
		t.Error(diff)
	}
}

func TestTimeLimitOfAnAttempt(t *testing.T) {
	g, j := gateOf(t, Options{}, fake{tool.Def{Name: "w", Effect: tool.Write, TimeoutMS: 1}, func(ctx context.Context, _ tool.Call) (tool.Result, error) {
		<-ctx.Done()
		return tool.Result{}, ctx.Err()
	}})
	r, err := g.Invoke(context.Background(), call("c", "w", "{}"))
	if err != nil || r.Error == nil || !r.Error.Unknown || !strings.Contains(r.Error.Message, "within 1ms") {
		t.Errorf("%+v %v", r.Error, err)
	}
	if diff := cmp.Diff([]string{"begin c", "end c canceled unknown"}, j.log); diff != "" {
		t.Error(diff)
	}
}

func TestStoppedRunStillRecordsTheEffect(t *testing.T) {
	ctx, stop := context.WithCancel(context.Background())
	g, j := gateOf(t, Options{}, fake{tool.Def{Name: "w", Effect: tool.Write}, func(context.Context, tool.Call) (tool.Result, error) {
		stop()
		return tool.Result{Value: json.RawMessage("1")}, nil
	}})
	if _, err := g.Invoke(ctx, call("c", "w", "{}")); err != nil {
		t.Error(err)
	}
	if diff := cmp.Diff([]string{"begin c", "end c ok"}, j.log); diff != "" {
		t.Error(diff)
	}
}

func TestLookBeforeGoingOn(t *testing.T) {
	look := tool.Def{Name: "look", Effect: tool.Read, Observe: true}
	g, _ := gateOf(t, Options{Policy: Policy{Look: true}}, fake{look, value("1")}, fake{add, value("3")})
	from := func(id, cell, name string) *tool.Error {
		r, err := g.Invoke(context.Background(), tool.Call{ID: id, Name: name, Parent: cell, Arguments: map[string]json.RawMessage{"add": json.RawMessage(`{"a":1,"b":2}`)}[name]})
		if err != nil {
			t.Fatal(err)
		}
		return r.Error
	}
	for i, c := range []struct {
		cell, name string
		ok         bool
	}{{"x", "add", true}, {"x", "look", true}, {"x", "add", false}, {"x", "look", false}, {"y", "add", true}, {"", "look", true}, {"", "add", true}} {
		if e := from(fmt.Sprint(i), c.cell, c.name); (e == nil) != c.ok {
			t.Errorf("%d %v: %+v", i, c, e)
		}
	}
}

func TestResultsAreChecked(t *testing.T) {
	free := fake{tool.Def{Name: "f", Effect: tool.Read}, value("nonsense")}
	g, _ := gateOf(t, Options{}, free)
	if r, err := g.Invoke(context.Background(), call("c", "f", "{}")); err != nil || r.Error == nil {
		t.Errorf("without a schema anything is a result: %s %v", r.Value, err)
	}
	d := tool.Def{Name: "f", Effect: tool.Read, Returns: json.RawMessage(`{"type":"object","required":["id"]}`)}
	for text, says := range map[string]string{`{"id":1}`: "", `{}`: "does not fit", `nonsense`: "not JSON", ``: "neither", `{"id":"` + strings.Repeat("x", 100) + `"}`: "at most 50"} {
		g, _ := gateOf(t, Options{Limits: Limits{Result: 50}}, fake{d, value(text)})
		r, err := g.Invoke(context.Background(), call("c", "f", "{}"))
		if err != nil || (r.Error == nil) != (says == "") || r.Error != nil && !strings.Contains(r.Error.Message, says) {
			t.Errorf("%s: %+v %v", text, r.Error, err)
		}
	}
}

func TestNoAIValuesOfOneToolDoNotComeBackByAnother(t *testing.T) {
	echo := tool.Def{Name: "echo", Effect: tool.Pure, Parameters: json.RawMessage(`{"type":"object","properties":{"x":{"type":"integer"}}}`)}
	g, _ := gateOf(t, Options{}, fake{tool.Def{Name: "get", Effect: tool.Read, NoAI: []string{"/key"}}, value(`{"key":"sk-canary","n":1}`)},
		fake{echo, value(`"you sent sk-canary"`)})
	r, err := g.Invoke(context.Background(), call("c", "get", "{}"))
	if err != nil || !strings.Contains(string(r.Value), "sk-canary") {
		t.Fatalf("code does not get the value: %s %v", r.Value, err)
	}
	back, err := g.Invoke(context.Background(), call("d", "echo", "{}"))
	if err != nil {
		t.Fatal(err)
	}
	wrong, err := g.Invoke(context.Background(), call("e", "echo", `{"x":"sk-canary"}`))
	if err != nil || wrong.Error == nil {
		t.Fatal(wrong, err)
	}
	for _, text := range []string{g.ForModel("get", r, 1000), g.ForModel("echo", back, 1000), g.ForModel("echo", wrong, 1000), g.Clean("print: sk-canary")} {
		if strings.Contains(text, "canary") {
			t.Errorf("the model sees %s", text)
		}
	}
	again, _ := gateOf(t, Options{}, fake{tool.Def{Name: "get", Effect: tool.Read, NoAI: []string{"/key"}}, value(`1`)})
	if err := again.Restore(call("c", "get", "{}"), r); err != nil || again.Clean("sk-canary") != tool.Hidden || again.Calls() != 1 {
		t.Errorf("after a restart: %v %q", err, again.Clean("sk-canary"))
	}
}
