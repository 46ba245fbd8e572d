package stage

import (
	"fmt"
	"time"

	"macaron/internal/bench/ui4a"
	"macaron/internal/browser"
)

// Bounds of the third try.
const (
	mostDead    = 3 // buttons without effect that have it
	mostWorking = 3 // buttons that are used before one of them
	tick        = 1200 * time.Millisecond
)

// afterOthers tries each button that is still without effect behind those that work. A card
// that moves by itself is brought to rest before, so that its own change is not taken for an
// effect.
func (c *cover) afterOthers() error {
	tried := 0
	for _, key := range c.order {
		if o := c.seen[key]; o.Role != "button" || o.Effect || tried == mostDead {
			continue
		}
		tried++
		if err := c.afterEach(key); err != nil {
			return err
		}
	}
	return nil
}

func (c *cover) afterEach(dead string) error {
	used := 0
	for _, key := range c.order {
		if o := c.seen[key]; o.Role != "button" || !o.Effect || used == mostWorking {
			continue
		}
		w, _, ok, err := c.find(key)
		if err != nil {
			return err
		}
		if !ok {
			continue
		}
		used++
		if _, err := c.screen.click(w, 1); err != nil {
			return err
		}
		if still, err := c.rest(dead); err != nil || !still {
			return err
		}
		if err := c.again(dead); err != nil || c.seen[dead].Effect {
			return err
		}
	}
	return nil
}

// again uses a button that was without effect.
func (c *cover) again(key string) error {
	w, now, ok, err := c.find(key)
	if err != nil || !ok {
		return err
	}
	o := c.seen[key]
	o.Why, err = c.operate(w, o, now, true)
	return err
}

// rest waits for a clock to go on, and stops it by whichever other button does.
func (c *cover) rest(dead string) (bool, error) {
	moving, err := c.moves()
	if err != nil || !moving {
		return err == nil, err
	}
	now, err := c.screen.state()
	if err != nil {
		return false, err
	}
	tried := 0
	for key, w := range keyed(now.Widgets) {
		if w.Role != "button" || w.Disabled || key == dead || tried == mostWorking {
			continue
		}
		tried++
		if _, err := c.screen.click(w, 1); err != nil {
			return false, err
		}
		if moving, err := c.moves(); err != nil || !moving {
			return err == nil, err
		}
	}
	return false, nil
}

// moves reports whether the card becomes another by itself.
func (c *cover) moves() (bool, error) {
	return browser.Look[bool](c.screen.doc, fmt.Sprintf("probe.settled(200).then(() => probe.changed(probe.now(), %d))", tick.Milliseconds()))
}

// find gives a control of the card as it is now; false where it is gone or off.
func (c *cover) find(key string) (w ui4a.Widget, now ui4a.Snapshot, ok bool, err error) {
	if now, err = c.screen.state(); err != nil {
		return w, now, false, err
	}
	for k, w := range keyed(now.Widgets) {
		if k == key && !w.Disabled {
			return w, now, true, nil
		}
	}
	return w, now, false, nil
}
