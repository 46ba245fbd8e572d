package evaluation

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"macaron/internal/errs"
	"macaron/internal/ids"
	"macaron/internal/mindforge"
	"macaron/internal/mindforge/stat"
)

// Stages are those of the gate, in the one order that a contract may name.
var Stages = []mindforge.Stage{mindforge.Lint, mindforge.Smoke, mindforge.Minibatch, mindforge.Validation, mindforge.Sealed, mindforge.Approval, mindforge.Canary, mindforge.Champion}

// Rest stands for the families of a suite's worlds that no other suite names.
const Rest = "rest"

// Bounds of a contract.
const (
	maxSuites   = 64
	maxItems    = 5_000
	maxFamilies = 1_000
	maxRepeats  = 32
	maxTests    = 1_000
)

var word = regexp.MustCompile(`^[a-z][a-z0-9_-]{0,63}$`)

func itoa(n int) string { return strconv.Itoa(n) }

// span is a bound of a number that has a place in the file.
type span struct {
	key           string
	is, low, high float64
}

func (c *Contract) check() error {
	if c.Schema != Schema || !word.MatchString(c.Name) || c.Version < 1 {
		return bad("schema", fmt.Sprintf("a contract has schema = %q, a name of small letters and a version from 1", Schema))
	}
	if !slices.Equal(c.Gates.Order, Stages) {
		return bad("gates.order", fmt.Sprintf("the order of the stages is %v and no other", Stages))
	}
	for _, s := range c.spans() {
		if !(s.is >= s.low && s.is <= s.high) {
			return bad(s.key, fmt.Sprintf("%v is not from %v to %v", s.is, s.low, s.high))
		}
	}
	if p := c.Splits; p.Train+p.Validation+p.Sealed != 100 || len(p.Salt) < 8 || len(p.Salt) > 128 {
		return bad("splits", "train, validation and sealed are hundredths that add up to 100, and the salt has 8 to 128 bytes")
	}
	for _, f := range []func() error{c.checkStatistic, c.checkJudges, c.checkSuites, c.checkApproval} {
		if err := f(); err != nil {
			return err
		}
	}
	return nil
}

func (c *Contract) spans() []span {
	g, l := c.Gates, c.Limits
	return []span{
		{"alpha.budget", c.Alpha.Budget, 1e-6, 0.2}, {"alpha.tests", float64(c.Alpha.Tests), 1, maxTests},
		{"splits.train", float64(c.Splits.Train), 1, 98}, {"splits.validation", float64(c.Splits.Validation), 1, 98}, {"splits.sealed", float64(c.Splits.Sealed), 1, 98},
		{"statistic.families", float64(c.Statistic.Families), 2, maxFamilies}, {"statistic.draws", float64(c.Statistic.Draws), 1_000, 1_000_000}, {"statistic.min_gain", c.Statistic.MinGain, 0, 1},
		{"gates.smoke.items", float64(g.Smoke.Items), 1, maxItems}, {"gates.smoke.dead", float64(g.Smoke.Dead), 0, maxItems},
		{"gates.minibatch.items", float64(g.Minibatch.Items), 1, maxItems}, {"gates.minibatch.gain", g.Minibatch.Gain, -1, 1},
		{"gates.validation.items", float64(g.Validation.Items), 0, maxItems}, {"gates.validation.gain", g.Validation.Gain, -1, 1},
		{"gates.canary.share", g.Canary.Share, 0.001, 0.5}, {"gates.canary.requests", float64(g.Canary.Requests), 0, 1_000_000},
		{"gates.canary.errors", g.Canary.Errors, 0, 1}, {"gates.canary.latency", g.Canary.Latency, 1, 100},
		{"safety.failures", float64(c.Safety.Failures), 0, maxItems}, {"safety.new", float64(c.Safety.New), 0, maxItems}, {"safety.repeats", float64(c.Safety.Repeats), 1, maxRepeats}, {"safety.cases", float64(c.Safety.Cases), 0, maxItems},
		{"limits.tokens", l.Tokens, 0, 100}, {"limits.turns", l.Turns, 0, 100}, {"limits.cpu", l.CPU, 0, 100}, {"limits.usd", l.USD, 0, 100}, {"limits.reruns", float64(l.Reruns), 0, 10},
		{"hacking.constant", c.Hacking.Constant, 0, 1}, {"hacking.cheats", float64(c.Hacking.Cheats), 0, maxItems}, {"hacking.texts", float64(c.Hacking.Texts), 64, 1 << 20},
	}
}

