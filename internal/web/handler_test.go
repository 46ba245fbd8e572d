package web_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"macaron/internal/session"
	"macaron/internal/web"
	"macaron/internal/wire/openai"
)

type object = map[string]any

func decode(t *testing.T, text string) object {
	t.Helper()
	var o object
	if err := json.Unmarshal([]byte(text), &o); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	return o
}

// at walks into decoded JSON; a number is an index. What is not there is nil.
func at(v any, path ...any) any {
	for _, p := range path {
		switch p := p.(type) {
		case string:
			o, _ := v.(object)
			v = o[p]
		case int:
			list, _ := v.([]any)
			if p >= len(list) {
				return nil
			}
			v = list[p]
		}
	}
	return v
}

func TestASessionIsToldWhole(t *testing.T) {
	s := start(t, t.TempDir(), &script{})
	if _, body := s.get(t, "/admin/sessions"); strings.TrimSpace(body) != `{"data":[]}` {
		t.Errorf("an empty log gives %s", body)
	}
	answer := decode(t, s.complete(t, "Write a command"))
	id, turn := at(answer, "macaron", "session").(string), at(answer, "macaron", "turn").(string)
	s.post(t, "/v1/feedback", `{"turn":"`+turn+`","score":1}`)
	_, body := s.get(t, "/admin/sessions")
	list := decode(t, body)
	if at(list, "data", 0, "id") != id || at(list, "data", 0, "title") != "Write a command" || at(list, "data", 0, "turns") != 1.0 {
		t.Errorf("the list is %s", body)
	}
	var view object
	eventually(t, func() bool {
		_, body := s.get(t, "/admin/sessions/"+id)
		view = decode(t, body)
		return at(view, "tree", 0, "summary") != nil
	})
	got, _ := at(view, "tree", 0).(object)
	hops, _ := got["hops"].([]any)
	if len(hops) != 3 || at(hops, 0, "hop") != "route" || at(hops, 1, "first_ms") != 41.0 || at(hops, 1, "cached_tokens") != 32.0 || at(hops, 2, "hop") != "summary" {
		t.Errorf("the hops are %v", hops)
	}
	for _, name := range []string{"hops", "opened", "closed", "request", "revision", "contract"} {
		if got[name] == nil || got[name] == "" {
			t.Errorf("%s is missing", name)
		}
		delete(got, name)
	}
	want := object{
		"id": turn, "session": id, "status": "delivered", "adapter": "L2", "reason": "model", "feedback": 1.0,
		"probabilities": object{"L0": 0.04, "L1": 0.04, "L2": 0.88, "L3": 0.04},
		"messages":      []any{object{"role": "user", "content": "Write a command"}},
		"trace":         []any{object{"role": "assistant", "content": "You said: Write a command"}},
		"summary":       object{"text": "The user asked something and got an answer.", "source": "model", "final": false},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestAForkedSessionHasWhatItShares(t *testing.T) {
	s := start(t, t.TempDir(), &script{})
	ask := func(last string) string {
		status, body := s.post(t, "/v1/chat/completions", `{"model":"macaron","messages":[{"role":"user","content":"one"},{"role":"assistant","content":"You said: one"},{"role":"user","content":"`+last+`"}]}`)
		if status != http.StatusOK {
			t.Fatal(body)
		}
		return at(decode(t, body), "macaron", "session").(string)
	}
	s.complete(t, "one")
	first := ask("two")
	fork := ask("other two")
	if fork == first {
		t.Fatal("no fork was made")
	}
	_, body := s.get(t, "/admin/sessions/"+fork)
	view := decode(t, body)
	tree, _ := view["tree"].([]any)
	if len(tree) != 2 || at(tree, 0, "inherited") != true || at(tree, 0, "session") != first || at(tree, 1, "inherited") != nil ||
		at(tree, 1, "parent") != at(tree, 0, "id") || view["forked_from"] != at(tree, 0, "id") {
		t.Errorf("the fork is told as %s", body)
	}
}

func TestTheListComesInPages(t *testing.T) {
	s := start(t, t.TempDir(), &script{})
	for _, text := range []string{"a", "b", "c"} {
		s.complete(t, text)
	}
	_, body := s.get(t, "/admin/sessions?limit=2")
	list := decode(t, body)
	next, _ := list["next"].(string)
	if at(list, "data", 0, "title") != "c" || at(list, "data", 1, "title") != "b" || next == "" {
		t.Fatalf("the first page is %s", body)
	}
	_, body = s.get(t, "/admin/sessions?limit=2&before="+next)
	if list = decode(t, body); at(list, "data", 0, "title") != "a" || at(list, "data", 1) != nil || list["next"] != nil {
		t.Errorf("the second page is %s", body)
	}
}

func TestAdaptersAreListed(t *testing.T) {
	s := start(t, t.TempDir(), &script{})
	_, body := s.get(t, "/admin/adapters")
	list := decode(t, body)
	if at(list, "data", 0, "name") != "L0" || at(list, "data", 0, "default") != true || at(list, "data", 2, "title") != "Coding" ||
		at(list, "data", 2, "model") != "macaron/L2" || at(list, "data", 3, "revision") == "" || at(list, "data", 4) != nil {
		t.Errorf("got %s", body)
	}
}

func TestBadRequestsAreRefusedByName(t *testing.T) {
	s := start(t, t.TempDir(), &script{})
	turn := at(decode(t, s.complete(t, "Hello")), "macaron", "turn").(string)
	const nobody = "01ARZ3NDEKTSV4RRFFQ69G5FAV"
	for name, c := range map[string]struct {
		path, body string // a body means POST
		status     int
		code, part string
	}{
		"limit":          {"/admin/sessions?limit=0", "", 400, "invalid_request", "limit"},
		"limit, text":    {"/admin/sessions?limit=ten", "", 400, "invalid_request", "limit"},
		"before":         {"/admin/sessions?before=yesterday", "", 400, "invalid_request", "before"},
		"session id":     {"/admin/sessions/..%2f..%2fetc", "", 400, "invalid_request", "ses"},
		"no session":     {"/admin/sessions/ses_" + nobody, "", 404, "not_found", "session"},
		"no asset":       {"/assets/..%2fweb.go", "", 404, "not_found", "reload"},
		"no page":        {"/nowhere", "", 404, "not_found", "chat page"},
		"get feedback":   {"/v1/feedback", "", 404, "not_found", "POST"},
		"post sessions":  {"/admin/sessions", "{}", 404, "not_found", "GET"},
		"not JSON":       {"/v1/feedback", "score=1", 400, "invalid_request", "JSON"},
		"no turn":        {"/v1/feedback", `{"score":1}`, 400, "invalid_request", "turn"},
		"no score":       {"/v1/feedback", `{"turn":"` + turn + `"}`, 400, "invalid_request", "score"},
		"score":          {"/v1/feedback", `{"turn":"` + turn + `","score":2}`, 400, "invalid_request", "score"},
		"half score":     {"/v1/feedback", `{"turn":"` + turn + `","score":0.5}`, 400, "invalid_request", "score"},
		"unknown field":  {"/v1/feedback", `{"turn":"` + turn + `","score":1,"stars":5}`, 400, "invalid_request", "stars"},
		"twice":          {"/v1/feedback", `{"turn":"` + turn + `","score":1,"score":-1}`, 400, "invalid_request", "twice"},
		"long reason":    {"/v1/feedback", `{"turn":"` + turn + `","score":1,"reason":"` + strings.Repeat("a", 3000) + `"}`, 413, "too_large", "reason"},
		"turn id":        {"/v1/feedback", `{"turn":"' OR 1=1","score":1}`, 400, "invalid_request", "trn"},
		"turn of nobody": {"/v1/feedback", `{"turn":"trn_` + nobody + `","score":1}`, 404, "not_found", "turn"},
	} {
		var status int
		var body string
		if c.body != "" {
			status, body = s.post(t, c.path, c.body)
		} else {
			status, body = s.get(t, c.path)
		}
		e := at(decode(t, body), "error")
		if status != c.status || at(e, "code") != c.code || !strings.Contains(body, c.part) || at(e, "type") == nil {
			t.Errorf("%s: %d %s", name, status, body)
		}
	}
}

func TestFeedbackIsForPagesOfThisServerOnly(t *testing.T) {
	s := start(t, t.TempDir(), &script{})
	turn := at(decode(t, s.complete(t, "Hello")), "macaron", "turn").(string)
	body := `{"turn":"` + turn + `","score":-1}`
	for name, change := range map[string]func(*http.Request){
		"a form":           func(r *http.Request) { r.Header.Set("Content-Type", "text/plain") },
		"a foreign origin": func(r *http.Request) { r.Header.Set("Origin", "https://evil.example") },
		"a rebound name":   func(r *http.Request) { r.Host = "evil.example" },
	} {
		r, err := http.NewRequest(http.MethodPost, s.url+"/v1/feedback", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/json")
		change(r)
		answer, err := http.DefaultClient.Do(r)
		if status, text := read(t, answer, err); status < 400 {
			t.Errorf("%s was let through: %d %s", name, status, text)
		}
	}
	if status, text := s.post(t, "/v1/feedback", body); status != http.StatusOK {
		t.Errorf("this server's own page gets %d %s", status, text)
	}
}

func TestAnotherOwnerSeesNothing(t *testing.T) {
	s := start(t, t.TempDir(), &script{})
	answer := decode(t, s.complete(t, "Hello"))
	other := web.Handler(web.Deps{
		Log: session.New(s.store, session.Options{}), Fail: openai.WriteError,
		Owner: func(*http.Request) string { return "other" },
	})
	ask := func(method, path, body string) (int, string) {
		w := httptest.NewRecorder()
		r := httptest.NewRequest(method, path, strings.NewReader(body))
		r.Header.Set("Content-Type", "application/json")
		other.ServeHTTP(w, r)
		return w.Code, strings.TrimSpace(w.Body.String())
	}
	if status, body := ask("GET", "/admin/sessions", ""); status != 200 || body != `{"data":[]}` {
		t.Errorf("the list: %d %s", status, body)
	}
	if status, body := ask("GET", "/admin/sessions/"+at(answer, "macaron", "session").(string), ""); status != 404 {
		t.Errorf("the session: %d %s", status, body)
	}
	if status, body := ask("POST", "/v1/feedback", `{"turn":"`+at(answer, "macaron", "turn").(string)+`","score":1}`); status != 404 {
		t.Errorf("feedback: %d %s", status, body)
	}
}
