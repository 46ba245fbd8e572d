package stage

import (
	"fmt"
	"math"
	"strconv"
	"time"

	"macaron/internal/bench/ui4a"
	"macaron/internal/browser"
)

// state gives the card as it is now.
func (x *screen) state() (ui4a.Snapshot, error) {
	return browser.Look[ui4a.Snapshot](x.doc, "probe.state()")
}

// click clicks a control of the last state so many times; why tells what is in the way. A
// card that moves at that moment can lose the click, as it would a person's; it is then made
// again.
func (x *screen) click(w ui4a.Widget, times int) (why string, err error) {
	for range 3 {
		if why, err = x.clickOnce(w, times); err != nil || why != "" {
			return why, err
		}
		if ok, err := browser.Look[bool](x.doc, "probe.hit(100)"); err != nil || ok {
			return "", err
		}
	}
	return "the click does not arrive", nil
}

// aim is where a pointer hits a control, or why it does not.
type aim struct {
	X, Y float64
	Why  string
}

func (x *screen) aim(w ui4a.Widget) (aim, error) {
	return browser.Look[aim](x.doc, fmt.Sprintf("probe.aim(%d)", w.ID))
}

func (x *screen) clickOnce(w ui4a.Widget, times int) (why string, err error) {
	at, err := x.aim(w)
	if err != nil || at.Why != "" {
		return at.Why, err
	}
	px, py, err := x.at(at.X, at.Y)
	if err != nil {
		return "", err
	}
	return "", x.tab.page.ClickAt(px, py, times)
}

// focus puts the focus on a control, without using it.
func (x *screen) focus(w ui4a.Widget) (bool, error) {
	if x.surface != "" {
		if _, err := browser.Eval[bool](x.tab.page, `(document.querySelector("#place iframe")?.focus(), true)`); err != nil {
			return false, err
		}
	}
	return browser.Look[bool](x.doc, fmt.Sprintf("probe.focus(%d)", w.ID))
}

// keyCodes are the keys of cases as the browser takes them.
var keyCodes = map[string]string{
	"Enter": browser.Enter, "Space": " ", "Tab": browser.Tab, "Escape": browser.Escape, "ArrowLeft": browser.Left, "ArrowRight": browser.Right,
	"ArrowUp": browser.Up, "ArrowDown": browser.Down, "Home": browser.Home, "End": browser.End,
}

// fill empties a field and types a text into it.
func (x *screen) fill(w ui4a.Widget, text string) (why string, err error) {
	switch w.Type {
	case "date", "time", "month", "week", "datetime-local", "color":
		ok, err := browser.Look[bool](x.doc, fmt.Sprintf("probe.put(%d, %q)", w.ID, text))
		return whyNot(ok, "the field does not take "+text), err
	}
	if why, err := x.click(w, 1); err != nil || why != "" {
		return why, err
	}
	if w.Sealed { // nobody sees what is in it
		if err := x.tab.page.Press(browser.End); err != nil {
			return "", err
		}
		return "", x.tab.page.Insert(text)
	}
	if _, err := x.focus(w); err != nil { // selects what is there
		return "", err
	}
	if err := x.tab.page.Press(browser.Delete); err != nil || text == "" {
		return "", err
	}
	return "", x.tab.page.Insert(text)
}

func whyNot(ok bool, why string) string {
	if ok {
		return ""
	}
	return why
}

// set gives a slider or a number field a value.
func (x *screen) set(w ui4a.Widget, text string) (why string, err error) {
	want, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return "it is no number: " + text, nil
	}
	if w.Role != "slider" {
		return x.fill(w, text)
	}
	if ok, err := x.focus(w); err != nil || !ok {
		return whyNot(ok, "it takes no focus"), err
	}
	return x.slide(w, want)
}

// slide moves a slider by its keys: one step tells how far a step goes, the rest follows.
func (x *screen) slide(w ui4a.Widget, want float64) (why string, err error) {
	const most = 6 // corrections
	step := 0.0
	for range most {
		now, err := x.number(w)
		if err != nil {
			return "", err
		}
		d := want - now
		if math.Abs(d) < 1e-9 || step > 0 && math.Abs(d) < step/2 {
			return "", nil
		}
		n := 1
		if step > 0 {
			n = min(400, int(math.Round(math.Abs(d)/step)))
		}
		key := browser.Right
		if d < 0 {
			key = browser.Left
		}
		for range n {
			if err := x.tab.page.Press(key); err != nil {
				return "", err
			}
		}
		time.Sleep(20 * time.Millisecond)
		after, err := x.number(w)
		if err != nil {
			return "", err
		}
		if step = math.Abs(after-now) / float64(n); step == 0 {
			return "its keys do not move it", nil
		}
	}
	return "", nil
}

func (x *screen) number(w ui4a.Widget) (float64, error) {
	s, err := browser.Look[string](x.doc, fmt.Sprintf("probe.read(%d)", w.ID))
	v, _ := strconv.ParseFloat(s, 64) // no number is 0
	return v, err
}

// pick chooses an entry of a native list, by keys.
func (x *screen) pick(w ui4a.Widget, option int) (why string, err error) {
	if ok, err := x.focus(w); err != nil || !ok {
		return whyNot(ok, "it takes no focus"), err
	}
	now, err := browser.Look[int](x.doc, fmt.Sprintf("probe.selected(%d)", w.ID))
	if err != nil {
		return "", err
	}
	key, n := browser.Down, option-now
	if n < 0 {
		key, n = browser.Up, -n
	}
	for range min(n, 300) {
		if err := x.tab.page.Press(key); err != nil {
			return "", err
		}
	}
	return "", nil
}

// confirm says yes where the page asks whether something destructive is meant.
func (x *screen) confirm() error {
	if x.surface == "" {
		return nil
	}
	asked, err := browser.Eval[bool](x.tab.page, `!!document.querySelector("dialog.ui4a-confirm")`)
	if err != nil || !asked {
		return err
	}
	if err := x.tab.page.Wait(`document.querySelector("dialog.ui4a-confirm .ui4a-yes:enabled") || !document.querySelector("dialog.ui4a-confirm")`); err != nil {
		return err
	}
	return x.tab.page.Click("dialog.ui4a-confirm .ui4a-yes")
}

// came waits until the state or what has left the card is another than before.
func (x *screen) came(before mark, within time.Duration) (bool, error) {
	const turn = 60 * time.Millisecond
	for end := time.Now().Add(within); ; {
		ok, err := browser.Look[bool](x.doc, fmt.Sprintf("probe.changed(%q, %d)", before.hash, turn.Milliseconds()))
		if err != nil || ok {
			return ok, err
		}
		if err := x.confirm(); err != nil {
			return false, err
		}
		n, err := x.count()
		if err != nil {
			return false, err
		}
		if n[0] != before.left || before.states >= 0 && n[1] != before.states {
			return true, nil
		}
		if time.Now().After(end) {
			return false, nil
		}
	}
}
