package app

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"macaron/internal/config"
	"macaron/internal/engine/enginetest"
	"macaron/internal/errs"
	"macaron/internal/obs"
)

// tinyContract registers four tiny adapters and fits the tiny model's context, in
// which a token is a byte.
const tinyContract = `schema = "macaron.hcp/1"
name = "tiny"
version = "1.0.0"
[model]
base = "tiny"
[prompts]
system = "{{specialist}}"
route = "{{adapters}} {{order}}"
summary = "sum"
foreign = "[{{summary}}]"
tools = "{{tools}}"
[router]
adapter = "L0"
default = "L0"
order = ["L3", "L2", "L1", "L0"]
min_probability = 0.0
request_chars = 60
context_chars = 20
[budgets]
route_tokens = 8
summary_tokens = 12
answer_tokens = 24
summary_wait_ms = 20000
[sampling]
temperature = 0.3
`

// engineSettings configures the real engine on the tiny model with real adapters.
func engineSettings(t *testing.T) config.Config {
	t.Helper()
	home := t.TempDir()
	text := tinyContract
	for i := range 4 {
		text += fmt.Sprintf("[[adapters]]\nname = \"L%d\"\ntitle = \"T%d\"\nsource = %q\ndescription = \"d%d\"\nprompt = \"p%d\"\n", i, i, enginetest.Adapter(t, uint64(i+1)), i, i)
	}
	path := filepath.Join(home, "macaron.toml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	cfg, err := config.Load(map[string]string{"home": home, "contract": path, "listen": "127.0.0.1:0",
		"model": enginetest.Model(t, 1), "engine.threads": "2", "engine.kv_bytes": "8388608"})
	if err != nil {
		t.Fatal(err)
	}
	return cfg
}

func engineSite(t *testing.T) *site {
	t.Helper()
	s := start(t, engineSettings(t), nil)
	if err := s.WaitReady(t.Context()); err != nil {
		t.Fatal(err)
	}
	return s
}

// converse holds a conversation of five turns at temperature 0 in one mode.
func (s *site) converse(name string, mode bool, models ...string) (answers []string, adapters []string) {
	s.t.Helper()
	var history []any
	for i, model := range models {
		history = append(history, user(fmt.Sprintf("turn %d: what now?", i)))
		q := object{"model": model, "messages": history, "temperature": 0, "user": name}
		text, adapter := s.answer(q, mode)
		history = append(history, object{"role": "assistant", "content": text})
		answers, adapters = append(answers, text), append(adapters, adapter)
	}
	return answers, adapters
}

// The non-stream answer is the stream, collected: five turns are equal, with the
// router and across specialists, and each mode's turns are one session.
func TestFiveTurnsAreEqualInBothModes(t *testing.T) {
	s := engineSite(t)
	for name, models := range map[string][]string{
		"routed": {"macaron", "macaron", "macaron", "macaron", "macaron"},
		"forced": {"macaron/L2", "macaron/L1", "macaron/L2", "macaron/L3", "macaron/L2"},
	} {
		one, by := s.converse(name+"-stream", true, models...)
		two, same := s.converse(name+"-whole", false, models...)
		if strings.Join(one, "\x00") != strings.Join(two, "\x00") || fmt.Sprint(by) != fmt.Sprint(same) {
			t.Errorf("%s:\n%q by %v\n%q by %v", name, one, by, two, same)
		}
		if n := len(s.turnsOf()); n != 5 {
			t.Errorf("%s: the last session has %d turns", name, n)
		}
	}
}

// A specialist that comes back finds the KV of its own earlier view.
func TestReentryReusesThePrefix(t *testing.T) {
	s := engineSite(t)
	s.converse("x", false, "macaron/L2", "macaron/L1", "macaron/L2")
	turns := s.turnsOf()
	again := turns[2].Hops[len(turns[2].Hops)-1].Usage
	if again.CachedTokens == 0 {
		t.Errorf("usage of the third turn: %+v", again)
	}
}

