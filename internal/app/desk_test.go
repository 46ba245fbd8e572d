package app

import (
	"context"
	"encoding/json"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"macaron/internal/auth"
	"macaron/internal/record"
)

// carrying sends a key with each request.
type carrying struct {
	key  string
	next http.RoundTripper
}

func (c carrying) RoundTrip(q *http.Request) (*http.Response, error) {
	q = q.Clone(q.Context())
	q.Header.Set("Authorization", "Bearer "+c.key)
	return c.next.RoundTrip(q)
}

// client is the protocol's own SDK at /mcp.
type client struct {
	t *testing.T
	*sdk.ClientSession
}

func (s *site) client(key string) client {
	s.t.Helper()
	c := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil)
	session, err := c.Connect(s.t.Context(), &sdk.StreamableClientTransport{Endpoint: s.base + "/mcp", DisableStandaloneSSE: true, HTTPClient: &http.Client{Transport: carrying{key, s.http.Transport}}}, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { _ = session.Close() })
	return client{s.t, session}
}

// use calls a tool; the error is what the client is told.
func (c client) use(name string, args object) (out map[string]any, failed string) {
	c.t.Helper()
	r, err := c.CallTool(context.Background(), &sdk.CallToolParams{Name: name, Arguments: args})
	if err != nil {
		c.t.Fatal(err)
	}
	text := r.Content[0].(*sdk.TextContent).Text
	if r.IsError {
		return nil, text
	}
	if err := json.Unmarshal([]byte(text), &out); err != nil {
		c.t.Fatal(err)
	}
	return out, ""
}

// A client is told of a card what the command line tells.
func TestClientsCheckCards(t *testing.T) {
	s, keys := keyedSite(t, map[string]auth.Key{"ann": {}})
	ann := s.client(keys["ann"])
	for code, want := range map[string]string{
		"export default () => <p>a</p>;":                                              "",
		"import { Buton } from \"$ui4a/ui\";\nexport default () => <Buton>a</Buton>;": "unknown-export",
	} {
		got, failed := ann.use("render_ui", object{"code": code})
		text, err := json.Marshal(got["findings"])
		if err != nil || failed != "" || got["ok"] != (want == "") || !strings.Contains(string(text), want) {
			t.Errorf("%q: %v %s", code, got, failed)
		}
	}
	if _, failed := ann.use("render_ui", object{"code": ""}); !strings.Contains(failed, "no code") {
		t.Errorf("no code: %s", failed)
	}
}