func (c *Contract) checkStatistic() error {
	s := c.Statistic
	if !slices.Contains([]string{"e-process", "sign-flip", "mcnemar"}, s.Test) || s.Clusters != "family" {
		return bad("statistic", "test is e-process, sign-flip or mcnemar, and clusters is family")
	}
	if _, err := stat.NewWealth(s.Bet); err != nil {
		return bad("statistic.bet", errs.As(err).Message)
	}
	return nil
}

func (c *Contract) checkJudges() error {
	for i, j := range c.Judges {
		if !word.MatchString(j.Name) || j.Kind != "world" || slices.ContainsFunc(c.Judges[:i], func(o Judge) bool { return o.Name == j.Name }) {
			return bad("judges", "a judge has a name of its own and the kind world")
		}
	}
	return nil
}

func (c *Contract) checkSuites() error {
	if len(c.Suites) > maxSuites || len(c.Primary()) == 0 {
		return bad("suites", fmt.Sprintf("there are 1 to %d suites, and one is primary", maxSuites))
	}
	for i, s := range c.Suites {
		if slices.ContainsFunc(c.Suites[:i], func(o Suite) bool { return o.Name == s.Name }) {
			return bad("suites."+s.Name, "stands there twice")
		}
		if err := c.checkSuite(s); err != nil {
			return err
		}
	}
	return nil
}

func (c *Contract) checkSuite(s Suite) error {
	key := "suites." + errs.Clip(s.Name)
	switch {
	case !word.MatchString(s.Name) || s.Role != "primary" && s.Role != "regression":
		return bad(key, "a suite has a name of small letters and the role primary or regression")
	case len(s.Worlds) == 0 || len(s.Families) == 0 || len(s.Families) > maxFamilies || len(s.Levels) == 0 || len(s.Levels) > 16:
		return bad(key, "a suite names worlds, families (or \"rest\") and levels")
	case s.Items < 1 || s.Items > maxItems || s.Repeats < 1 || s.Repeats > maxRepeats || slices.Min(s.Levels) < 0:
		return bad(key, fmt.Sprintf("items are 1 to %d, repeats 1 to %d, levels from 0", maxItems, maxRepeats))
	case s.Metric != "pass" && s.Metric != "points" || !slices.ContainsFunc(c.Judges, func(j Judge) bool { return j.Name == s.Judge }):
		return bad(key, "metric is pass or points, and judge is one of judges")
	case s.Role == "regression" && !(s.Margin > 0 && s.Margin <= 0.5 && s.Alpha > 0 && s.Alpha <= 0.2):
		return bad(key, "a regression suite has a margin up to 0.5 and an alpha up to 0.2")
	}
	for _, f := range s.Families {
		world, _, ok := strings.Cut(f, "/")
		if f != Rest && !(ok && slices.Contains(s.Worlds, world)) {
			return bad(key, errs.Clip(f)+" is no WORLD/FAMILY of the suite's worlds")
		}
	}
	return nil
}

func (c *Contract) checkApproval() error {
	a := c.Approval
	for _, k := range a.Keys {
		if _, err := ids.ParseDigest(k); err != nil {
			return bad("approval.keys", "a key's identifier is sha256: and 64 hex digits")
		}
	}
	if a.Need < 1 || a.Need > max(1, len(a.Keys)) || !slices.Contains(a.For, "permissions") {
		return bad("approval", "need is 1 to the number of keys, and permissions is among what approval is for")
	}
	for _, f := range a.For {
		if !slices.Contains([]string{"permissions", "budgets", "all"}, f) {
			return bad("approval.for", "approval is for permissions, budgets, all")
		}
	}
	return nil
}

func bad(key, message string) error {
	return errs.New(errs.FormatInvalid, "the evaluation contract: "+key+": "+message, "docs/formats/evaluation.md shows the format").In(key)
}
