package web_test

import (
	"context"
	"flag"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"

	"macaron/internal/browser"
)

// chromium is started by the first test that needs it and shared by all; pages share
// nothing.
var chromium = sync.OnceValues(func() (*browser.Browser, error) { return browser.Start(context.Background()) })

func TestMain(m *testing.M) {
	flag.Parse()
	code := m.Run()
	if b, err := chromium(); err == nil {
		b.Close()
	}
	os.Exit(code)
}

// visit is a page of a test; every step that fails ends the test.
type visit struct {
	t    *testing.T
	page *browser.Page
}

var desktop = browser.View{Width: 1180, Height: 800}

// open goes to an address and waits until the page is there and knows the specialists.
func open(t *testing.T, address string, view browser.View) *visit {
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
	v.wait(`document.querySelectorAll("#force option").length > 1`)
	return v
}

func (v *visit) must(err error) {
	v.t.Helper()
	if err != nil {
		state, _ := browser.Eval[string](v.page, `document.body?.innerText ?? ""`)
		v.t.Fatalf("%v\ntrouble: %v\nthe page shows:\n%s", err, v.page.Trouble(), state)
	}
}

func (v *visit) wait(expression string) { v.t.Helper(); v.must(v.page.Wait(expression)) }

func (v *visit) click(selector string) { v.t.Helper(); v.must(v.page.Click(selector)) }

func (v *visit) press(key string) { v.t.Helper(); v.must(v.page.Press(key)) }

func (v *visit) text(expression string) string {
	v.t.Helper()
	s, err := browser.Eval[string](v.page, expression)
	v.must(err)
	return s
}

func (v *visit) number(expression string) int {
	v.t.Helper()
	n, err := browser.Eval[int](v.page, expression)
	v.must(err)
	return n
}

// ask sends a message and does not wait for the answer.
func (v *visit) ask(text string) {
	v.t.Helper()
	v.click("#prompt")
	v.must(v.page.Insert(text))
	v.press(browser.Enter)
}

// idle is true when nothing is being answered.
const idle = `document.querySelector("#stop").hidden && document.querySelector("#thread").getAttribute("aria-busy") === "false"`

// turns waits until so many turns are shown and the last one has ended.
func (v *visit) turns(n int) {
	v.t.Helper()
	v.wait(fmt.Sprintf(`document.querySelectorAll(".turn").length === %d && %s`, n, idle))
}

// last is a selector inside the last turn.
func last(selector string) string { return ".turn:last-child " + selector }

// of is an expression for the text of the first element of a selector.
func of(selector string) string {
	return fmt.Sprintf(`(document.querySelector(%q)?.textContent ?? "")`, selector)
}

// session is the id of the shown session.
func (v *visit) session() string {
	v.t.Helper()
	v.wait(`location.hash.startsWith("#ses_")`)
	return strings.TrimPrefix(v.text(`location.hash`), "#")
}

// quiet checks that the page complained of nothing: no exception, no blocked content.
func (v *visit) quiet() {
	v.t.Helper()
	if trouble := v.page.Trouble(); len(trouble) > 0 {
		v.t.Errorf("the page has trouble: %q", trouble)
	}
}
