package web_test

import (
	"strings"
	"testing"

	"macaron/internal/browser"
	"macaron/internal/chat"
	"macaron/internal/errs"
	"macaron/internal/record"
)

func TestAnAnswerStreamsAndShowsWhoGivesIt(t *testing.T) {
	s := start(t, t.TempDir(), &script{lines: map[string]string{"count": ""}})
	v := open(t, s.url, desktop)
	v.ask("Write a command that will count forever")
	v.wait(of(last(".body")) + `.includes("One, two,")`) // the answer has no end: what is shown is streamed
	if got := v.text(of(last("header"))); !strings.Contains(got, "Coding") || !strings.Contains(got, "88") {
		t.Errorf("while it is written, the head says %q", got)
	}
	if v.number(`document.querySelectorAll("#stop:not([hidden])").length`) != 1 {
		t.Error("there is no way to stop")
	}
	v.press(browser.Escape)
	v.turns(1)
	v.wait(of(last(".notice")) + `.includes("Stopped")`)
	if got := v.text(of(last(".body"))); got != "One, two, " {
		t.Errorf("after the stop the page shows %q", got)
	}
	if got := s.turn(t, v.session(), 0); got.Status != record.StatusInterrupted || len(got.Trace) != 0 {
		t.Errorf("the log has status %s and the trace %v", got.Status, got.Trace)
	}
	v.quiet()
}

func TestGoingOnAfterAStopKeepsTheOrder(t *testing.T) {
	home := t.TempDir()
	s := start(t, home, &script{lines: map[string]string{"forever": ""}})
	v := open(t, s.url, desktop)
	v.ask("Hello")
	v.turns(1)
	v.ask("count forever")
	v.wait(of(last(".body")) + `.includes("two")`)
	v.click("#stop")
	v.turns(2)
	v.ask("and now")
	v.turns(3)
	roles := ""
	for _, m := range s.script.last().Messages {
		roles += string(m.Role[0])
	}
	if roles != "suauau" { // the cut answer is shown to the specialist as the person saw it
		t.Errorf("the specialist saw %s", roles)
	}
	shown := `[...document.querySelectorAll(".bubble")].map((b) => b.textContent).join("|")`
	want := "Hello|count forever|and now"
	if got := v.text(shown); got != want {
		t.Errorf("shown: %s", got)
	}
	v.must(v.page.Reload())
	v.wait(`document.querySelectorAll(".turn").length === 3`)
	if got := v.text(shown); got != want {
		t.Errorf("shown after a reload: %s", got)
	}
	v.quiet()
}

func TestRegenerateAndEditMakeSiblings(t *testing.T) {
	s := start(t, t.TempDir(), &script{})
	v := open(t, s.url, desktop)
	v.ask("first")
	v.turns(1)
	v.ask("second")
	v.turns(2)
	v.click(last(`[data-action="again"]`))
	v.wait(of(last(".switcher")) + `=== "2/2" && ` + idle)
	v.click(last(`[data-action="edit"]`))
	v.wait(`document.activeElement.dataset.action === "editor"`)
	v.must(v.page.Insert(" changed"))
	v.press(browser.Enter)
	v.wait(of(last(".bubble")) + ` === "second changed" && ` + of(last(".switcher")) + `=== "3/3" && ` + idle)
	if got := texts(s.script.last().Messages[1:]); got != "first|You said: first|second changed" {
		t.Errorf("the specialist saw %s", got)
	}
	v.click(last(`[data-action="prev"]`))
	v.wait(of(last(".bubble")) + ` === "second" && ` + of(last(".switcher")) + `=== "2/3"`)
	id := v.session()
	for i, parent := range []int{-1, 0, 0, 0} {
		got, want := s.turn(t, id, i), ""
		if parent >= 0 {
			want = s.turn(t, id, parent).ID
		}
		if got.Parent != want || got.Session != id {
			t.Errorf("turn %d is in %s after %q, not after %q", i, got.Session, got.Parent, want)
		}
	}
	v.quiet()
}

