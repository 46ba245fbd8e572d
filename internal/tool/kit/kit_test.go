package kit

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"macaron/internal/contract"
	"macaron/internal/errs"
	"macaron/internal/tool"
	"macaron/internal/tool/builtin"
)

// remote is a tool of a server of which nothing is known.
type remote struct{}

func (remote) Def() tool.Def {
	return tool.Def{Name: "r", Description: "theirs", Effect: tool.Irreversible, Approval: true}
}

func (remote) Invoke(context.Context, tool.Call) (tool.Result, error) {
	return tool.Result{Value: json.RawMessage(`1`)}, nil
}

func parts(t *testing.T) Parts {
	t.Helper()
	return Parts{Files: &builtin.Files{Dir: t.TempDir()}, MCP: func(_ context.Context, server, name string) (tool.Tool, error) {
		if server != "s" || name != "r" {
			return nil, errs.New(errs.NotFound, "no such tool", "")
		}
		return remote{}, nil
	}, Skip: func(use string) bool { return use == "builtin:run.finish" }}
}

func TestContractToolsAreMade(t *testing.T) {
	c := &contract.Contract{Policies: contract.Policies{Hosts: []string{"api.example.org"}}, Tools: []contract.Tool{
		{Name: "look", Use: "builtin:files.read", Description: "ours", Observe: true, TimeoutMS: 5},
		{Name: "save", Use: "builtin:files.write", Effect: tool.Irreversible, Approval: true},
		{Name: "unknown", Use: "mcp:s/r"},
		{Name: "known", Use: "mcp:s/r", Effect: tool.Read, NoAI: []string{"/key"}},
		{Name: "item", Use: "http", Description: "d", Effect: tool.Read, Parameters: contract.Object{"type": "object"}, HTTP: contract.HTTP{Method: "GET", URL: "https://api.example.org/{{id}}"}},
		{Name: "fetch", Use: "builtin:http.get"},
		{Name: "finish", Use: "builtin:run.finish"},
	}}
	made, err := Build(context.Background(), c, parts(t))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, m := range made {
		d := m.Def()
		got = append(got, strings.Join([]string{d.Name, string(d.Effect), map[bool]string{true: "asks", false: "-"}[d.Approval], strings.Join(d.NoAI, ",")}, " "))
	}
	want := []string{"look read - ", "save irreversible asks ", "unknown irreversible asks ", "known read - /key", "item read - ", "fetch read - "}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if d := made[0].Def(); d.Description != "ours" || !d.Observe || d.TimeoutMS != 5 || len(d.Parameters) == 0 {
		t.Errorf("%+v", d)
	}
}

// A contract that is for the tasks of every world has in each what the task offers.
func TestToolsOfAWorldAreThereWhereTheyAreOffered(t *testing.T) {
	c := &contract.Contract{Tools: []contract.Tool{{Name: "their_own", Use: "world:known", Effect: tool.Irreversible}, {Name: "other", Use: "world:other"}, {Name: "look", Use: "builtin:files.read"}}}
	p := parts(t)
	for want, offered := range map[string]map[string]tool.Tool{"look": nil, "their_own look": {"known": remote{}, "unasked": remote{}}} {
		p.World = offered
		made, err := Build(context.Background(), c, p)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, m := range made {
			got = append(got, m.Def().Name)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%v, want %s", got, want)
		}
	}
}

func TestWhatCannotBeHadIsRefused(t *testing.T) {
	get := contract.HTTP{Method: "GET", URL: "https://other.example.org/"}
	for says, x := range map[string]contract.Tool{
		"there is no builtin":  {Use: "builtin:files.burn"},
		"effect is write":      {Use: "builtin:files.write", Effect: tool.Read},
		"no such tool":         {Use: "mcp:s/none"},
		"no shed":              {Use: "shed:sha256:" + strings.Repeat("0", 64)},
		"not on the list":      {Use: "http", HTTP: get, Effect: tool.Read},
		"no builtin shell":     {Use: "builtin:shell"},
		"no builtin memory":    {Use: "builtin:memory.search"},
		"not one of pure":      {Use: "mcp:s/r", Effect: "maybe"},
		"is no JSON pointer":   {Use: "mcp:s/r", NoAI: []string{"x"}},
		"a fixed scheme and h": {Use: "http", HTTP: contract.HTTP{Method: "GET", URL: "https://{{x}}/", Hosts: []string{"a"}}},
	} {
		x.Name = "f"
		c := &contract.Contract{Policies: contract.Policies{Hosts: []string{"api.example.org"}}, Tools: []contract.Tool{x}}
		if _, err := Build(context.Background(), c, parts(t)); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", x.Use, err)
		}
	}
	none := &contract.Contract{Tools: []contract.Tool{{Name: "f", Use: "builtin:http.get"}}}
	if _, err := Build(context.Background(), none, parts(t)); errs.CodeOf(err) != errs.InvalidRequest {
		t.Error(err)
	}
}
