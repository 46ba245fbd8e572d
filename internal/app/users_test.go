package app

import (
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"macaron/internal/auth"
	"macaron/internal/backend/backendtest"
	"macaron/internal/clock"
	"macaron/internal/config"
	"macaron/internal/ids"
	"macaron/internal/obs"
)

// ofUsers makes L3 the adapter of one user of a tenant.
func ofUsers(t *testing.T, cfg config.Config, users string) {
	t.Helper()
	text, err := os.ReadFile(cfg.Contract)
	if err != nil {
		t.Fatal(err)
	}
	private := strings.Replace(string(text), `title = "GenUI"`, "title = \"GenUI\"\nusers = ["+users+"]", 1)
	if err := os.WriteFile(cfg.Contract, []byte(private), 0o600); err != nil {
		t.Fatal(err)
	}
}

// userSite has a key for each way in which a user is known, and L3 for ana of acme.
func userSite(t *testing.T) (*site, *backendtest.Scripted, map[string]func(*http.Request)) {
	t.Helper()
	cfg, now, g := settings(t, t.TempDir()), &clock.Fixed{T: time.Now().UTC()}, &backendtest.Scripted{}
	ofUsers(t, cfg, `"acme/ana"`)
	m := &auth.Manager{Store: auth.OpenFile(cfg.Home), IDs: ids.NewSource(now, nil), Now: now.Now}
	show := map[string]func(*http.Request){}
	for name, k := range map[string]auth.Key{
		"ana": {User: "ana"}, "bob": {User: "bob"}, "plain": {}, "app": {Trusted: true}, "other's ana": {Tenant: "other", User: "ana"}, "other app": {Tenant: "other", Trusted: true},
	} {
		if k.Scopes = auth.Scopes(); k.Tenant == "" {
			k.Tenant = "acme"
		}
		_, secret, err := m.Create(t.Context(), k)
		if err != nil {
			t.Fatal(err)
		}
		show[name] = with("Bearer", secret)
	}
	a, err := New(cfg, Options{Version: "test", Log: obs.Discard(), Generator: g, Clock: now})
	if err != nil {
		t.Fatal(err)
	}
	return serve(t, a), g, show
}

func naming(user string) func(*http.Request) {
	return func(r *http.Request) {
		if user != "" {
			r.Header.Set(auth.UserHeader, user)
		}
	}
}

// The three APIs, and what asks without a turn: a body for a model, a user and a text.
var bodiesOf = map[string]string{
	"/v1/chat/completions":      `{"model":%q,"user":%q,"messages":[{"role":"user","content":%q}]}`,
	"/v1/responses":             `{"model":%q,"user":%q,"input":%q}`,
	"/v1/messages":              `{"model":%q,"max_tokens":9,"metadata":{"user_id":%q},"messages":[{"role":"user","content":%q}]}`,
	"/v1/messages/count_tokens": `{"model":%q,"metadata":{"user_id":%q},"messages":[{"role":"user","content":%q}]}`,
	"/v1/route":                 `{"model":%q,"user":%q,"messages":[{"role":"user","content":%q}]}`,
}

// who is a way to ask for ana's adapter: a key, the user that the header and the body name.
type who struct {
	key, header, body string
	status            int
}

var whoever = []who{
	{"ana", "", "", 200}, {"ana", "", "bob", 200}, {"ana", "ana", "", 200}, {"ana", "bob", "", 403},
	{"bob", "", "", 404}, {"bob", "", "ana", 404}, {"bob", "ana", "", 403},
	{"plain", "", "", 404}, {"plain", "", "ana", 404}, {"plain", "ana", "", 403},
	{"app", "", "", 404}, {"app", "", "ana", 200}, {"app", "", "bob", 404}, {"app", "ana", "", 200}, {"app", "ana", "bob", 200}, {"app", "bob", "ana", 404}, {"app", "a\tna", "", 400},
	{"other's ana", "", "", 404}, {"other's ana", "", "ana", 404}, {"other app", "", "ana", 404}, {"other app", "ana", "", 404},
}

