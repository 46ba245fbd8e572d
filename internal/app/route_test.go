package app

import (
	"io"
	"os"
	"strings"
	"testing"

	"macaron/internal/backend/backendtest"
)

func (s *site) postTo(path, body string) (int, object) {
	s.t.Helper()
	resp, err := s.http.Post(s.base+path, "application/json", strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	defer resp.Body.Close()
	return resp.StatusCode, s.object(resp)
}

func TestRouteOfAConversation(t *testing.T) {
	s, g := scriptedSite(t)
	code, o := s.postTo("/v1/route", `{"messages":[{"role":"user","content":"L1: book"},{"role":"assistant","content":"done"},{"role":"user","content":"L2: write a loop"}],"temperature":0.5,"zz":1}`)
	if code != 200 || at[string](o, "object") != "route" || at[string](o, "adapter") != "L2" || at[string](o, "reason") != "model" || at[float64](o, "probabilities", "L2") != 0.9 || o["turn"] != nil {
		t.Errorf("%d %v", code, o)
	}
	if ignored := at[[]any](o, "ignored"); len(ignored) != 2 {
		t.Errorf("ignored %v", ignored)
	}
	if prompt := g.Seen()[0].Messages[1].Text(); !strings.HasPrefix(prompt, `Previous: "L1: book"`) {
		t.Errorf("asked %q", prompt)
	}
	if _, body := s.get("/admin/sessions"); !strings.Contains(body, `"data":[]`) {
		t.Errorf("a dry run is in the log: %s", body)
	}
	for body, field := range map[string]string{`{}`: "messages", `{"messages":[]}`: "messages", `{"model":"gpt-4","messages":[{"role":"user","content":"x"}]}`: "model"} {
		if code, o := s.postTo("/v1/route", body); code < 400 || code >= 500 || at[string](o, "error", "param") != field {
			t.Errorf("%s gives %d %v", body, code, o)
		}
	}
}

func TestTheLogExplainsARoute(t *testing.T) {
	s, _ := scriptedSite(t)
	resp := s.post(ask(user("L2: write a loop")))
	_, _ = io.Copy(io.Discard, resp.Body)
	resp.Body.Close()
	for _, id := range []string{resp.Header.Get("X-Macaron-Turn"), resp.Header.Get("X-Request-Id")} {
		code, body := s.get("/admin/route/" + id)
		if code != 200 || !strings.Contains(body, `"adapter": "L2"`) || !strings.Contains(body, `"text": "L2: write a loop"`) {
			t.Errorf("%s: %d %s", id, code, body)
		}
	}
	if code, _ := s.get("/admin/route/nobody"); code != 404 {
		t.Errorf("an unknown id gives %d", code)
	}
}

// An adapter of another tenant does not exist: it is in no list and no prompt, it cannot be forced, and
// the answer is that of a name that nobody has.
func TestAnotherTenantsAdapterDoesNotExist(t *testing.T) {
	cfg := settings(t, t.TempDir())
	text, err := os.ReadFile(cfg.Contract)
	if err != nil {
		t.Fatal(err)
	}
	private := strings.Replace(string(text), `title = "GenUI"`, "title = \"GenUI\"\nowners = [\"somebody\"]", 1)
	if err := os.WriteFile(cfg.Contract, []byte(private), 0o600); err != nil {
		t.Fatal(err)
	}
	g := &backendtest.Scripted{}
	s := start(t, cfg, g)
	if _, body := s.get("/v1/models"); strings.Contains(body, "L3") || !strings.Contains(body, "macaron/L2") {
		t.Errorf("the list has %s", body)
	}
	if _, body := s.get("/admin/adapters"); strings.Contains(body, "L3") {
		t.Errorf("the page has %s", body)
	}
	for _, path := range []string{"/v1/chat/completions", "/v1/route"} {
		_, foreign := s.postTo(path, `{"model":"macaron/L3","messages":[{"role":"user","content":"x"}]}`)
		_, nobody := s.postTo(path, `{"model":"macaron/L9","messages":[{"role":"user","content":"x"}]}`)
		a, b := at[string](foreign, "error", "message"), at[string](nobody, "error", "message")
		if a == "" || strings.ReplaceAll(a, "L3", "L9") != b {
			t.Errorf("%s: %q differs from %q", path, a, b)
		}
	}
	if code, o := s.postTo("/v1/route", `{"messages":[{"role":"user","content":"L3: a chart"}]}`); code != 200 || at[string](o, "adapter") == "L3" {
		t.Errorf("%d %v", code, o)
	}
	for _, r := range g.Seen() {
		if strings.Contains(r.Messages[0].Text(), "L3") {
			t.Errorf("the route prompt is %q", r.Messages[0].Text())
		}
	}
}
