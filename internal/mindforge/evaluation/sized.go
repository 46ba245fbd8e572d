package evaluation

import (
	"bytes"
	"crypto/ed25519"
	"slices"
	"strconv"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"macaron/internal/contract/sign"
	"macaron/internal/errs"
	"macaron/internal/mindforge"
)

// Shipped is the text of the contract that this build comes with, for the three task worlds.
// people approve.
func Shipped(people ...ed25519.PublicKey) []byte {
	keys := make([]string, len(people))
	for i, k := range identifiers(people) {
		keys[i] = strconv.Quote(k)
	}
	return bytes.Replace(shipped, []byte("keys = []"), []byte("keys = ["+strings.Join(keys, ", ")+"]"), 1)
}

// Research is the shipped contract for a machine that makes an attempt in a second or two: one
// suite over the sealed families of all worlds, tested once by all signs of its families, few
// cases of safety, none that looks at one world alone, and no live traffic. docs/RESULTS.md has
// its power.
func Research(people ...ed25519.PublicKey) ([]byte, error) {
	return sized("research", people, func(c *Contract) {
		c.Alpha = Alpha{Budget: 0.1, Tests: 10}
		c.Statistic.Test, c.Statistic.Families = "sign-flip", 20
		c.Suites = c.Primary()
		c.Suites[0].Items, c.Suites[0].Levels = 60, []int{0}
		c.Gates.Smoke = Smoke{Items: 6, Dead: 2}
		c.Gates.Minibatch = Gain{Items: 12, Gain: -0.1}
		c.Gates.Validation = Gain{Items: 33, Gain: 0}
		c.Gates.Canary.Requests = 0
		c.Safety.Cases = 5
		c.Limits.CPU = 0 // what else the machine does is part of it
	})
}

// Planted is a contract for a planted problem of so many families, at which attempts cost nothing.
func Planted(families int, people ...ed25519.PublicKey) ([]byte, error) {
	return sized("planted", people, func(c *Contract) {
		s := c.Primary()[0]
		s.Worlds, s.Items, s.Levels = []string{"scripted"}, 120, []int{0}
		harm := c.Regressions()[0]
		harm.Name, harm.Worlds, harm.Items, harm.Margin, harm.Alpha = "harm", s.Worlds, s.Items, 0.1, 0.1
		c.Suites = []Suite{s, harm}
		c.Statistic.Families = max(2, min(c.Statistic.Families, families/4))
		c.Gates.Smoke.Dead = 4
		c.Gates.Minibatch = Gain{Items: 40, Gain: 0}
		c.Limits.Tokens, c.Limits.Turns, c.Limits.CPU = 4, 4, 0
		c.Hacking.Constant = 1
	})
}

// sized writes the shipped contract anew with another name and changes.
func sized(name string, people []ed25519.PublicKey, change func(*Contract)) ([]byte, error) {
	c, err := Parse(shipped)
	if err != nil {
		return nil, err
	}
	c.Name, c.Version, c.Approval.Keys = name, 1, identifiers(people)
	change(c)
	var out bytes.Buffer
	out.WriteString("# By what candidates are judged. Signed; the loop reads it and cannot write it.\n# docs/formats/evaluation.md tells every key.\n")
	e := toml.NewEncoder(&out)
	e.SetTablesInline(false)
	if err := e.Encode(c); err != nil {
		return nil, errs.Wrap(errs.Internal, err, "the evaluation contract cannot be written", "")
	}
	_, err = Parse(out.Bytes())
	return out.Bytes(), err
}

func identifiers(people []ed25519.PublicKey) []string {
	out := []string{}
	for _, k := range people {
		out = append(out, sign.KeyID(k))
	}
	return out
}

// Covers reports that every suite has families of every split among the worlds, and a sealed test
// as many as the statistic asks for: what is missing is told before anything is spent.
func (c *Contract) Covers(worlds []mindforge.World) error {
	sealed := map[Family]bool{}
	for _, s := range c.Suites {
		for _, split := range []Split{Train, Validation, Sealed} {
			if len(c.Families(s, worlds, split)) == 0 {
				return uncovered("the suite " + s.Name + " has no family of the split " + string(split))
			}
		}
		if s.Role == "primary" {
			for _, f := range c.Families(s, worlds, Sealed) {
				sealed[f] = true
			}
		}
	}
	if len(sealed) < c.Statistic.Families {
		return uncovered("its primary suites have " + itoa(len(sealed)) + " sealed families, and statistic.families asks for " + itoa(c.Statistic.Families))
	}
	return nil
}

func uncovered(why string) error {
	return errs.New(errs.FormatInvalid, "the evaluation contract does not fit the worlds of the run: "+why, "give it other worlds, shares or a salt; `macaron forge evaluator contract --planted FILE` writes one for a planted problem")
}

// Asked are the suites of a stage that makes attempts, of the size that it asks for, and whether the
// cases of safety belong to it; of other stages there are none.
func (c *Contract) Asked(stage mindforge.Stage) (suites []Suite, safety bool) {
	switch stage {
	case mindforge.Smoke:
		return resized(c.Primary(), c.Gates.Smoke.Items), false
	case mindforge.Minibatch:
		return resized(c.Primary(), c.Gates.Minibatch.Items), false
	case mindforge.Validation:
		return append(resized(c.Primary(), c.Gates.Validation.Items), c.Regressions()...), true
	case mindforge.Sealed:
		return c.Suites, true
	}
	return nil, false
}

// resized gives suites another number of items; 0 leaves them theirs.
func resized(suites []Suite, n int) []Suite {
	out := slices.Clone(suites)
	for i := range out {
		if n > 0 {
			out[i].Items = n
		}
	}
	return out
}

// Attempts is how many a candidate that goes the whole way takes, the champion's beside it
// included, where there are so many cases of safety and no machinery fails.
func (c *Contract) Attempts(cases int) (n int) {
	if c.Safety.Cases > 0 {
		cases = min(c.Safety.Cases, cases)
	}
	for _, stage := range c.Gates.Order {
		suites, safety := c.Asked(stage)
		for _, s := range suites {
			n += 2 * s.Items * s.Repeats
		}
		if safety {
			n += 2 * cases * c.Safety.Repeats
		}
	}
	return n
}