// An adapter of a user exists for that user of that tenant alone, as the key says or somebody
// whom the operator trusts with it: by name, in every list, and for the router.
func TestAdaptersOfAUser(t *testing.T) {
	s, g, show := userSite(t)
	for _, w := range whoever {
		as := []func(*http.Request){show[w.key], naming(w.header)}
		for path, body := range bodiesOf {
			resp, said := s.send("POST", path, fmt.Sprintf(body, "macaron/L3", w.body, "x"), as...)
			want := w.status
			if path == "/v1/messages/count_tokens" && want == 200 {
				want = 400 // a scripted engine counts nothing
			}
			if resp.StatusCode != want {
				t.Errorf("%+v at %s: %d %s", w, path, resp.StatusCode, said)
			}
			if want == 404 && !strings.Contains(said, "L3") {
				t.Errorf("%+v at %s: %s", w, path, said)
			}
		}
		if w.body != "" || w.status == 403 || w.status == 400 {
			continue
		}
		for _, path := range []string{"/v1/models", "/admin/adapters"} {
			if _, list := s.send("GET", path, "", as...); strings.Contains(list, "L3") != (w.status == 200) || !strings.Contains(list, "L2") {
				t.Errorf("%+v: %s has %s", w, path, list)
			}
		}
		if resp, list := s.send("GET", "/v1/models/macaron/L3", "", append(as, func(r *http.Request) { r.Header.Set("Anthropic-Version", "2023-06-01") })...); resp.StatusCode != w.status {
			t.Errorf("%+v: the model is %d %s", w, resp.StatusCode, list)
		}
	}
	before := len(g.Seen())
	for _, w := range whoever {
		if w.status == 403 || w.status == 400 {
			continue
		}
		for path, body := range bodiesOf {
			if path == "/v1/messages/count_tokens" {
				continue
			}
			resp, said := s.send("POST", path, fmt.Sprintf(body, "macaron", w.body, "L3: draw"), show[w.key], naming(w.header))
			if got := resp.Header.Get("X-Macaron-Adapter"); path != "/v1/route" && (got == "L3") != (w.status == 200) || resp.StatusCode != 200 {
				t.Errorf("%+v at %s: routed to %q, %d %s", w, path, got, resp.StatusCode, said)
			}
			for _, q := range g.Seen()[before:] {
				if len(q.Choices) > 0 && strings.Contains(q.Messages[0].Text(), "L3:") != (w.status == 200) {
					t.Errorf("%+v at %s: the router was asked %q", w, path, q.Messages[0].Text())
				}
			}
			before = len(g.Seen())
		}
	}
}

// Without keys nobody is known: what a body names is no user.
func TestNobodyIsAUserWithoutKeys(t *testing.T) {
	cfg := settings(t, t.TempDir())
	ofUsers(t, cfg, `"local/ana"`)
	s := start(t, cfg, &backendtest.Scripted{})
	for path, body := range bodiesOf {
		if resp, said := s.send("POST", path, fmt.Sprintf(body, "macaron/L3", "ana", "x")); resp.StatusCode != 404 {
			t.Errorf("%s: %d %s", path, resp.StatusCode, said)
		}
	}
	if resp, said := s.send("GET", "/v1/models", "", naming("ana")); resp.StatusCode != 403 {
		t.Errorf("%d %s", resp.StatusCode, said)
	}
}

// The log says for whom a route was decided, and among what.
func TestTheLogNamesTheUserOfARoute(t *testing.T) {
	s, _, show := userSite(t)
	for _, w := range []who{{"ana", "", "", 200}, {"app", "", "ana", 200}, {"plain", "", "ana", 404}} {
		resp, _ := s.send("POST", "/v1/chat/completions", fmt.Sprintf(bodiesOf["/v1/chat/completions"], "macaron", w.body, "draw"), show[w.key])
		_, text := s.send("GET", "/admin/route/"+resp.Header.Get("X-Macaron-Turn"), "", show["plain"])
		o := decoded(t, text)
		user, _ := o["user"].(string)
		if known := w.status == 200; known != (user == "ana") || known != strings.Contains(fmt.Sprint(o["labels"]), "L3") || known != strings.Contains(fmt.Sprint(o["prompt"]), "L3: ") {
			t.Errorf("%+v: %s", w, text)
		}
	}
}

// Tool results do not bring anybody into the open turn of a user's adapter.
func TestOpenTurnsOfAUsersAdapter(t *testing.T) {
	s, g, show := userSite(t)
	g.On = callsOf("look")
	body := func(user, more string) string {
		return `{"model":"macaron","user":"` + user + `","tools":[{"type":"function","function":{"name":"look","parameters":{"type":"object"}}}],"messages":[{"role":"user","content":"L3: use tools"}` + more + `]}`
	}
	results := `,{"role":"assistant","content":null,"tool_calls":[{"id":"call_look","type":"function","function":{"name":"look","arguments":"{\"city\": \"Paris\"}"}}]},{"role":"tool","tool_call_id":"call_look","content":"sunny"}`
	first, said := s.send("POST", "/v1/chat/completions", body("ana", ""), show["app"])
	if first.Header.Get("X-Macaron-Adapter") != "L3" || !strings.Contains(said, "call_look") {
		t.Fatal(said)
	}
	if resp, said := s.send("POST", "/v1/chat/completions", body("ana", results), show["plain"]); resp.StatusCode != 404 {
		t.Errorf("who says to be ana goes on: %d %s", resp.StatusCode, said)
	}
	for _, w := range []who{{"bob", "", "", 0}, {"bob", "", "ana", 0}, {"app", "", "bob", 0}} {
		if resp, said := s.send("POST", "/v1/chat/completions", body(w.body, results), show[w.key]); resp.Header.Get("X-Macaron-Adapter") == "L3" {
			t.Errorf("%+v goes on: %s", w, said)
		}
	}
	if resp, said := s.send("POST", "/v1/chat/completions", body("ana", results), show["app"]); resp.StatusCode != 200 || resp.Header.Get("X-Macaron-Turn") != first.Header.Get("X-Macaron-Turn") {
		t.Errorf("ana does not go on: %d %s", resp.StatusCode, said)
	}
}
