package web_test

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"strconv"
	"strings"
	"testing"

	"macaron/internal/app"
	"macaron/internal/auth"
	"macaron/internal/backend"
	"macaron/internal/backend/backendtest"
	"macaron/internal/browser"
	"macaron/internal/chat"
	"macaron/internal/record"
)

// agents serves runs of a policy that calls write_file once, which a person must allow,
// and then answers with what it was told; a task that says "forever" has no end.
func agents(t *testing.T) *site {
	t.Helper()
	cfg := settings(t, t.TempDir())
	text, err := os.ReadFile(cfg.Contract)
	if err != nil {
		t.Fatal(err)
	}
	text = bytes.Replace(text, []byte(`effects = ["pure", "read", "write"]`), []byte("effects = [\"pure\", \"read\", \"write\"]\napprove = [\"write\"]"), 1)
	if err := os.WriteFile(cfg.Contract, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return serve(t, cfg, app.Options{Generator: &backendtest.Scripted{On: policy}})
}

func policy(ctx context.Context, r backend.Request, emit func(chat.Event) bool) (bool, error) {
	last := r.Messages[len(r.Messages)-1]
	switch {
	case len(r.Tools) == 0:
		return false, nil
	case strings.Contains(last.Text(), "forever"):
		<-ctx.Done()
		return true, ctx.Err()
	case last.Role == chat.Tool:
		backendtest.Emit(emit, chat.Event{Text: "It said: " + last.Text()})
	default:
		backendtest.Emit(emit, backendtest.Call(0, "", "write_file", `{"path":"a.txt","text":"<img src=x onerror=window.pwned=1>"}`))
	}
	return true, nil
}

// begin starts a run and gives its id.
func (s *site) begin(t *testing.T, instruction string) string {
	t.Helper()
	status, answer := s.post(t, "/v1/runs", `{"instruction":`+quote(instruction)+`}`)
	var run struct{ ID string }
	if err := json.Unmarshal([]byte(answer), &run); err != nil || status != 200 {
		t.Fatalf("%d %s", status, answer)
	}
	return run.ID
}

// look opens the page of runs at an address.
func look(t *testing.T, address string, view browser.View) *visit {
	t.Helper()
	b, err := chromium()
	if err != nil {
		t.Fatal(err)
	}
	p, err := b.Page(view)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	v := &visit{t: t, page: p}
	v.must(p.Open(address))
	return v
}

// said is an expression for whether the run's status is shown as that.
func said(status string) string { return of(".about .status") + ` === ` + quote(status) }

const shownSteps = `[...document.querySelectorAll(".step:not([hidden]) h2")].map((e) => e.textContent).join("|")`

func TestARunIsWatchedAllowedAndReplayed(t *testing.T) {
	s := agents(t)
	id := s.begin(t, `keep <b>this</b>`)
	v := look(t, s.url+"/runs", desktop)
	v.click(`#sessions a[href="#` + id + `"]`)
	v.wait(said("waits for you") + `&& ` + of(".asks") + `.includes("write_file") && ` + of(".asks") + `.includes("Effect: write")`)
	v.click(".asks input")
	v.must(v.page.Insert("go ahead"))
	v.click(`[data-action="approve"]`)
	v.wait(said("done")) // live: nobody loaded the page again
	v.wait(of(`#sessions [aria-current] .status`) + ` === "done"`)
	steps := v.text(shownSteps)
	for _, want := range []string{"Task|", "The model says|", "Asks for a person|", "A person said yes|", "Calls write_file|write_file returned|", "Check answered: passed|", "Ended: done"} {
		if !strings.Contains(steps, want) {
			t.Errorf("%q is not among the steps %s", want, steps)
		}
	}
	if v.number(`document.querySelectorAll("#run :is(img, b)").length + (window.pwned ?? 0)`) != 0 {
		t.Error("words became markup")
	}
	all := v.number(`document.querySelectorAll(".step").length`)
	v.press(browser.Home)
	v.wait(shownSteps + ` === "Task" && ` + of("#where") + ` === "1 of ` + strconv.Itoa(all) + `" && ` + of(".spent") + `.includes("Tool calls0 of 64")`)
	v.press(browser.Right)
	v.wait(of("#where") + `.startsWith("2 of")`)
	v.click("#after")
	v.wait(of("#where") + `.startsWith("3 of")`)
	v.press(browser.Left)
	v.wait(of("#where") + `.startsWith("2 of")`)
	v.press(browser.End)
	v.wait(of("#where") + `.startsWith("` + strconv.Itoa(all) + ` of") && ` + of(".spent") + `.includes("Tool calls1 of 64")`)
	v.quiet()
}

func TestARunIsDeniedAndAnotherCancelled(t *testing.T) {
	s := agents(t)
	id := s.begin(t, "write")
	v := look(t, s.url+"/runs#"+id, browser.View{Width: 390, Height: 844, Touch: true, Dark: true})
	v.wait(said("waits for you"))
	v.click(`[data-action="deny"]`)
	v.wait(said("done") + `&& ` + shownSteps + `.includes("A person said no")`)
	if wide := v.number(`document.documentElement.scrollWidth`); wide > 390 {
		t.Errorf("the page is %d px wide", wide)
	}
	endless := s.begin(t, "forever")
	v.must(v.page.Open(s.url + "/runs#" + endless))
	v.must(v.page.Reload())
	v.wait(said("running"))
	v.click(`[data-action="cancel"]`)
	v.wait(said("cancelled") + `&& !document.querySelector("#asks [data-action]") && ` + judged("Good Bad"))
	v.click("#open-drawer")
	v.wait(`document.activeElement.id === "to-chat"`)
	v.press(browser.Escape)
	v.wait(`document.activeElement.id === "open-drawer"`)
	if state, err := s.store.Run(t.Context(), auth.Local, endless); err != nil || state.Status != record.RunCancelled {
		t.Errorf("%+v %v", state, err)
	}
	v.quiet()
}
