package stage

import (
	"macaron/internal/bench/ui4a"
	"macaron/internal/browser"
)

// tabs walks with the Tab key through the card. Controls of a group (radio buttons, tabs)
// share one stop.
func (x *screen) tabs() (ui4a.Keyboard, error) {
	var k ui4a.Keyboard
	now, err := x.state()
	if err != nil {
		return k, err
	}
	stops := map[string]string{} // what has to be reached, and its name
	byID := map[int]string{}
	for i, w := range now.Widgets {
		if w.Disabled || w.Role == "option" {
			continue
		}
		stop := w.Group
		if stop == "" {
			stop = string(rune('0'+i)) + w.Name
		}
		if stops[stop] == "" {
			stops[stop] = w.Role + " " + w.Name
		}
		byID[w.ID] = stop
	}
	k.Stops = len(stops)
	reached := map[string]bool{}
	if err := x.tabAlong(len(now.Widgets), byID, now.Widgets, reached, &k); err != nil {
		return k, err
	}
	k.Reached = len(reached)
	for stop, name := range stops {
		if !reached[stop] {
			k.Missed = append(k.Missed, name)
		}
	}
	return k, nil
}

func (x *screen) tabAlong(n int, byID map[int]string, widgets []ui4a.Widget, reached map[string]bool, k *ui4a.Keyboard) error {
	if n == 0 {
		return nil
	}
	if _, err := browser.Look[int](x.doc, "probe.rest()"); err != nil {
		return err
	}
	if x.surface != "" {
		if _, err := browser.Eval[bool](x.tab.page, `(document.querySelector("#place iframe")?.focus(), true)`); err != nil {
			return err
		}
	}
	const (
		besides = 6 // stops that are no controls: tables that scroll, charts
		parts   = 8 // stops within a control: those of a date and a time
	)
	for lost, within, last := 0, 0, ""; lost <= besides && len(reached) < k.Stops; {
		if err := x.tab.page.Press(browser.Tab); err != nil {
			return err
		}
		f, err := browser.Look[struct {
			ID      int  `json:"id"`
			Visible bool `json:"visible"`
		}](x.doc, "probe.focused()")
		if err != nil {
			return err
		}
		stop, ok := byID[f.ID]
		if ok && stop == last && within < parts {
			within++
			continue
		}
		if !ok || reached[stop] {
			lost++
			continue
		}
		lost, within, last, reached[stop] = 0, 0, stop, true
		for _, w := range widgets {
			if w.ID == f.ID && !f.Visible {
				k.Hidden = append(k.Hidden, w.Role+" "+w.Name)
			}
		}
	}
	return nil
}
