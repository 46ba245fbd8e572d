package contract

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"macaron/internal/errs"
)

// validate checks what must be there and what values mean together. Each value alone has
// been checked by its rule.
func (c *Contract) validate() error {
	if err := missing(reflect.ValueOf(c).Elem(), ""); err != nil {
		return err
	}
	checks := []func() error{c.checkAdapters, c.checkPrompts, c.checkRouter, c.checkSplit, c.checkView}
	if c.Schema != Schema1 {
		checks = append(checks, c.checkVersion, c.checkAgent, c.checkServers, c.checkTools, c.checkSkills, c.checkHooks, c.checkWorkspace, c.checkTokens)
	}
	for _, check := range checks {
		if err := check(); err != nil {
			return err
		}
	}
	return nil
}

func (c *Contract) checkAdapters() error {
	return unique("adapters", c.Labels())
}

// hole is a prompt, and the placeholder that it must have, "" for none.
type hole struct{ key, text, hole string }

func (c *Contract) checkPrompts() error {
	p := c.Prompts
	return holes(hole{"prompts.system", p.System, "{{specialist}}"}, hole{"prompts.route", p.Route, "{{adapters}}"},
		hole{"prompts.foreign", p.Foreign, "{{summary}}"}, hole{"prompts.tools", p.Tools, "{{tools}}"})
}

func holes(all ...hole) error {
	for _, h := range all {
		if !strings.Contains(h.text, h.hole) {
			return bad(h.key, h.key+" must contain "+h.hole)
		}
	}
	return nil
}

func (c *Contract) checkRouter() error {
	r := &c.Router
	for _, l := range []struct{ key, label string }{{"router.adapter", r.Adapter}, {"router.default", r.Default}} {
		a, ok := c.Adapter(l.label)
		if !ok {
			return bad(l.key, fmt.Sprintf("%s is %q, which is no registered adapter", l.key, l.label))
		}
		if a.Private() {
			return bad(l.key, fmt.Sprintf("%s is %q, which is not for everybody; everybody needs the one that routes and the default", l.key, l.label))
		}
	}
	switch {
	case r.Layout == "" && r.Stem != "":
		return bad("router.stem", "router.stem belongs to the layout mol, and router.layout says nothing")
	case r.Layout != "" && (r.Overlay || r.Summaries > 0):
		return bad("router.layout", "the layout mol has no place for summaries and no view to go on from; leave router.overlay and router.summaries out")
	}
	if r.Shortlist == 1 {
		return bad("router.shortlist", "router.shortlist is 1, which leaves nothing to decide; use 0 or at least 2")
	}
	for i, label := range r.Order {
		if _, ok := c.Adapter(label); !ok {
			return bad(fmt.Sprintf("router.order[%d]", i), fmt.Sprintf("router.order has %q, which is no registered adapter", label))
		}
	}
	for _, label := range c.Labels() { // those that order leaves out come last
		if !slices.Contains(r.Order, label) {
			r.Order = append(r.Order, label)
		}
	}
	return nil
}

// unique wants names that stand in a list once.
func unique(key string, names []string) error {
	for i, n := range names {
		if slices.Contains(names[:i], n) {
			return bad(fmt.Sprintf("%s[%d].name", key, i), fmt.Sprintf("two %s are named %q", key, n))
		}
	}
	return nil
}

func bad(key, message string) error {
	return errs.New(errs.FormatInvalid, message, "docs/formats/hcp.md lists the keys and their bounds").In(key)
}
