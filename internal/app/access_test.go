package app

import (
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"macaron/internal/auth"
	"macaron/internal/backend/backendtest"
	"macaron/internal/clock"
	"macaron/internal/errs"
	"macaron/internal/ids"
	"macaron/internal/obs"
)

// keyed is a site that asks for keys.
type keyed struct {
	*site
	*auth.Manager
	engine *backendtest.Scripted
	clock  *clock.Fixed // of keys and limits
}

// keyedSite makes the keys first, since a running server looks for new ones once a second.
func keyedSite(t *testing.T, want map[string]auth.Key, more ...func(*auth.Manager)) (*keyed, map[string]string) {
	t.Helper()
	cfg := settings(t, t.TempDir())
	k := &keyed{engine: &backendtest.Scripted{}, clock: &clock.Fixed{T: time.Now().UTC()}}
	k.Manager = &auth.Manager{Store: auth.OpenFile(cfg.Home), IDs: ids.NewSource(k.clock, nil), Now: k.clock.Now}
	secrets := map[string]string{}
	for name, key := range want {
		if key.Tenant == "" {
			key.Tenant = "acme"
		}
		if key.Scopes == nil {
			key.Scopes = auth.Scopes()
		}
		made, secret, err := k.Create(t.Context(), key)
		if err == nil && name == "revoked" {
			_, err = k.Revoke(t.Context(), made.ID)
		}
		if err != nil {
			t.Fatal(err)
		}
		secrets[name] = secret
	}
	for _, f := range more {
		f(k.Manager)
	}
	if _, ok := secrets["expired"]; ok {
		k.clock.Add(time.Hour)
	}
	a, err := New(cfg, Options{Version: "test", Log: obs.Discard(), Generator: k.engine, Clock: k.clock})
	if err != nil {
		t.Fatal(err)
	}
	k.site = serve(t, a)
	return k, secrets
}

