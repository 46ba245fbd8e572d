package stage

import (
	"fmt"
	"iter"
	"slices"
	"time"

	"macaron/internal/bench/ui4a"
	"macaron/internal/browser"
)

// mostOperated bounds how many controls of a card are used.
const mostOperated = 40

// cover uses every control that comes into sight, one after the other: first what is filled
// in, then what is pressed. What had no effect has a second try at the end, when other
// things have changed, and buttons a third, each after another button that works and the
// second that a clock needs: "Reset" has nothing to do before.
type cover struct {
	screen *screen
	seen   map[string]*ui4a.Operated
	order  []string
	texts  []string
	keys   *ui4a.Keyboard
	tried  map[string]bool // roles on which a key was tried
}

func (x *screen) cover(keys *ui4a.Keyboard) (*cover, error) {
	c := &cover{screen: x, seen: map[string]*ui4a.Operated{}, keys: keys, tried: map[string]bool{}}
	if err := c.round(false); err != nil {
		return c, err
	}
	if err := c.round(true); err != nil {
		return c, err
	}
	return c, c.afterOthers()
}

// results are the controls in the order of their use.
func (c *cover) results() []ui4a.Operated {
	var out []ui4a.Operated
	for _, key := range c.order {
		out = append(out, *c.seen[key])
	}
	return out
}

// round uses what was not used yet, or what had no effect.
func (c *cover) round(again bool) error {
	done := map[string]bool{}
	for range mostOperated {
		now, err := c.screen.state()
		if err != nil {
			return err
		}
		w, key, ok := c.next(now, again, done)
		if !ok {
			return nil
		}
		done[key] = true
		if err := c.use(w, key, now, again); err != nil {
			return err
		}
	}
	return nil
}

// next gives the control to use: fields before buttons, in their order.
func (c *cover) next(now ui4a.Snapshot, again bool, done map[string]bool) (ui4a.Widget, string, bool) {
	type entry struct {
		w   ui4a.Widget
		key string
	}
	var fields, presses []entry
	for key, w := range keyed(now.Widgets) {
		o := c.seen[key]
		if w.Disabled || w.ReadOnly || done[key] || o != nil && (o.Effect || !again) || o == nil && len(c.seen) >= mostOperated {
			continue
		}
		if pressed(w.Role) && w.Role != "radio" && w.Role != "checkbox" && w.Role != "switch" && w.Role != "tab" {
			presses = append(presses, entry{w, key})
		} else {
			fields = append(fields, entry{w, key})
		}
	}
	if all := append(fields, presses...); len(all) > 0 {
		return all[0].w, all[0].key, true
	}
	return ui4a.Widget{}, "", false
}

// keyed gives controls with what each is known by from one state of the card to the next:
// role, name, and which of several.
func keyed(widgets []ui4a.Widget) iter.Seq2[string, ui4a.Widget] {
	return func(yield func(string, ui4a.Widget) bool) {
		counts := map[string]int{}
		for _, w := range widgets {
			name := w.Role + "\x00" + w.Name
			counts[name]++
			if !yield(fmt.Sprintf("%s\x00%d", name, counts[name]), w) {
				return
			}
		}
	}
}

func pressed(role string) bool {
	return slices.Contains([]string{"button", "link", "checkbox", "radio", "switch", "tab", "option", "menuitem", "menuitemradio", "menuitemcheckbox", "treeitem"}, role)
}

// use does what the control is for, and notes whether anything came of it. The second time
// a change of the card's state that nobody sees is an effect, too.
func (c *cover) use(w ui4a.Widget, key string, now ui4a.Snapshot, again bool) error {
	o := c.seen[key]
	if o == nil {
		o = &ui4a.Operated{Role: w.Role, Name: w.Name}
		c.seen[key], c.order = o, append(c.order, key)
	}
	if (w.Role == "radio" || w.Role == "tab" || w.Role == "option") && w.Checked != nil && *w.Checked {
		o.Effect, o.Why = true, "it is the chosen one"
		return nil
	}
	at, err := c.screen.aim(w) // now: it may be gone when it was used
	if err != nil {
		return err
	}
	if err = c.try(w, o, now, again); err == nil && at.Why != "" {
		o.Effect, o.Why = false, at.Why // keys alone do not make it a control for everybody
	}
	return err
}