func TestAPromptBeyondTheContextIsRefusedWithNumbers(t *testing.T) {
	s := engineSite(t)
	for _, mode := range []bool{false, true} {
		q := object{"model": "macaron/L1", "messages": []any{user(strings.Repeat("long ", 400))}, "stream": mode}
		resp := s.post(q)
		o := s.object(resp)
		if resp.StatusCode != 400 || at[string](o, "error", "code") != "context_length_exceeded" || !strings.ContainsAny(at[string](o, "error", "message"), "0123456789") {
			t.Errorf("stream %v: %d %v", mode, resp.StatusCode, o)
		}
	}
}

// One Macaron is the upstream of another: a real server behind the upstream backend.
func TestOneMacaronServesAnother(t *testing.T) {
	below := engineSite(t)
	cfg := settings(t, t.TempDir())
	cfg.Upstream.URL, cfg.Upstream.Dialect = below.base+"/v1", "auto"
	cfg.Upstream.Models = map[string]string{"L0": "macaron/L0", "L1": "macaron/L1", "L2": "macaron/L2", "L3": "macaron/L3"}
	text := strings.ReplaceAll(tinyContract, `"L3", "L2", "L1", "L0"`, `"L2", "L0"`) +
		"[[adapters]]\nname = \"L0\"\ntitle = \"A\"\nsource = \"model:x\"\ndescription = \"d\"\nprompt = \"p\"\n" +
		"[[adapters]]\nname = \"L2\"\ntitle = \"B\"\nsource = \"model:y\"\ndescription = \"d\"\nprompt = \"p\"\n"
	if err := os.WriteFile(cfg.Contract, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	above := start(t, cfg, nil)
	if code, body := above.get("/readyz"); code != 200 {
		t.Errorf("readyz gives %d %s", code, body)
	}
	one, by := above.converse("a", true, "macaron/L2", "macaron", "macaron/L2")
	two, _ := above.converse("b", false, "macaron/L2", "macaron", "macaron/L2")
	if strings.Join(one, "\x00") != strings.Join(two, "\x00") || by[0] != "L2" || one[0] == "" {
		t.Errorf("%q by %v\n%q", one, by, two)
	}
	// The tiny model names no label, so the router's answer is a logged fall-back.
	if turn := above.turnsOf()[1]; turn.Route == nil || turn.Route.Reason != "fallback" && turn.Route.Reason != "model" {
		t.Errorf("route %+v", turn.Route)
	}
	hops := above.turnsOf()[0].Hops
	if u := hops[len(hops)-1].Usage; u.PromptTokens == 0 || u.OutputTokens == 0 {
		t.Errorf("usage %+v", u)
	}
}

// B18 with an upstream that is not there: the process lives and says what is missing.
func TestADeadUpstream(t *testing.T) {
	cfg := settings(t, t.TempDir())
	cfg.Upstream.URL = "http://127.0.0.1:1/v1"
	s := start(t, cfg, nil)
	if code, body := s.get("/readyz"); code != 503 || !strings.Contains(body, "does not answer") {
		t.Errorf("readyz gives %d %s", code, body)
	}
	for _, mode := range []bool{false, true} {
		q := ask(user("x"))
		q["stream"] = mode
		resp := s.post(q)
		if o := s.object(resp); resp.StatusCode != http.StatusBadGateway || at[string](o, "error", "code") != "upstream_unavailable" {
			t.Errorf("stream %v: %d %v", mode, resp.StatusCode, o)
		}
	}
}

func TestAMissingModelEndsTheProcessWithAdvice(t *testing.T) {
	cfg := engineSettings(t)
	cfg.Model = filepath.Join(t.TempDir(), "none.gguf")
	a, err := New(cfg, Options{Log: obs.Discard()})
	if err != nil {
		t.Fatal(err)
	}
	if e := errs.As(a.Run(t.Context())); e == nil || e.Code != errs.ModelNotFound || e.Next == "" {
		t.Errorf("got %v", e)
	}
}
