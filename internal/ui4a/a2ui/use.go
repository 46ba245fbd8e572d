package a2ui

import (
	"maps"
	"reflect"
	"time"

	"macaron/internal/browser"
)

// use uses each control once, on a card that is as it was at first, and notes what it does.
func (s *stage) use(first drawing, m *mapping) error {
	var controls []*node
	first.Root.each(func(n *node) {
		if n.Kind == "button" || n.isInput() {
			controls = append(controls, n)
		}
	})
	for i, n := range controls {
		if i == most {
			m.lose("control", n.title(), "it and those behind it were not tried: they send and hold nothing")
			return nil
		}
		if err := s.again(n.via); err != nil {
			return err
		}
		before, err := browser.Eval[map[string]any](s.page, `shown.state()`)
		if err != nil {
			return err
		}
		if err := s.operate(n); err != nil {
			return err
		}
		if n.Kind == "button" {
			err = s.sent(n)
		} else {
			err = s.held(n, before, first, m)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// operate does to a control what a person would.
func (s *stage) operate(n *node) error {
	if err := s.press(n.N); err != nil || n.Kind == "button" || n.Kind == "check" {
		return err
	}
	var err error
	switch n.Kind {
	case "slider":
		err = s.page.Press(browser.Right)
	case "choice":
		if n.Variant != "radio" {
			err = s.page.Press(browser.Down)
		}
	case "date":
		err = s.page.Press("12122026")
	default:
		err = s.page.Insert("7")
	}
	time.Sleep(patience)
	return err
}

// sent notes the Action that a button has sent. What the host asks about first is confirmed.
func (s *stage) sent(n *node) error {
	asked, err := browser.Eval[bool](s.page, `!!document.querySelector(".ui4a-confirm")`)
	if err != nil {
		return err
	}
	if asked {
		if err := s.page.Click(".ui4a-yes"); err != nil {
			return err
		}
		time.Sleep(patience)
	}
	sent, err := browser.Eval[[]event](s.page, `shown.actions.filter((a) => a.execution === "event" && a.visibility.audience === "ai")`)
	if err == nil && len(sent) > 0 {
		n.event = &sent[0]
		n.event.Asked, n.event.Number = asked, len(sent)
	}
	return err
}

// held notes which key of the state has an input's value, and which texts follow from it.
func (s *stage) held(n *node, before map[string]any, first drawing, m *mapping) error {
	after, err := browser.Eval[map[string]any](s.page, `shown.state()`)
	if err != nil {
		return err
	}
	if n.secret, err = browser.Eval[bool](s.page, `shown.secret()`); err != nil {
		return err
	}
	changed := changedKeys(before, after)
	if len(changed) == 1 && follows(n, after[changed[0]]) {
		n.bound = changed[0]
	}
	now, err := s.read()
	if err != nil {
		return err
	}
	m.follow(first.Root, now.Root, n)
	return nil
}

func changedKeys(before, after map[string]any) (changed []string) {
	for key := range maps.Keys(after) {
		if !reflect.DeepEqual(before[key], after[key]) {
			changed = append(changed, key)
		}
	}
	return changed
}

// follows says whether a key's value can be what an input shows.
func follows(n *node, value any) bool {
	switch value.(type) {
	case bool:
		return n.Kind == "check"
	case float64:
		return n.Kind == "slider" || n.Kind == "field" && n.Variant == "number"
	case string:
		return n.Kind != "check" && n.Kind != "slider"
	}
	return false
}
