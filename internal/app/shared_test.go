package app

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"macaron/internal/auth"
	"macaron/internal/backend/backendtest"
	"macaron/internal/clock"
	"macaron/internal/config"
	"macaron/internal/ids"
	"macaron/internal/limits"
	"macaron/internal/money"
	"macaron/internal/obs"
	"macaron/internal/record"
	"macaron/internal/store/postgres/pgtest"
)

// Two proxies on one Postgres are one to their clients: a conversation goes on at
// whichever of them the next request comes to, and each sees what the other did.
func TestTwoProxiesOnOneDatabase(t *testing.T) {
	url := pgtest.Database(t)
	var sites [2]*site
	for i := range sites {
		cfg := settings(t, t.TempDir())
		cfg.Store.URL = config.Secret(url)
		sites[i] = start(t, cfg, &backendtest.Scripted{})
	}
	var messages []any
	session := ""
	for i := range 6 {
		s := sites[i%2]
		messages = append(messages, user(fmt.Sprintf("L%d: question %d", i%3, i)))
		resp := s.post(ask(messages...))
		if got := resp.Header.Get("X-Macaron-Session"); resp.StatusCode != 200 || session != "" && got != session {
			t.Fatalf("turn %d: %d, in session %s, not %s", i, resp.StatusCode, got, session)
		}
		session = resp.Header.Get("X-Macaron-Session")
		choices := at[[]any](s.object(resp), "choices")
		messages = append(messages, object{"role": "assistant", "content": at[string](choices[0], "message", "content")})
	}
	for _, s := range sites {
		turns := s.turnsOf()
		if len(turns) != 6 || !strings.Contains(turns[5].Text(), "question 5") {
			t.Errorf("%d turns", len(turns))
		}
		if code, body := s.get("/readyz"); code != 200 {
			t.Error(body)
		}
	}
}

// Two proxies on one Postgres count one key together: requests, tokens and money. What
// it has used is there when both have been killed and started again.
func TestTwoProxiesCountTogether(t *testing.T) {
	url := pgtest.Database(t)
	now := &clock.Fixed{T: time.Date(2026, 5, 5, 12, 0, 0, 0, time.UTC)}
	homes := [2]string{t.TempDir(), t.TempDir()}
	secrets := sharedKeys(t, now, homes)
	var sites [2]*site
	open := func(i int) {
		cfg := settings(t, homes[i])
		cfg.Store.URL = config.Secret(url)
		cfg.Price = &money.Rate{Input: 1e9, Cached: 1e9, Output: 1e9}
		a, err := New(cfg, Options{Version: "test", Log: obs.Discard(), Generator: &backendtest.Scripted{}, Clock: now})
		if err != nil {
			t.Fatal(err)
		}
		sites[i] = serve(t, a)
	}
	open(0)
	open(1)
	for i, want := range []int{200, 200, 200, 429, 429} {
		if resp, body := sites[i%2].send("GET", "/v1/models", "", with("Bearer", secrets["few"])); resp.StatusCode != want {
			t.Errorf("request %d gives %d: %s", i, resp.StatusCode, body)
		}
	}
	ask := func(i int, name string) (int, string) {
		resp := sites[i].post(ask(user("L2: x")), with("Bearer", secrets[name]))
		b, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		return resp.StatusCode, string(b)
	}
	for name, want := range map[string]int{"poor": http.StatusPaymentRequired, "brief": http.StatusTooManyRequests} {
		if code, body := ask(0, name); code != 200 {
			t.Fatalf("%s: %d %s", name, code, body)
		}
		if err := sites[0].keys.Flush(now.Now(), false); err != nil { // else it is told of within saving
			t.Fatal(err)
		}
		if code, body := ask(1, name); code != want || want == http.StatusPaymentRequired && !strings.Contains(body, "insufficient_quota") {
			t.Errorf("%s at the other: %d %s", name, code, body)
		}
	}
	for i, s := range sites {
		if err := s.stop(); err != nil {
			t.Fatal(err)
		}
		open(i)
		if code, body := ask(i, "poor"); code != http.StatusPaymentRequired || !strings.Contains(body, "2026-05-06T00:00:00Z") {
			t.Errorf("after a restart: %d %s", code, body)
		}
	}
	now.Add(12 * time.Hour)
	if code, body := ask(1, "poor"); code != 200 {
		t.Errorf("on the next day: %d %s", code, body)
	}
}

