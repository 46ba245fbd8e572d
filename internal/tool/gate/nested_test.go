package gate

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"macaron/internal/errs"
	"macaron/internal/tool"
)

// A tool that calls others cannot do more through them than it declares, and not more often
// than the run may.
func TestCallsOfToolsAreHeldToWhatTheToolDeclares(t *testing.T) {
	var g *Gate
	made := map[string]int{}
	plain := func(name string, e tool.Effect, approval bool) fake {
		return fake{tool.Def{Name: name, Effect: e, Approval: approval, Parameters: json.RawMessage(`{"type":"object"}`)}, func(context.Context, tool.Call) (tool.Result, error) {
			made[name]++
			return tool.Result{Value: json.RawMessage(`1`)}, nil
		}}
	}
	outer := func(name string, e tool.Effect) fake {
		return fake{tool.Def{Name: name, Effect: e, Parameters: json.RawMessage(`{"type":"object"}`)}, func(ctx context.Context, c tool.Call) (tool.Result, error) {
			var told []string
			for _, inner := range []string{"look", "put", "asks", "look", "nothing"} {
				r, err := g.Nested(ctx, c.ID, inner, json.RawMessage(`{}`), g.Invoke)
				if err != nil {
					return r, err
				}
				word := "ok"
				if r.Error != nil {
					word = string(r.Error.Code)
				}
				told = append(told, inner+" "+word)
			}
			b, err := json.Marshal(strings.Join(told, ", "))
			return tool.Result{Value: b}, err
		}}
	}
	j := &journal{}
	g, err := New(Options{Ledger: j, Policy: Policy{InCode: []tool.Effect{tool.Pure, tool.Read}}, Limits: Limits{Calls: 6},
		Approve: func(context.Context, tool.Call, tool.Def) error {
			t.Error("a person was asked inside a call")
			return nil
		},
		Tools: []tool.Tool{plain("look", tool.Read, false), plain("put", tool.Write, false), plain("asks", tool.Read, true), outer("reads", tool.Read), outer("writes", tool.Write)}})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ name, parent, want string }{
		{"reads", "", `"look ok, put forbidden, asks forbidden, look ok, nothing not_found"`},
		{"writes", "", `"look ok, put ok, asks rate_limited, look rate_limited, nothing not_found"`}, // the model's own call: it may change things
	} {
		r, err := g.Invoke(t.Context(), tool.Call{ID: c.name, Name: c.name, Parent: c.parent})
		if err != nil || string(r.Value) != c.want {
			t.Errorf("%s: %s %+v %v", c.name, r.Value, r.Error, err)
		}
	}
	if made["look"] != 3 || made["put"] != 1 || made["asks"] != 0 || g.Calls() != 6 {
		t.Errorf("%v %d", made, g.Calls())
	}
	if r, err := g.Nested(t.Context(), "reads", "look", nil, g.Invoke); err == nil {
		t.Errorf("a call of a tool that has ended was made: %+v", r)
	}
	if log := strings.Join(j.log, ","); !strings.Contains(log, "begin reads,begin reads/1,end reads/1 ok,end reads/2 forbidden refused") {
		t.Error(log)
	}
}

// What stops the run inside a tool's call is no result of the tool: it has none on record.
func TestATroubleInsideACallStopsTheRun(t *testing.T) {
	var g *Gate
	j := &journal{begun: map[string]bool{"o/1": true}}
	g, err := New(Options{Ledger: j, Tools: []tool.Tool{
		fake{tool.Def{Name: "put", Effect: tool.Write}, value(`1`)},
		fake{tool.Def{Name: "o", Effect: tool.Write}, func(ctx context.Context, c tool.Call) (tool.Result, error) {
			for range 2 { // and a tool that does not care
				_, _ = g.Nested(ctx, c.ID, "put", nil, g.Invoke)
			}
			return tool.Result{Value: json.RawMessage(`2`)}, nil
		}}}})
	if err != nil {
		t.Fatal(err)
	}
	if r, err := g.Invoke(t.Context(), tool.Call{ID: "o", Name: "o"}); err == nil {
		t.Errorf("%s", r.Value)
	}
	if log := strings.Join(j.log, ","); log != "begin o" {
		t.Error(log)
	}
}

