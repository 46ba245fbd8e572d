package app

import (
	"bytes"
	"context"
	"net/http"
	"os"
	"strings"
	"testing"

	"macaron/internal/backend"
	"macaron/internal/backend/backendtest"
	"macaron/internal/chat"
	"macaron/internal/config"
)

// edit rewrites the contract in force.
func edit(t *testing.T, cfg config.Config, old, new string) {
	t.Helper()
	text, err := os.ReadFile(cfg.Contract)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Contains(text, []byte(old)) {
		t.Fatalf("the contract has no %q", old)
	}
	if err := os.WriteFile(cfg.Contract, bytes.Replace(text, []byte(old), []byte(new), 1), 0o600); err != nil {
		t.Fatal(err)
	}
}

// A changed contract is taken up while the server runs; a broken one is not.
func TestTheContractIsTakenUpAsItChanges(t *testing.T) {
	cfg := settings(t, t.TempDir())
	s := start(t, cfg, &backendtest.Scripted{})
	edit(t, cfg, "[[adapters]]", "[[adapters]]\nname = \"L4\"\ntitle = \"Poems\"\nsource = \"model:poet\"\ndescription = \"poems\"\nprompt = \"You write poems.\"\n\n[[adapters]]")
	edit(t, cfg, `order = ["L3"`, `order = ["L4", "L3"`)
	if _, body := s.get("/v1/models"); !strings.Contains(body, `"macaron/L4"`) {
		t.Errorf("the new adapter is not there: %s", body)
	}
	if o := s.object(s.post(ask(user("L4: a sonnet")))); at[string](o, "macaron", "adapter") != "L4" {
		t.Errorf("%v", o)
	}
	edit(t, cfg, `name = "L4"`, `name = `)
	if _, body := s.get("/v1/models"); !strings.Contains(body, `"macaron/L4"`) {
		t.Error("a broken contract is in force")
	}
}

// An open turn keeps its adapter and contract across tool results, a restart and a
// contract that no longer knows the adapter.
func TestAnOpenTurnOutlivesItsAdapter(t *testing.T) {
	home := t.TempDir()
	g := &backendtest.Scripted{On: func(_ context.Context, r backend.Request, emit func(chat.Event) bool) (bool, error) {
		if len(r.Choices) > 0 {
			return false, nil
		}
		backendtest.Emit(emit, backendtest.Call(0, "c1", "find", `{}`))
		return true, nil
	}}
	cfg := settings(t, home)
	first := start(t, cfg, g)
	q := ask(user("L1: find a table"))
	q["tools"] = []any{object{"type": "function", "function": object{"name": "find"}}}
	called := first.object(first.post(q))
	if err := first.stop(); err != nil {
		t.Fatal(err)
	}

	text, err := os.ReadFile(cfg.Contract)
	if err != nil {
		t.Fatal(err)
	}
	cut := string(text)
	from := strings.Index(cut, "[[adapters]]\nname = \"L1\"")
	to := from + 12 + strings.Index(cut[from+12:], "[[adapters]]")
	cut = strings.Replace(cut[:from]+cut[to:], `"L2", "L1", "L0"`, `"L2", "L0"`, 1)
	cut = strings.Replace(cut, `adapter = "L1"`, `adapter = "L0"`, 1) // of the agent
	if err := os.WriteFile(cfg.Contract, []byte(cut), 0o600); err != nil {
		t.Fatal(err)
	}
	loaded, err := config.Load(map[string]string{"home": home, "contract": cfg.Contract, "listen": "127.0.0.1:0"})
	if err != nil {
		t.Fatal(err)
	}
	second := start(t, loaded, &backendtest.Scripted{})
	q["model"] = "macaron/L1" // as a client does that forced it from the start
	message := at[object](at[[]any](called, "choices")[0], "message")
	q["messages"] = []any{user("L1: find a table"), message, object{"role": "tool", "tool_call_id": "c1", "content": "at eight"}}
	done := second.object(second.post(q))
	for _, field := range []string{"turn", "adapter", "revision", "contract"} {
		if a, b := at[string](called, "macaron", field), at[string](done, "macaron", field); a != b || a == "" {
			t.Errorf("%s was %q and is %q", field, a, b)
		}
	}
	if resp := second.post(object{"model": "macaron/L1", "messages": []any{user("x")}}); resp.StatusCode != http.StatusNotFound {
		t.Errorf("the retired adapter can be forced: %d", resp.StatusCode)
	}
	q["model"] = "macaron"
	// Its past turn stays as a summary.
	q["messages"] = append(q["messages"].([]any), at[object](at[[]any](done, "choices")[0], "message"), user("L2: and now code"))
	if o := second.object(second.post(q)); at[string](o, "macaron", "adapter") != "L2" || at[string](o, "macaron", "session") != at[string](called, "macaron", "session") {
		t.Errorf("%v", o)
	}
}