// sharedKeys makes a key for each kind of bound, in two homes.
func sharedKeys(t *testing.T, now *clock.Fixed, homes [2]string) map[string]string {
	t.Helper()
	m := &auth.Manager{Store: auth.OpenFile(homes[0]), IDs: ids.NewSource(now, nil), Now: now.Now}
	secrets := map[string]string{}
	for name, q := range map[string]limits.Quota{"few": {Requests: 3}, "poor": {DayCost: 1}, "brief": {MonthTokens: 1}} {
		_, secret, err := m.Create(t.Context(), auth.Key{Tenant: name, Scopes: auth.Scopes(), Limits: q})
		if err != nil {
			t.Fatal(err)
		}
		secrets[name] = secret
	}
	all, err := m.Store.Load(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := auth.OpenFile(homes[1]).Change(t.Context(), func(k *auth.Keys) error { *k = *all; return nil }); err != nil {
		t.Fatal(err)
	}
	return secrets
}

// A response that runs in the background of one proxy is cancelled, or taken back, at the other.
func TestABackgroundResponseIsCancelledElsewhere(t *testing.T) {
	url := pgtest.Database(t)
	var sites [2]*site
	words := make(chan string)
	for i := range sites {
		cfg := settings(t, t.TempDir())
		cfg.Store.URL = config.Secret(url)
		sites[i] = start(t, cfg, &backendtest.Scripted{On: told(words)})
	}
	q := input("L1: think")
	q["background"] = true
	for _, method := range []string{"POST", "DELETE"} {
		id := at[string](sites[0].respond(q), "id")
		words <- "one "
		path := "/v1/responses/" + id
		if method == "POST" {
			path += "/cancel"
		}
		code, text := sites[1].call(method, path, nil)
		if code != 200 || method == "POST" && at[string](decoded(t, text), "status") != "cancelled" {
			t.Errorf("%s: %d %s", method, code, text)
		}
		if turn := sites[0].settled(); turn.Status != record.StatusInterrupted {
			t.Errorf("%s: the turn is %s", method, turn.Status)
		}
	}
}

// thinking is two proxies over one database, of which the first has begun a response in the background: it says
// what words bring.
func thinking(t *testing.T) (sites [2]*site, words chan string, id string) {
	url := pgtest.Database(t)
	words = make(chan string)
	for i := range sites {
		cfg := settings(t, t.TempDir())
		cfg.Store.URL = config.Secret(url)
		sites[i] = start(t, cfg, &backendtest.Scripted{On: told(words)})
	}
	q := input("L1: think")
	q["background"] = true
	return sites, words, at[string](sites[0].respond(q), "id")
}

// A response that runs in the background of one proxy is followed at the other: the first
// events at once, the rest when it has ended, and every one as it was streamed.
func TestABackgroundResponseIsFollowedElsewhere(t *testing.T) {
	sites, words, id := thinking(t)
	words <- "one "
	follow := func(s *site, after string) (*http.Response, *bufio.Reader) {
		resp, err := s.http.Get(s.base + "/v1/responses/" + id + "?stream=true" + after)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = resp.Body.Close() })
		return resp, bufio.NewReader(resp.Body)
	}
	whole, early := follow(sites[1], "")
	first, err := early.ReadString('\n')
	if err != nil || whole.StatusCode != 200 || !strings.Contains(first, "response.created") {
		t.Fatalf("%d %q %v", whole.StatusCode, first, err)
	}
	_, late := follow(sites[1], "&starting_after=4")
	_, live := follow(sites[0], "")
	words <- "two"
	close(words)
	read := func(head string, r io.Reader) []string {
		b, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		return events(t, head+string(b))
	}
	want := read("", live)
	if names := types(t, want); len(want) < 8 || names[len(names)-1] != "completed" {
		t.Fatal(names)
	}
	if d := cmp.Diff(want, read(first, early)); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff(want[5:], read("", late)); d != "" {
		t.Error(d)
	}
}

// A proxy that stops does not wait for what runs elsewhere: its followers are told where to go on.
func TestAStopLetsFollowersGo(t *testing.T) {
	sites, words, id := thinking(t)
	resp, err := sites[1].http.Get(sites[1].base + "/v1/responses/" + id + "?stream=true&starting_after=1")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body := bufio.NewReader(resp.Body)
	first, err := body.ReadString('\n') // it follows
	if err != nil {
		t.Fatal(err)
	}
	stopped := make(chan error, 1)
	go func() { stopped <- sites[1].stop() }()
	b, err := io.ReadAll(body)
	if err != nil {
		t.Fatal(err)
	}
	all := events(t, first+string(b))
	if n := len(all); n != 2 || !strings.Contains(all[1], `"sequence_number":3`) || !strings.Contains(all[1], `"code":"overloaded"`) {
		t.Error(all)
	}
	if err := <-stopped; err != nil {
		t.Error(err)
	}
	close(words)
}
