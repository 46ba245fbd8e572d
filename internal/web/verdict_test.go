package web_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"macaron/internal/app"
	"macaron/internal/auth"
	"macaron/internal/axe"
	"macaron/internal/backend/backendtest"
	"macaron/internal/browser"
	"macaron/internal/clock"
	"macaron/internal/ids"
	"macaron/internal/record"
)

// ended starts a run and has it come to its end; it gives its id and that of its session.
func (s *site) ended(t *testing.T, instruction string) (id, session string) {
	t.Helper()
	id = s.begin(t, instruction)
	eventually(t, func() bool {
		var run struct {
			Status  record.RunStatus
			Session string
			Waits   *struct{ Call string }
		}
		_, answer := s.get(t, "/v1/runs/"+id)
		if err := json.Unmarshal([]byte(answer), &run); err != nil {
			t.Fatal(err, answer)
		}
		if run.Waits != nil {
			if status, answer := s.post(t, "/v1/runs/"+id+"/approve", `{"call":`+quote(run.Waits.Call)+`,"approve":false}`); status != http.StatusOK {
				t.Fatal(status, answer)
			}
		}
		session = run.Session
		return run.Status == record.RunDone
	})
	return id, session
}

// judged is an expression for whether these buttons of a judgement are shown, what is pressed with a
// plus behind it.
func judged(as string) string {
	return `!document.querySelector("#verdict")?.hidden && [...document.querySelectorAll("#verdict button:not([hidden])")].map((b) => b.textContent + (b.getAttribute("aria-pressed") === "true" ? "+" : "")).join(" ") === ` + quote(as)
}

// focused is an expression for which action has the focus.
func focused(action string) string {
	return `document.activeElement.dataset.action === ` + quote(action)
}

// A person says of a run that has ended what they think of it, by the mouse or by keys, and takes it
// back; each is a record as `macaron run judge` writes it, and the last one is shown after a reload.
func TestARunIsJudged(t *testing.T) {
	s := agents(t)
	id, session := s.ended(t, "write")
	v := look(t, s.url+"/runs#"+id, desktop)
	v.wait(judged("Good Bad") + ` && ` + of("#verdict") + `.includes("You said nothing yet.")`)
	v.click(`[data-action="good"]`)
	v.wait(judged("Good+ Bad Take it back") + ` && ` + of("#announce") + ` === "You said that it was good."`)
	s.feedback(t, session, []record.Feedback{{Score: 1}})
	v.must(v.page.Reload())
	v.wait(judged("Good+ Bad Take it back"))
	v.must(v.page.Press(browser.Home)) // the first step: a judgement is of the whole run
	v.wait(judged("Good+ Bad Take it back"))

	v.text(`(document.querySelector('[data-action="good"]').focus(), "")`)
	v.press(browser.Tab)
	v.wait(focused("bad"))
	v.press(browser.Enter)
	v.wait(judged("Good Bad+ Take it back") + ` && ` + focused("bad"))
	v.press(browser.Tab)
	v.wait(focused("take-back"))
	v.press(browser.Enter)
	v.wait(judged("Good Bad") + ` && ` + focused("bad") + ` && ` + of("#announce") + ` === "You took it back."`)
	s.feedback(t, session, []record.Feedback{{Score: 1}, {Score: -1}, {Score: 0}})
	v.must(v.page.Reload())
	v.wait(judged("Good Bad"))

	if _, err := browser.Eval[bool](v.page, axe.Script+"\n;true"); err != nil {
		t.Fatal(err)
	}
	v.click(`[data-action="bad"]`)
	v.wait(judged("Good Bad+ Take it back"))
	for range 2 { // by day and by night
		if found := v.text(`axe.run(document, {iframes: false, resultTypes: ["violations"]}).then((r) => r.violations.filter((v) => ["serious", "critical"].includes(v.impact)).map((v) => v.id + " " + v.nodes[0].target).join(", "))`); found != "" {
			t.Errorf("axe-core finds %s", found)
		}
		v.click("#theme")
	}
	v.quiet()
}