// send makes a request and gives its status, headers and body.
func (s *site) send(method, path, body string, change ...func(*http.Request)) (*http.Response, string) {
	s.t.Helper()
	r, err := http.NewRequest(method, s.base+path, strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	for _, f := range change {
		f(r)
	}
	resp, err := s.http.Do(r)
	if err != nil {
		s.t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return resp, string(b)
}

// The ways in which a client could show a key. Only the headers count.
var forms = map[string]func(*http.Request, string){
	"Bearer":    func(r *http.Request, s string) { r.Header.Set("Authorization", "Bearer "+s) },
	"x-api-key": func(r *http.Request, s string) { r.Header.Set("X-Api-Key", s) },
	"query": func(r *http.Request, s string) {
		r.URL.RawQuery = "key=" + s + "&api_key=" + s + "&access_token=" + s + "&token=" + s
	},
	"cookie": func(r *http.Request, s string) {
		for _, name := range []string{"key", "api_key", "token", "session", "Authorization"} {
			r.AddCookie(&http.Cookie{Name: name, Value: s})
		}
	},
}

func with(form, secret string) func(*http.Request) {
	return func(r *http.Request) { forms[form](r, secret) }
}

// filled puts an id into a pattern's wildcards.
func filled(path, id string) string {
	for _, wildcard := range []string{"{$}", "{id}", "{id...}", "{name}", "{turn}", "{session}", "{adapter}", "{digest}", "{hash}", "{file}", "{file...}", "{alias}", "{run}", "{checkpoint...}", "{ticket}"} {
		with := id
		if wildcard == "{$}" {
			with = ""
		}
		path = strings.ReplaceAll(path, wildcard, with)
	}
	return path
}

// Every route of the one mux asks for what its line in the table says, however a key is shown: the mux
// is made of the table, so there is no other route. A new line is tested with the others.
func TestEveryRouteAsksForItsScope(t *testing.T) {
	k, secrets := keyedSite(t, map[string]auth.Key{
		"good":    {},
		"other":   {Tenant: "other"},
		"read":    {Scopes: []auth.Scope{auth.Read}},
		"metrics": {Scopes: []auth.Scope{auth.Metrics}},
		"expired": {Expires: time.Now().Add(time.Minute)},
		"revoked": {},
	})
	secrets["none"], secrets["wrong"] = "", auth.NewSecret()
	var public []string
	tested := 0
	for _, e := range k.entries {
		method, path, ok := strings.Cut(e.pattern, " ")
		if !ok || !slices.Contains(append(auth.Scopes(), auth.Any, auth.Public), e.scope) {
			t.Errorf("%s has the scope %q", e.pattern, e.scope)
		}
		if path = filled(path, "x"); strings.ContainsAny(path, "{}") {
			t.Fatalf("the wildcard of %s is not known to this test", e.pattern)
		}
		if e.scope == auth.Public {
			public = append(public, e.pattern)
			continue
		}
		for who, secret := range secrets {
			for form := range forms {
				want := expected(who, form, e.scope)
				resp, body := k.send(method, path, "{}", with(form, secret))
				refused := resp.StatusCode == http.StatusUnauthorized || resp.StatusCode == http.StatusForbidden
				if want != 0 && resp.StatusCode != want || want == 0 && refused {
					t.Errorf("%s with %s in %s gives %d, want %d: %s", e.pattern, who, form, resp.StatusCode, want, body)
				}
				if want == http.StatusUnauthorized && resp.Header.Get("WWW-Authenticate") != "Bearer" {
					t.Errorf("%s does not say how to show a key", e.pattern)
				}
				tested++
			}
		}
	}
	if want := []string{"GET /healthz", "GET /readyz", "GET /{$}", "GET /runs", "GET /training", "GET /forge/lineage", "GET /assets/{name}", "GET /ui4a/frame", "GET /ui4a/host/{name}", "GET /ui4a/gallery", "GET /api/v1/download/{ticket}/{file...}", "GET /api/v1/healthz"}; !slices.Equal(public, want) {
		t.Errorf("without a key one reaches %v, want %v", public, want)
	}
	if len(k.engine.Seen()) != 0 {
		t.Error("the engine was reached")
	}
	if tested < 300 {
		t.Errorf("only %d requests", tested)
	}
}

// expected is the status that a credential gets, 0 for one that is let in.
func expected(who, form string, scope auth.Scope) int {
	if form == "query" || form == "cookie" {
		return http.StatusUnauthorized
	}
	switch who {
	case "good", "other":
		return 0
	case "read", "metrics":
		if scope == auth.Any || string(scope) == who {
			return 0
		}
		return http.StatusForbidden
	}
	return http.StatusUnauthorized
}

// What stands in no line of the table is told only to those who have a key.
func TestUnknownRoutesAskForAKeyFirst(t *testing.T) {
	k, secrets := keyedSite(t, map[string]auth.Key{"good": {}})
	for _, route := range []string{"GET /nothing", "GET /admin", "GET /v1/", "PUT /v1/chat/completions", "DELETE /admin/sessions", "GET /assets/", "POST /", "OPTIONS /v1/models",
		"GET /admin/sessions/", "POST /v1/feedback/x", "GET /healthz/../metrics", "GET //metrics", "TRACE /healthz", "GET /debug/pprof/", "GET /.git/config"} {
		method, path, _ := strings.Cut(route, " ")
		for name, want := range map[string]int{"": http.StatusUnauthorized, secrets["good"]: http.StatusNotFound} {
			resp, _ := k.send(method, path, "", func(r *http.Request) {
				if name != "" {
					forms["Bearer"](r, name)
				}
			})
			unclean := strings.Contains(path, "..") || strings.Contains(path, "//")
			if got := resp.StatusCode; got != want && !(unclean && name != "" && got < 400) {
				t.Errorf("%s with the key %.6q gives %d, want %d", route, name, got, want)
			}
		}
	}
}

// Whoever has a key of another tenant finds nothing by id, and nothing by content.
func TestForeignIdsAreNotFound(t *testing.T) {
	k, secrets := keyedSite(t, map[string]auth.Key{"mine": {}, "other": {Tenant: "other"}})
	mine, other := with("Bearer", secrets["mine"]), with("x-api-key", secrets["other"])
	first := k.object(k.post(ask(user("L2: the plan")), mine))
	session, turn := at[string](first, "macaron", "session"), at[string](first, "macaron", "turn")
	if session == "" || turn == "" {
		t.Fatalf("%v", first)
	}
	found := 0
	for _, e := range k.entries {
		method, path, _ := strings.Cut(e.pattern, " ")
		if e.scope == auth.Public || !strings.Contains(path, "{") {
			continue
		}
		for _, id := range []string{session, turn, strings.Replace(turn, "trn_", "resp_", 1)} {
			own, _ := k.send(method, filled(path, id), "", mine)
			if foreign, body := k.send(method, filled(path, id), "", other); foreign.StatusCode < 400 || own.StatusCode < 400 && foreign.StatusCode != http.StatusNotFound {
				t.Errorf("%s of another tenant gives %d: %s", e.pattern, foreign.StatusCode, body)
			}
			if own.StatusCode < 400 {
				found++
			}
		}
	}
	if found == 0 {
		t.Error("no route found the tenant's own session")
	}
	for name, change := range map[string]func(*http.Request){
		"session":     func(r *http.Request) { r.Header.Set("X-Macaron-Session", session) },
		"parent turn": func(r *http.Request) { r.Header.Set("X-Macaron-Parent-Turn", turn) },
	} {
		if resp := k.post(ask(user("L2: go on")), other, change); resp.StatusCode != http.StatusNotFound {
			t.Errorf("a foreign %s gives %d", name, resp.StatusCode)
		}
	}
	judgement := `{"turn":"` + turn + `","score":1}`
	if resp, _ := k.send("POST", "/v1/feedback", judgement, other); resp.StatusCode != http.StatusNotFound {
		t.Errorf("feedback to a foreign turn gives %d", resp.StatusCode)
	}
	if resp, body := k.send("POST", "/v1/feedback", judgement, mine); resp.StatusCode != http.StatusOK {
		t.Errorf("feedback to the own turn gives %d: %s", resp.StatusCode, body)
	}
	// The same words in another tenant are another conversation.
	history := []any{user("L2: the plan"), object{"role": "assistant", "content": at[[]any](first, "choices")[0].(object)["message"].(object)["content"]}, user("L2: go on")}
	theirs := k.object(k.post(ask(history...), other))
	if got := at[string](theirs, "macaron", "session"); got == "" || got == session {
		t.Errorf("the other tenant goes on in %q", got)
	}
	_, list := k.send("GET", "/admin/sessions", "", other)
	if strings.Contains(list, session) || !strings.Contains(list, at[string](theirs, "macaron", "session")) {
		t.Errorf("the other tenant sees %s", list)
	}
}

// A key may be kept to some adapters, in every API; for it the others do not exist. The router
// routes among those that are left.
func TestKeysKeptToAdapters(t *testing.T) {
	k, secrets := keyedSite(t, map[string]auth.Key{"some": {Adapters: []string{"L1", "L2"}}, "all": {}})
	some, all := with("Bearer", secrets["some"]), with("Bearer", secrets["all"])
	for name, want := range map[string]int{"macaron/L1": 200, "macaron/L3": 404, "macaron/L0": 404} {
		for path, body := range map[string]string{
			"/v1/chat/completions": `{"model":"` + name + `","messages":[{"role":"user","content":"x"}]}`,
			"/v1/messages":         `{"model":"` + name + `","max_tokens":5,"messages":[{"role":"user","content":"x"}]}`,
			"/v1/responses":        `{"model":"` + name + `","input":"x"}`,
		} {
			if resp, said := k.send("POST", path, body, some); resp.StatusCode != want {
				t.Errorf("%s at %s gives %d: %s", name, path, resp.StatusCode, said)
			}
		}
	}
	if resp := k.post(ask(user("L3: x")), all); resp.StatusCode != 200 {
		t.Errorf("the other key: %d", resp.StatusCode)
	}
	for _, text := range []string{"L2: x", "L3: x", "nobody: x"} {
		o := k.object(k.post(ask(user(text)), some))
		if got := at[string](o, "macaron", "adapter"); got != "L1" && got != "L2" {
			t.Errorf("%s went to %q: %v", text, got, o)
		}
	}
	for _, seen := range k.engine.Seen() {
		if len(seen.Choices) > 0 && seen.Revision.Name != "L0" {
			t.Errorf("%s routed", seen.Revision.Name)
		}
	}
	for _, path := range []string{"/v1/models", "/admin/adapters"} {
		if _, list := k.send("GET", path, "", some); strings.Contains(list, "macaron/L3") || !strings.Contains(list, "macaron/L1") {
			t.Errorf("%s lists %s", path, list)
		}
	}
}

func TestBeyondThisMachineOnlyWithKeys(t *testing.T) {
	for _, listen := range []string{"0.0.0.0:0", "[::]:0", ":0", "192.0.2.1:80"} {
		cfg := settings(t, t.TempDir())
		cfg.Listen = listen
		if _, err := New(cfg, Options{Log: obs.Discard(), Generator: &backendtest.Scripted{}}); errs.As(err) == nil || errs.As(err).Field != "listen" {
			t.Errorf("%s: %v", listen, err)
		}
		m := &auth.Manager{Store: auth.OpenFile(cfg.Home), IDs: ids.NewSource(clock.System{}, nil), Now: clock.System{}.Now}
		if _, _, err := m.Create(t.Context(), auth.Key{Tenant: "a", Scopes: []auth.Scope{auth.Chat}}); err != nil {
			t.Fatal(err)
		}
		a, err := New(cfg, Options{Log: obs.Discard(), Generator: &backendtest.Scripted{}})
		if err != nil {
			t.Errorf("%s with a key: %v", listen, err)
			continue
		}
		if err := a.Close(); err != nil {
			t.Error(err)
		}
	}
}

// A command that serves itself has a key of its own, in a home that has others.
func TestALentKeyIsTheLocalTenant(t *testing.T) {
	cfg := settings(t, t.TempDir())
	m := &auth.Manager{Store: auth.OpenFile(cfg.Home), IDs: ids.NewSource(clock.System{}, nil), Now: clock.System{}.Now}
	if _, _, err := m.Create(t.Context(), auth.Key{Tenant: "a", Scopes: []auth.Scope{auth.Chat}}); err != nil {
		t.Fatal(err)
	}
	secret := auth.NewSecret()
	a, err := New(cfg, Options{Log: obs.Discard(), Generator: &backendtest.Scripted{}, Key: "lent"})
	if err != nil {
		t.Fatal(err)
	}
	a.keys.Lend(secret)
	s := serve(t, a)
	if resp := s.post(ask(user("L2: x")), with("Bearer", secret)); resp.StatusCode != 200 {
		t.Errorf("%d", resp.StatusCode)
	}
	if resp := s.post(ask(user("L2: x"))); resp.StatusCode != http.StatusUnauthorized {
		t.Errorf("without it: %d", resp.StatusCode)
	}
	if len(s.turnsOf()) != 1 {
		t.Error("the turn is not the local tenant's")
	}
}

// B14: odd bytes in a credential are 401, never 500. net/http's client does not send all of them.
func TestOddCredentialsB14(t *testing.T) {
	k, _ := keyedSite(t, map[string]auth.Key{"good": {}})
	for _, value := range []string{"Bearer é", "Bearer \xff\xfe", "Bearer " + strings.Repeat("x", 32<<10), "Basic YTpi", "Bearer", "\tBearer\t", "Bearer mk-" + strings.Repeat("\u00e9", 43)} {
		for _, header := range []string{"Authorization", "X-Api-Key"} {
			resp, body := k.send("GET", "/v1/models", "", func(r *http.Request) { r.Header[header] = []string{value} })
			if resp.StatusCode != http.StatusUnauthorized {
				t.Errorf("%s %.20q gives %d %s", header, value, resp.StatusCode, body)
			}
		}
	}
}

// Probes need no key, but who has none does not learn what is wrong inside.
func TestReasonsAreForThoseWithAKey(t *testing.T) {
	k, secrets := keyedSite(t, map[string]auth.Key{"good": {}})
	k.engine.NotReady = errs.New(errs.UpstreamUnavailable, "the engine at 10.0.0.7 does not answer", "start it")
	if resp, body := k.send("GET", "/readyz", ""); resp.StatusCode != http.StatusServiceUnavailable || strings.Contains(body, "10.0.0.7") || strings.Contains(body, "start it") {
		t.Errorf("%d %s", resp.StatusCode, body)
	}
	if resp, body := k.send("GET", "/readyz", "", with("Bearer", secrets["good"])); resp.StatusCode != http.StatusServiceUnavailable || !strings.Contains(body, "10.0.0.7") {
		t.Errorf("with a key: %d %s", resp.StatusCode, body)
	}
}

func TestJSONOfErrorsIsTheSameEverywhere(t *testing.T) {
	k, _ := keyedSite(t, map[string]auth.Key{"good": {}})
	_, body := k.send("GET", "/admin/sessions", "")
	var o object
	if err := json.Unmarshal([]byte(body), &o); err != nil || at[string](o, "error", "code") != string(errs.Unauthenticated) || at[string](o, "error", "type") != "authentication_error" {
		t.Errorf("%v %s", err, body)
	}
}
