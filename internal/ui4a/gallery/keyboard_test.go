package gallery_test

import (
	"strings"
	"testing"

	"macaron/internal/browser"
)

// groups are controls of which one is a stop of Tab and arrows reach the others.
const groups = `[role=tab], [type=radio]`

// controls are what a person can operate.
const controls = `[...document.querySelectorAll("button, input, select, textarea, summary, a[href], [role=slider], [role=tab]")].filter((e) => {
	const style = getComputedStyle(e), box = e.getBoundingClientRect();
	return !e.disabled && !e.hasAttribute("data-disabled") && !e.closest("[data-disabled]") && style.visibility !== "hidden" && box.width > 1 && box.height > 1 && e.ariaHidden !== "true" && e.type !== "hidden";
})`

// walk: Tab reaches every control of a card, arrows the others of a group, and each shows
// that it has the focus.
func (s *stage) walk(card string) {
	s.t.Helper()
	n := s.count(controls + `.length`)
	for range n + 3 {
		s.must(s.Press(browser.Tab))
		for range s.count(`document.activeElement?.matches("` + groups + `") ? document.activeElement.parentElement.parentElement.querySelectorAll("` + groups + `").length : 0`) {
			s.must(s.Press(browser.Right))
			s.look(`new Promise((done) => setTimeout(() => done(true), 20))`) // a person is no faster
		}
		if shown := s.text(`(() => {
			const e = document.activeElement;
			if (!e || e === document.body || !e.matches(":focus-visible")) return "";
			const style = getComputedStyle(e);
			return style.outlineStyle === "none" || parseFloat(style.outlineWidth) < 1 ? e.outerHTML.slice(0, 120) : "";
		})()`); shown != "" {
			s.t.Errorf("%s: the focus is not seen on %s", card, shown)
		}
	}
	if missed := s.text(controls + `.filter((e) => !seen.has(e)).map((e) => e.outerHTML.slice(0, 120)).join("\n")`); missed != "" {
		s.t.Errorf("%s: not reached:\n%s", card, missed)
	}
}

func (s *stage) count(expression string) int {
	s.t.Helper()
	n, err := browser.Look[int](s.doc, expression)
	s.must(err)
	return n
}

// Keys alone operate each kind of control.
func TestKeysOperateControls(t *testing.T) {
	s := newStage(t, phone)
	const (
		tab   = browser.Tab
		right = browser.Right
		enter = browser.Enter
	)
	for _, c := range []struct{ card, keys, want string }{
		{"button", tab + enter + " ", "There are 2."},
		{"switch", tab + " ", "off"},
		{"slider", tab + right + right, "€6,000"},
		{"radiogroup", tab + right, "Size L"},
		{"checkbox", tab + " " + tab + " ", "packed: stove"},
		{"tabs", tab + right, "Mix, wait, bake."},
		{"disclosure", tab + tab + enter, "Yes, for thirty days."},
		{"numberfield", tab + enter, "2.50 €"},
		{"numberfield", tab + tab + "5", "12.50 €"},
		{"select", tab + "Be", "Bern"},
		{"table", tab + tab + enter, "Train ↑"},
		{"dialog", tab + enter + tab + tab + enter, "The photo is gone."},
		{"card", tab + enter, "Saved"},
	} {
		s.show(c.card, source(t, c.card))
		s.must(s.Press(c.keys))
		s.wait(`document.body.innerText.includes(` + quote(c.want) + `)`)
	}
}

// A form tells what its controls hold, once all of it is valid, by Enter as well; a button
// of type reset empties it. So does the browser's own form, which a sandbox does not send.
func TestFormsTellTheirValues(t *testing.T) {
	s := newStage(t, phone)
	s.show("form", source(t, "form"))
	s.must(s.Press(browser.Tab + "A" + browser.Enter)) // a letter too few
	s.wait(`document.activeElement.matches(":invalid") && document.body.innerText.includes("Nothing is ordered.")`)
	s.must(s.Press("da" + browser.Tab + "3" + browser.Tab + browser.Tab + " " + browser.Tab + browser.Enter))
	s.wait(`document.body.innerText.includes('{"Name":"Ada","Cups":3,"With milk":true}')`)
	s.must(s.Press(browser.Tab + browser.Enter))
	s.wait(`document.querySelector("input").value === "" && document.querySelector("[type=number]").value === "1"`)
	s.show("own", `export default function Own() { const [n, set] = useState(""); return <form onSubmit={(e) => { e.preventDefault(); set(new FormData(e.currentTarget).get("q")); }}>
		<input name="q" aria-label="q" /><button>Go</button><p>found {n}</p></form>; }`)
	s.must(s.Press(browser.Tab + "tea" + browser.Enter))
	s.wait(`document.body.innerText.includes("found tea")`)
}

// Escape closes a dialog, and the focus comes back to what opened it.
func TestEscapeClosesADialog(t *testing.T) {
	s := newStage(t, phone)
	s.show("dialog", source(t, "dialog"))
	s.must(s.Press(browser.Tab + browser.Enter))
	s.wait(`document.querySelector("dialog[open]")?.contains(document.activeElement)`)
	s.must(s.Press(browser.Escape))
	s.wait(`!document.querySelector("dialog[open]") && document.activeElement.textContent === "Remove…"`)
	if !strings.Contains(s.visible(), "The photo is here.") {
		t.Errorf("the card shows %q", s.visible())
	}
}