// What a server says of a failure has no form in which NoAI values could be found.
func TestWhatOthersSayIsToldOnlyWithoutNoAI(t *testing.T) {
	for _, noai := range [][]string{nil, {"/mail"}} {
		g, err := New(Options{Ledger: &journal{}, Tools: []tool.Tool{fake{tool.Def{Name: "f", Effect: tool.Read, NoAI: noai}, func(context.Context, tool.Call) (tool.Result, error) {
			return tool.Result{Error: &tool.Error{Code: errs.NotFound, Message: "the server refuses", Said: "no row of ann@example.org"}, Artifacts: []tool.Artifact{{Name: "photo-of-ann"}}}, nil
		}}}})
		if err != nil {
			t.Fatal(err)
		}
		r, err := g.Invoke(t.Context(), tool.Call{ID: "c", Name: "f"})
		if err != nil {
			t.Fatal(err)
		}
		shown := g.ForModel("f", r, 1000)
		if strings.Contains(r.Error.Message+shown, "ann") != (noai == nil) || !strings.Contains(shown, "the server refuses") {
			t.Errorf("noai %v: %s", noai, shown)
		}
	}
}

// Names by which rows are filed are values, too.
func TestNamesOfMembersAreHidden(t *testing.T) {
	d := tool.Def{Name: "f", Effect: tool.Read, NoAI: []string{"/by_mail"}}
	g, err := New(Options{Ledger: &journal{}, Tools: []tool.Tool{fake{d, value(`{"by_mail":{"ann@example.org":{"visits":3}},"visits":"many"}`)}}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := g.Invoke(t.Context(), tool.Call{ID: "c", Name: "f"}); err != nil {
		t.Fatal(err)
	}
	if got := g.Clean("{'ann@example.org': {'visits': 3}}"); strings.Contains(got, "ann") || !strings.Contains(got, "visits") {
		t.Error(got)
	}
}

// Two calls of a cell at the same time: one of them is to be looked at first.
func TestTwoCallsAtOnceAfterWhichToLook(t *testing.T) {
	both := make(chan struct{}, 2)
	asked := func(context.Context, tool.Call, tool.Def) error {
		both <- struct{}{}
		for len(both) < 2 { // both have passed the policy by now
		}
		return nil
	}
	d := tool.Def{Name: "f", Effect: tool.Read, Observe: true, Approval: true}
	g, err := New(Options{Ledger: &journal{}, Policy: Policy{Look: true}, Approve: asked, Tools: []tool.Tool{fake{d, value(`1`)}}})
	if err != nil {
		t.Fatal(err)
	}
	results := make(chan tool.Result, 2)
	for i := range 2 {
		go func() {
			r, _ := g.Invoke(context.Background(), tool.Call{ID: fmt.Sprint(i), Name: "f", Parent: "cell"})
			results <- r
		}()
	}
	if a, b := <-results, <-results; (a.Error == nil) == (b.Error == nil) {
		t.Errorf("%+v %+v", a, b)
	}
}

// A long text under many patterns is given up.
func TestPatternsOnLongTexts(t *testing.T) {
	s, err := compile("x", json.RawMessage(`{"allOf":[`+strings.TrimSuffix(strings.Repeat(`{"pattern":"^(a|aa|b)*c$"},`, 500), ",")+`]}`))
	if err != nil {
		t.Fatal(err)
	}
	if err := s.check(json.RawMessage(`"` + strings.Repeat("a", 1<<18) + `"`)); err == nil || !strings.Contains(err.Error(), "steps") {
		t.Error(err)
	}
	one, err := compile("x", json.RawMessage(`{"properties":{"text":{"type":"string","pattern":"a$"}}}`))
	if err != nil {
		t.Fatal(err)
	}
	if err := one.check(json.RawMessage(`{"text":"` + strings.Repeat("a", 1<<20) + `"}`)); err != nil {
		t.Error(err)
	}
}
