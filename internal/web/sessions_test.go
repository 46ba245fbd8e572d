package web_test

import (
	"fmt"
	"strings"
	"testing"

	"macaron/internal/browser"
)

func TestSessionsAreListedAndReopenedAfterARestart(t *testing.T) {
	home := t.TempDir()
	s := start(t, home, &script{})
	v := open(t, s.url, desktop)
	v.ask("The first conversation")
	v.turns(1)
	first := v.session()
	v.click("#new-chat")
	v.wait(`!location.hash && document.querySelector(".welcome") && document.activeElement.id === "prompt"`)
	v.ask("The second conversation")
	v.turns(1)
	if v.session() == first {
		t.Error("a new chat went on in the old session")
	}
	v.quiet()
	s.close()

	s = start(t, home, &script{})
	v = open(t, s.url, desktop)
	v.wait(`document.querySelectorAll("#sessions a").length === 2`)
	if got := v.text(of("#sessions li:last-child .name")); got != "The first conversation" {
		t.Errorf("the older one is %q", got)
	}
	v.click("#sessions li:last-child a")
	v.wait(`location.hash === "#` + first + `" && ` + of(".bubble") + ` === "The first conversation" && ` + of(".answer .body") + ` === "You said: The first conversation"`)
	v.wait(of(".answer header") + `.includes("Chat") && ` + of(".answer header") + `.includes("88")`)
	v.ask("and on")
	v.turns(2)
	if got := texts(s.script.last().Messages[1:]); got != "The first conversation|You said: The first conversation|and on" {
		t.Errorf("after the restart the specialist saw %s", got)
	}
	if got := s.turn(t, first, 1); got.Text() != "and on" {
		t.Errorf("the second turn says %q", got.Text())
	}
	v.quiet()
}

func TestAnAnswerGoesOnWhileAnotherConversationIsShown(t *testing.T) {
	s := start(t, t.TempDir(), &script{lines: map[string]string{"forever": ""}})
	v := open(t, s.url, desktop)
	v.ask("count forever")
	v.wait(of(".answer .body") + `.includes("two")`)
	id := v.session()
	v.click("#new-chat")
	v.ask("Hello")
	v.turns(1)
	v.wait(`document.querySelectorAll("#sessions .dot").length === 1`)
	v.click(`#sessions a[href="#` + id + `"]`)
	v.wait(of(".answer .body") + `.includes("two") && !document.querySelector("#stop").hidden`)
	v.click("#stop")
	v.turns(1)
	v.wait(`document.querySelectorAll("#sessions .dot").length === 0`)
	v.quiet()
}

func TestOlderSessionsComeOnDemand(t *testing.T) {
	s := start(t, t.TempDir(), &script{})
	for i := range 53 {
		s.complete(t, fmt.Sprintf("Question %d", i))
	}
	v := open(t, s.url, desktop)
	v.wait(`document.querySelectorAll("#sessions a").length === 50`)
	v.click("#sessions > button")
	v.wait(`document.querySelectorAll("#sessions a").length === 53 && !document.querySelector("#sessions > button")`)
	v.quiet()
}

func TestWhoHasScrolledUpIsLeftInPeace(t *testing.T) {
	s := start(t, t.TempDir(), &script{lines: map[string]string{"long": strings.Repeat("A paragraph.\n\n", 200)}})
	v := open(t, s.url, desktop)
	v.ask("long")
	v.turns(1)
	const toEnd = `Math.round(document.querySelector("#scroller").scrollHeight - document.querySelector("#scroller").clientHeight - document.querySelector("#scroller").scrollTop)`
	v.wait(toEnd + ` <= 1`) // the answer was followed to its end
	v.number(`document.querySelector("#scroller").scrollTop = 0`)
	v.wait(`!document.querySelector("#latest").hidden`)
	v.click(`[data-action="copy-user"]`) // at the top
	v.number(`(document.querySelector('[data-action="up"]').click(), 0)`)
	v.wait(`document.querySelector('[data-action="up"]').getAttribute("aria-pressed") === "true"`)
	if n := v.number(`document.querySelector("#scroller").scrollTop`); n != 0 {
		t.Errorf("the page went away to %d px", n)
	}
	v.click("#latest")
	v.wait(toEnd + ` <= 1 && document.querySelector("#latest").hidden`)
}

func TestKeys(t *testing.T) {
	s := start(t, t.TempDir(), &script{})
	v := open(t, s.url, desktop)
	v.click("#prompt")
	v.must(v.page.Insert("one"))
	v.must(v.page.PressShift(browser.Enter))
	v.must(v.page.Insert("two"))
	if got := v.text(`document.querySelector("#prompt").value`); got != "one\ntwo" {
		t.Errorf("Shift+Enter gave %q", got)
	}
	// While a word is composed, Enter takes the word.
	v.text(`String(document.querySelector("#prompt").dispatchEvent(new KeyboardEvent("keydown", {key: "Enter", isComposing: true, bubbles: true, cancelable: true})))`)
	if n := v.number(`document.querySelectorAll(".turn").length`); n != 0 {
		t.Error("Enter sent a message that was still being composed")
	}
	v.press(browser.Enter)
	v.turns(1)
	if got := v.text(of(".bubble")); got != "one\ntwo" {
		t.Errorf("sent %q", got)
	}
	unnamed := `[...document.querySelectorAll("button, a, select, textarea, input")].filter((e) => !e.ariaLabel && !e.textContent.trim() && !e.labels?.length).length`
	if n := v.number(unnamed); n != 0 {
		t.Errorf("%d controls have no name", n)
	}
	v.press(browser.Tab)
	if got := v.text(`getComputedStyle(document.activeElement).outlineStyle`); got == "none" {
		t.Error("the focus cannot be seen")
	}
}