// try uses a control: with its key, if it is the first of its role, else as it is meant.
func (c *cover) try(w ui4a.Widget, o *ui4a.Operated, now ui4a.Snapshot, again bool) error {
	dead := false
	if byKey := pressed(w.Role) && !c.tried[w.Role] && w.Role != "option" && w.Role != "radio" && w.Role != "tab"; byKey {
		c.tried[w.Role] = true
		var err error
		if o.Effect, err = c.press(w); err != nil || o.Effect {
			c.keys.Pressed++
			return err
		}
		dead = true
	}
	why, err := c.operate(w, o, now, again)
	if err != nil {
		return err
	}
	if o.Why = why; dead && o.Effect {
		c.keys.Pressed++
		c.keys.Dead = append(c.keys.Dead, w.Role+" "+w.Name)
	}
	return nil
}

// late is how long a card may take to tell a change of its state.
const late = 150 * time.Millisecond

func (c *cover) operate(w ui4a.Widget, o *ui4a.Operated, now ui4a.Snapshot, again bool) (why string, err error) {
	if again {
		time.Sleep(late)
	}
	n, err := c.screen.count()
	if err != nil {
		return "", err
	}
	before := mark{now.Hash, n[0], -1}
	if again {
		before.states = n[1]
	}
	if why, err = c.screen.operate(w); err != nil || why != "" {
		return why, err
	}
	within := soon
	if w.Sealed || again { // it tells the page after a pause
		within = 4 * soon
	}
	o.Effect, err = c.effect(before, within)
	return whyNot(o.Effect, "nothing came of it"), err
}

// press uses a control with its key. Moving the focus there may have changed something by
// itself: a field takes its value when it is left.
func (c *cover) press(w ui4a.Widget) (bool, error) {
	if ok, err := c.screen.focus(w); err != nil || !ok {
		return false, err
	}
	hash, err := browser.Look[string](c.screen.doc, "probe.now()")
	if err != nil {
		return false, err
	}
	before, err := c.screen.mark(hash)
	if err != nil {
		return false, err
	}
	key := " "
	if w.Role == "button" || w.Role == "link" {
		key = browser.Enter
	}
	if err := c.screen.tab.page.Press(key); err != nil {
		return false, err
	}
	return c.effect(before, 4*soon) // one key for each role: patience costs little
}

// soon is how long an effect may take.
const soon = 120 * time.Millisecond

// effect: the card is another, something has left it, or the focus has moved on.
func (c *cover) effect(before mark, within time.Duration) (bool, error) {
	ok, err := c.screen.came(before, within)
	if err != nil || !ok {
		return ok, err
	}
	text, err := browser.Look[string](c.screen.doc, "probe.text()")
	if err == nil && len(c.texts) < 2*mostOperated && !slices.Contains(c.texts, text) {
		c.texts = append(c.texts, text)
	}
	return true, err
}

// operate uses one control as it is meant to be used.
func (x *screen) operate(w ui4a.Widget) (why string, err error) {
	switch {
	case len(w.Options) > 1:
		now, err := browser.Look[int](x.doc, fmt.Sprintf("probe.selected(%d)", w.ID))
		if err != nil {
			return "", err
		}
		return x.pick(w, (now+1)%len(w.Options))
	case w.Role == "slider":
		return x.nudge(w, browser.Right, browser.Left)
	case w.Role == "spinbutton":
		return x.nudge(w, browser.Up, browser.Down)
	case pressed(w.Role) || w.Role == "combobox" && w.Tag != "input":
		return x.click(w, 1)
	}
	text := map[string]string{"date": "2026-12-05", "time": "10:30", "month": "2026-12", "week": "2026-W50", "datetime-local": "2026-12-05T10:30", "color": "#336699", "email": "ann@example.org", "url": "https://example.org", "tel": "+49 30 123456"}[w.Type]
	if text == "" {
		text = "Try 7"
	}
	if text == w.Value {
		text += "1"
	}
	return x.fill(w, text)
}

// nudge moves a number by one step, back when there is no further one.
func (x *screen) nudge(w ui4a.Widget, forth, back string) (why string, err error) {
	if ok, err := x.focus(w); err != nil || !ok {
		return whyNot(ok, "it takes no focus"), err
	}
	before, err := browser.Look[string](x.doc, fmt.Sprintf("probe.read(%d)", w.ID))
	if err != nil {
		return "", err
	}
	if err := x.tab.page.Press(forth); err != nil {
		return "", err
	}
	time.Sleep(20 * time.Millisecond)
	after, err := browser.Look[string](x.doc, fmt.Sprintf("probe.read(%d)", w.ID))
	if err != nil || after != before {
		return "", err
	}
	return "", x.tab.page.Press(back)
}