// A run that goes on or waits has nothing to be judged yet, and the page of a phone is no wider.
func TestARunIsJudgedWhenItHasEnded(t *testing.T) {
	s := agents(t)
	v := look(t, s.url+"/runs#"+s.begin(t, "write"), browser.View{Width: 390, Height: 844, Touch: true, Dark: true})
	v.wait(said("waits for you") + ` && document.querySelector("#verdict").hidden`)
	v.click(`[data-action="deny"]`)
	v.wait(said("done") + ` && ` + judged("Good Bad"))
	v.click(`[data-action="good"]`)
	v.wait(judged("Good+ Bad Take it back"))
	if wide := v.number(`document.documentElement.scrollWidth`); wide > 390 {
		t.Errorf("the page is %d px wide", wide)
	}
	v.quiet()
}

// Judgements come from this server's own pages, of the run's own tenant, by who may judge; what was
// not kept is not shown.
func TestWhoMayJudgeARun(t *testing.T) {
	s := agents(t)
	id, session := s.ended(t, "write")
	for name, change := range map[string]func(*http.Request){
		"a form":           func(r *http.Request) { r.Header.Set("Content-Type", "text/plain") },
		"a foreign origin": func(r *http.Request) { r.Header.Set("Origin", "https://evil.example") },
		"another site":     func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "cross-site") },
		"a rebound name":   func(r *http.Request) { r.Host = "evil.example" },
	} {
		if status, text := s.judge(t, id, "", change); status < 400 {
			t.Errorf("%s was let through: %d %s", name, status, text)
		}
	}
	if status, text := s.judge(t, id, "", func(*http.Request) {}); status != http.StatusOK {
		t.Errorf("this server's own page gets %d %s", status, text)
	}
	s.feedback(t, session, []record.Feedback{{Score: -1}}) // and no other was kept
}

// judge sends a judgement, as a page of the server does but for a change.
func (s *site) judge(t *testing.T, id, key string, change func(*http.Request)) (int, string) {
	t.Helper()
	r, err := http.NewRequest(http.MethodPost, s.url+"/v1/runs/"+id+"/feedback", strings.NewReader(`{"score":-1}`))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	if key != "" {
		r.Header.Set("Authorization", "Bearer "+key)
	}
	change(r)
	answer, err := http.DefaultClient.Do(r)
	return read(t, answer, err)
}

// With keys, a judgement is of who has the scope, for the runs of their own tenant; the page says what
// is missing, and shows what stands.
func TestAJudgementNeedsItsScope(t *testing.T) {
	cfg := settings(t, t.TempDir())
	m := &auth.Manager{Store: auth.OpenFile(cfg.Home), IDs: ids.NewSource(clock.System{}, nil), Now: clock.System{}.Now}
	keys := map[string]string{}
	for name, k := range map[string]auth.Key{
		"all":   {Tenant: "acme", Scopes: []auth.Scope{auth.Runs, auth.Read, auth.Feedback, auth.Approve}},
		"read":  {Tenant: "acme", Scopes: []auth.Scope{auth.Read}},
		"other": {Tenant: "other", Scopes: []auth.Scope{auth.Runs, auth.Read, auth.Feedback}},
	} {
		_, secret, err := m.Create(t.Context(), k)
		if err != nil {
			t.Fatal(err)
		}
		keys[name] = secret
	}
	s := serve(t, cfg, app.Options{Generator: &backendtest.Scripted{On: policy}})
	r, err := http.NewRequest(http.MethodPost, s.url+"/v1/runs", strings.NewReader(`{"instruction":"write"}`))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Authorization", "Bearer "+keys["all"])
	answer, err := http.DefaultClient.Do(r)
	status, text := read(t, answer, err)
	var run struct{ ID string }
	if err := json.Unmarshal([]byte(text), &run); err != nil || status != http.StatusOK {
		t.Fatal(status, text)
	}
	v := look(t, s.url+"/runs#"+run.ID, desktop)
	v.click("#key")
	v.must(v.page.Insert(keys["read"]))
	v.click("#use-key")
	v.wait(said("done") + ` && ` + judged("Good Bad"))
	v.click(`[data-action="good"]`)
	v.wait(of("#notice") + `.includes("feedback") && ` + judged("Good Bad"))
	if status, text := s.judge(t, run.ID, keys["other"], func(*http.Request) {}); status != http.StatusNotFound {
		t.Errorf("another tenant judges: %d %s", status, text)
	}
	if status, text := s.judge(t, run.ID, keys["all"], func(*http.Request) {}); status != http.StatusOK {
		t.Errorf("the tenant may not judge: %d %s", status, text)
	}
	v.must(v.page.Reload())
	v.wait(judged("Good Bad+ Take it back"))
}