func TestClientsOfTwoTenants(t *testing.T) {
	s, keys := keyedSite(t, map[string]auth.Key{"ann": {Tenant: "acme"}, "bob": {Tenant: "other"}, "reads": {Scopes: []auth.Scope{auth.Read}}})
	ann, bob := s.client(keys["ann"]), s.client(keys["bob"])
	hers, failed := ann.use("run_code", object{"code": "x = 'hers'\nopen('a.txt', 'w').write(x)"})
	if failed != "" {
		t.Fatal(failed)
	}
	session := hers["session"]
	for _, name := range []string{"run_code", "call_tool", "list_tools", "close_session", "ask"} {
		args := object{"session": session}
		switch name {
		case "run_code":
			args["code"] = "x"
		case "call_tool":
			args["name"], args["arguments"] = "read_file", object{"path": "a.txt"}
		case "ask":
			args["text"] = "hello"
		}
		if got, failed := bob.use(name, args); !strings.Contains(failed, "not_found") {
			t.Errorf("%s in another tenant's session: %v %s", name, got, failed)
		}
	}
	if got, _ := bob.use("list_sessions", nil); len(got["sessions"].([]any)) != 0 {
		t.Errorf("bob sees %v", got)
	}
	if got, failed := ann.use("call_tool", object{"name": "read_file", "arguments": object{"path": "a.txt"}, "session": session}); !strings.Contains(got["result"].(string), "hers") {
		t.Error(got, failed)
	}
	saved, failed := ann.use("save_tool", object{"name": "twice", "source": "def twice(n: int):\n    return n * 2\n"})
	if failed != "" {
		t.Fatal(failed)
	}
	for name, args := range map[string]object{
		"a caller's trajectory":   {"name": "thrice", "source": "def thrice(n: int):\n    return n * 3\n", "trajectory": "run_1"},
		"another's session":       {"name": "thrice", "source": "def thrice(n: int):\n    return n * 3\n", "session": "mcp_none"},
		"a session that is no id": {"name": "thrice", "source": "def thrice(n: int):\n    return n * 3\n", "session": 1},
	} {
		if got, failed := ann.use("save_tool", args); failed == "" {
			t.Errorf("%s: %v", name, got)
		}
	}
	kept, err := s.tools.Shed.List(t.Context(), "acme")
	if err != nil || len(kept) != 1 {
		t.Fatal(kept, err)
	}
	all, err := s.store.Records(t.Context(), "acme", kept[0].Saved.Trajectory, 0, 99)
	if err != nil || !slices.ContainsFunc(all, func(r record.Record) bool {
		b, ok := r.Body.(record.ToolReturned)
		return ok && b.Name == "save_tool" && strings.Contains(string(b.Value), saved["tool"].(string))
	}) {
		t.Errorf("the tool's trajectory %q does not tell of it: %v", kept[0].Saved.Trajectory, err)
	}
	for owner, want := range map[string]int{"acme": 1, "other": 0} {
		if list, err := s.tools.Shed.List(t.Context(), owner); err != nil || len(list) != want {
			t.Errorf("%s has %d tools, %v, saved %v", owner, len(list), err, saved)
		}
		if list, err := s.sessions.List(t.Context(), owner, time.Time{}, 0); err != nil || len(list) != 0 {
			t.Errorf("%s: sessions of the protocol are among the conversations: %+v %v", owner, list, err)
		}
	}
	if resp, body := s.send("POST", "/mcp", `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, func(r *http.Request) { r.Header.Set("Authorization", "Bearer "+keys["reads"]) }); resp.StatusCode != 403 {
		t.Errorf("a key without the scope: %d %s", resp.StatusCode, body)
	}
}

// A turn of chat over the protocol is a turn like any other: routed, of one tenant, in one
// conversation.
func TestAskIsATurnOfChat(t *testing.T) {
	s, keys := keyedSite(t, map[string]auth.Key{"ann": {Tenant: "acme"}})
	ann := s.client(keys["ann"])
	first, failed := ann.use("ask", object{"text": "hello"})
	if failed != "" || first["answer"] == "" || first["adapter"] == "" {
		t.Fatal(first, failed)
	}
	again, failed := ann.use("ask", object{"text": "and then?", "session": first["session"]})
	if failed != "" {
		t.Fatal(failed)
	}
	list, err := s.sessions.List(t.Context(), "acme", time.Time{}, 0)
	if err != nil || len(list) != 1 || list[0].Turns != 2 || !strings.HasPrefix(again["conversation"].(string), list[0].Session+"/") {
		t.Errorf("%+v %v %v", list, err, again)
	}
	seen := s.engine.Seen()
	var shown []string
	for _, m := range seen[len(seen)-1].Messages {
		shown = append(shown, m.Text())
	}
	if text := strings.Join(shown, "|"); !strings.Contains(text, "hello") && !strings.Contains(text, "and then?") {
		t.Error(text)
	}
	if _, failed := ann.use("ask", object{"text": ""}); failed == "" {
		t.Error("an empty text was asked")
	}
}

// Code of a client cannot get what a person must allow, nor more than the contract lets it.
func TestWhatClientsCannotDo(t *testing.T) {
	cfg := settings(t, t.TempDir())
	text, err := os.ReadFile(cfg.Contract)
	if err != nil {
		t.Fatal(err)
	}
	more := "\n[[tools]]\nname = \"run_shell\"\nuse = \"builtin:shell\"\napproval = true\n"
	if err := os.WriteFile(cfg.Contract, append(text, more...), 0o600); err != nil {
		t.Fatal(err)
	}
	s := start(t, cfg, acting())
	c := s.client("")
	_, failed := c.use("call_tool", object{"name": "run_shell", "arguments": object{"command": "id"}})
	if !strings.Contains(failed, "needs a person's approval") {
		t.Error(failed)
	}
	got, _ := c.use("run_code", object{"code": "try:\n    run_shell('id')\nexcept Exception as e:\n    print(e, e.code, e.retryable)"})
	if out := got["output"].(string); !strings.Contains(out, "needs a person's approval") || !strings.Contains(out, "forbidden False") {
		t.Error(got)
	}
}
