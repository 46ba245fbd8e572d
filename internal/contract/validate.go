package contract

import (
	"fmt"
	"slices"
	"strings"

	"macaron/internal/adapter"
	"macaron/internal/errs"
)

// The bounds of what a contract may ask for.
const (
	MaxAdapters = 1024    // registered labels
	MaxTokens   = 1 << 20 // any token budget
	MaxChars    = 1 << 20 // router.request_chars, router.context_chars
	MaxWaitMS   = 600_000 // budgets.summary_wait_ms
	MaxEarlier  = 16      // router.summaries
	MaxOwners   = 256     // tenants of one adapter
)

func (c *Contract) validate() error {
	for _, f := range []struct{ key, text string }{{"name", c.Name}, {"version", c.Version}, {"model.base", c.Model.Base}} {
		if strings.TrimSpace(f.text) == "" {
			return bad(f.key, f.key+" is missing")
		}
	}
	checks := []func() error{c.checkAdapters, c.checkPrompts, c.checkRouter, c.checkBudgets, c.checkSampling, c.checkSplit, c.checkView}
	if c.Schema != Schema1 {
		checks = append(checks, c.checkOrigin, c.checkRuntime, c.checkAgent, c.checkMemory, c.checkResources, c.checkServers, c.checkTools, c.checkPolicies,
			c.checkSkills, c.checkHooks, c.checkWorkspace, c.checkEnvironment, c.checkTokens, c.checkSandbox)
	}
	for _, check := range checks {
		if err := check(); err != nil {
			return err
		}
	}
	return nil
}

func (c *Contract) checkAdapters() error {
	if len(c.Adapters) == 0 || len(c.Adapters) > MaxAdapters {
		return bad("adapters", fmt.Sprintf("%d adapters; 1 to %d can be registered", len(c.Adapters), MaxAdapters))
	}
	seen := map[string]bool{}
	for i, a := range c.Adapters {
		key := fmt.Sprintf("adapters[%d]", i)
		if err := adapter.CheckName(a.Name); err != nil {
			return bad(key+".name", key+".name: "+errs.As(err).Message)
		}
		if seen[a.Name] {
			return bad(key+".name", fmt.Sprintf("two adapters are named %q", a.Name))
		}
		seen[a.Name] = true
		if a.Source == "" || a.Description == "" {
			return bad(key, fmt.Sprintf("adapter %s needs source and description", a.Name))
		}
		if err := checkOwners(key+".owners", a.Owners); err != nil {
			return err
		}
		if strings.ContainsAny(a.Description, "\r\n") {
			return bad(key+".description", fmt.Sprintf("the description of %s must be one line", a.Name))
		}
	}
	return nil
}

// checkOwners wants names that an adapter can be for; an empty list that is written down
// would read as "nobody" and mean "everybody".
func checkOwners(key string, owners []string) error {
	if owners != nil && len(owners) == 0 || len(owners) > MaxOwners {
		return bad(key, fmt.Sprintf("%s has %d tenants; name 1 to %d, or leave it out", key, len(owners), MaxOwners))
	}
	for i, o := range owners {
		if strings.TrimSpace(o) == "" || slices.Contains(owners[:i], o) {
			return bad(key, fmt.Sprintf("%s has %q, which is empty or stands there twice", key, o))
		}
	}
	return nil
}

func (c *Contract) checkPrompts() error {
	for _, p := range []struct{ key, text, holes string }{
		{"prompts.system", c.Prompts.System, "{{specialist}}"},
		{"prompts.route", c.Prompts.Route, "{{adapters}}"},
		{"prompts.summary", c.Prompts.Summary, ""},
		{"prompts.foreign", c.Prompts.Foreign, "{{summary}}"},
		{"prompts.tools", c.Prompts.Tools, "{{tools}}"},
	} {
		if strings.TrimSpace(p.text) == "" {
			return bad(p.key, p.key+" is missing")
		}
		if !strings.Contains(p.text, p.holes) {
			return bad(p.key, p.key+" must contain "+p.holes)
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
		if len(a.Owners) > 0 {
			return bad(l.key, fmt.Sprintf("%s is %q, which is not for everybody; every tenant needs the one that routes and the default", l.key, l.label))
		}
	}
	if r.Shortlist == 1 {
		return bad("router.shortlist", "router.shortlist is 1, which leaves nothing to decide; use 0 or at least 2")
	}
	for i, label := range r.Order {
		if _, ok := c.Adapter(label); !ok {
			return bad("router.order", fmt.Sprintf("router.order has %q, which is no registered adapter", label))
		}
		if slices.Contains(r.Order[:i], label) {
			return bad("router.order", fmt.Sprintf("router.order has %q twice", label))
		}
	}
	for _, label := range c.Labels() { // those that order leaves out come last
		if !slices.Contains(r.Order, label) {
			r.Order = append(r.Order, label)
		}
	}
	if !(r.MinProbability >= 0 && r.MinProbability <= 1) {
		return bad("router.min_probability", "router.min_probability must be from 0 to 1")
	}
	if !(r.StickyMargin >= 0 && r.StickyMargin <= 1) {
		return bad("router.sticky_margin", "router.sticky_margin must be from 0 to 1")
	}
	return bounds(count{"router.summaries", r.Summaries, 0, MaxEarlier}, count{"router.shortlist", r.Shortlist, 0, MaxAdapters},
		count{"router.request_chars", r.RequestChars, 1, MaxChars}, count{"router.context_chars", r.ContextChars, 0, MaxChars})
}

func (c *Contract) checkBudgets() error {
	b := c.Budgets
	return bounds(count{"budgets.route_tokens", b.RouteTokens, 1, MaxTokens}, count{"budgets.summary_tokens", b.SummaryTokens, 1, MaxTokens},
		count{"budgets.answer_tokens", b.AnswerTokens, 1, MaxTokens}, count{"budgets.summary_wait_ms", b.SummaryWaitMS, 0, MaxWaitMS})
}

func (c *Contract) checkSampling() error {
	s := c.Sampling
	for _, v := range []struct {
		key       string
		value     *float64
		low, high float64
	}{
		{"sampling.temperature", s.Temperature, 0, 100}, {"sampling.top_p", s.TopP, 0, 1},
		{"sampling.min_p", s.MinP, 0, 1}, {"sampling.repetition_penalty", s.RepetitionPenalty, 0.01, 100},
	} {
		if v.value != nil && !(*v.value >= v.low && *v.value <= v.high) { // also NaN
			return bad(v.key, fmt.Sprintf("%s must be from %g to %g", v.key, v.low, v.high))
		}
	}
	if s.TopK != nil {
		return bounds(count{"sampling.top_k", *s.TopK, 0, MaxTokens})
	}
	return nil
}

type count struct {
	key              string
	value, low, high int
}

func bounds(counts ...count) error {
	for _, n := range counts {
		if n.value < n.low || n.value > n.high {
			return bad(n.key, fmt.Sprintf("%s is %d; it must be from %d to %d", n.key, n.value, n.low, n.high))
		}
	}
	return nil
}

func bad(key, message string) error {
	return errs.New(errs.FormatInvalid, message, "docs/formats/hcp.md lists the keys and their bounds").In(key)
}