func TestEditingTheFirstMessageStaysInTheSession(t *testing.T) {
	s := start(t, t.TempDir(), &script{})
	v := open(t, s.url, desktop)
	v.ask("first")
	v.turns(1)
	id := v.session()
	v.click(last(`[data-action="edit"]`))
	v.wait(`document.activeElement.dataset.action === "editor"`)
	v.must(v.page.Insert(" again"))
	v.click(`[data-action="save-edit"]`)
	v.wait(of(last(".switcher")) + `=== "2/2" && ` + idle)
	if got := s.turn(t, id, 1); got.Text() != "first again" || got.Parent != "" {
		t.Errorf("the second turn of the session says %q after %q", got.Text(), got.Parent)
	}
}

func TestASpecialistCanBeForced(t *testing.T) {
	s := start(t, t.TempDir(), &script{})
	v := open(t, s.url, desktop)
	v.click(`.specialist[data-name="L3"]`)
	v.wait(`document.querySelector("#force").value === "L3"`)
	v.ask("Hello")
	v.turns(1)
	v.wait(of(last("header")) + `.includes("GenUI") && ` + of(last("header")) + `.includes("chosen by you")`)
	if got := s.turn(t, v.session(), 0); got.Forced != "L3" || got.Revision.Name != "L3" {
		t.Errorf("the log has forced %q, answered by %q", got.Forced, got.Revision.Name)
	}
	v.quiet()
}

func TestThumbsAreKeptAsRecords(t *testing.T) {
	s := start(t, t.TempDir(), &script{})
	v := open(t, s.url, desktop)
	v.ask("Hello")
	v.turns(1)
	pressed := func(name string) string {
		return `document.querySelector('[data-action="` + name + `"]')?.getAttribute("aria-pressed") === "true"`
	}
	v.click(`[data-action="up"]`)
	v.wait(pressed("up"))
	v.click(`[data-action="down"]`)
	v.wait(pressed("down") + `&& document.activeElement.dataset.action === "reason"`)
	v.must(v.page.Insert("too short"))
	v.press(browser.Enter)
	v.wait(`!document.querySelector(".reason")`)
	want := []record.Feedback{{Score: 1}, {Score: -1}, {Score: -1, Reason: "too short"}}
	s.feedback(t, v.session(), want)
	v.must(v.page.Reload())
	v.wait(pressed("down"))
	v.click(`[data-action="down"]`)
	v.wait(`!(` + pressed("down") + `)`)
	s.feedback(t, v.session(), append(want, record.Feedback{}))
	v.quiet()
}

func TestFailuresSayWhatToDo(t *testing.T) {
	g := &script{lines: map[string]string{"wall": "fail"}}
	s := start(t, t.TempDir(), g)
	v := open(t, s.url, desktop)
	v.ask("into the wall")
	v.turns(1)
	v.wait(of(last(".notice.error")) + `.includes("The engine ran into a wall") && ` + of(last(".notice.error")) + `.toLowerCase().includes("ask again in a moment")`)
	g.say("wall", "The wall is gone.")
	v.click(`[data-action="retry"]`)
	v.wait(of(last(".body")) + ` === "The wall is gone." && ` + idle)
	s.close()
	v.ask("anyone?")
	v.wait(of(last(".notice.error")) + `.includes("Macaron does not answer") && ` + of(last(".notice.error")) + `.includes("start it again")`)
	if got := v.text(of(last(".bubble"))); got != "anyone?" {
		t.Errorf("the message is lost: %q", got)
	}
	v.wait(of("#notice") + `.includes("Macaron does not answer") && document.querySelector("#send").disabled`)
}

func TestThePageWaitsForTheModel(t *testing.T) {
	g := &script{}
	g.setReady(errs.New(errs.Overloaded, "the model is being loaded", "wait a moment"))
	s := start(t, t.TempDir(), g)
	v := open(t, s.url, desktop)
	v.wait(of("#notice") + `.includes("the model is being loaded")`)
	v.click("#prompt")
	v.must(v.page.Insert("early"))
	v.press(browser.Enter)
	if n := v.number(`document.querySelectorAll(".turn").length`); n != 0 || len(g.answers()) != 0 {
		t.Errorf("%d turns were sent to a model that is not there", n)
	}
	g.setReady(nil)
	v.wait(`document.querySelector("#notice").hidden && !document.querySelector("#send").disabled`)
	v.press(browser.Enter)
	v.turns(1)
	if got := v.text(of(".bubble")); got != "early" {
		t.Errorf("sent %q", got)
	}
}

func texts(messages []chat.Message) string {
	var all []string
	for _, m := range messages {
		all = append(all, m.Text())
	}
	return strings.Join(all, "|")
}
