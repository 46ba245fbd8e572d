// Package evaluation has the evaluation contract: by which suites, statistics, limits and
// people a candidate is judged. It is a signed file outside of everything that the loop may
// write; who reads it gets it whole and as it was signed, or an error.
// docs/formats/evaluation.md.
package evaluation

import (
	"macaron/internal/canonical"
	"macaron/internal/ids"
	"macaron/internal/mindforge"
	"macaron/internal/mindforge/stat"
)

// Schema names the form.
const Schema = "macaron.evaluation/1"

// Contract is the file.
type Contract struct {
	Schema    string    `toml:"schema" json:"schema"`
	Name      string    `toml:"name" json:"name"`
	Version   int       `toml:"version" json:"version"` // a later one of the same name is higher
	Alpha     Alpha     `toml:"alpha" json:"alpha"`
	Splits    Splits    `toml:"splits" json:"splits"`
	Statistic Statistic `toml:"statistic" json:"statistic"`
	Judges    []Judge   `toml:"judges" json:"judges"`
	Suites    []Suite   `toml:"suites" json:"suites"`
	Gates     Gates     `toml:"gates" json:"gates"`
	Safety    Safety    `toml:"safety" json:"safety"`
	Limits    Limits    `toml:"limits" json:"limits"`
	Hacking   Hacking   `toml:"hacking" json:"hacking"`
	Approval  Approval  `toml:"approval" json:"approval"`
}

// Alpha bounds how often a candidate that is no better is ever promoted under this contract.
type Alpha struct {
	Budget float64 `toml:"budget" json:"budget"` // of all sealed tests together
	Tests  int     `toml:"tests" json:"tests"`   // sealed tests after which the contract is used up
}

// Splits divide template families, in hundredths, by a hash of the family and the salt.
type Splits struct {
	Salt       string `toml:"salt" json:"salt"`
	Train      int    `toml:"train" json:"train"`
	Validation int    `toml:"validation" json:"validation"`
	Sealed     int    `toml:"sealed" json:"sealed"`
}

// Statistic is the test of the sealed stage.
type Statistic struct {
	Test     string   `toml:"test" json:"test"`         // e-process, sign-flip or mcnemar
	Bet      stat.Bet `toml:"bet" json:"bet"`           // of the e-process
	Draws    int      `toml:"draws" json:"draws"`       // of signs, where they are too many to try all
	Families int      `toml:"families" json:"families"` // the fewest that a sealed test may have
	MinGain  float64  `toml:"min_gain" json:"min_gain"` // of the mean difference, beside the test
	Clusters string   `toml:"clusters" json:"clusters"` // family: what is not independent
}

// Judge says by what an outcome of a suite is judged.
type Judge struct {
	Name string `toml:"name" json:"name"`
	Kind string `toml:"kind" json:"kind"` // world: the task's own verifier, outside of the model's reach
}

// Suite is a set of tasks.
type Suite struct {
	Name       string   `toml:"name" json:"name"`
	Role       string   `toml:"role" json:"role"` // primary: to be better at; regression: not to be worse at
	Worlds     []string `toml:"worlds" json:"worlds"`
	Families   []string `toml:"families" json:"families"` // WORLD/FAMILY, or "rest": those that no other suite of the world names
	Items      int      `toml:"items" json:"items"`       // at validation and in the sealed test
	Levels     []int    `toml:"levels" json:"levels"`     // taken in turn
	Repeats    int      `toml:"repeats" json:"repeats"`
	Judge      string   `toml:"judge" json:"judge"`
	Metric     string   `toml:"metric" json:"metric"`         // pass or points
	Specialist string   `toml:"specialist" json:"specialist"` // the adapter that acts; "": the contract's
	Margin     float64  `toml:"margin" json:"margin"`         // by which a regression suite may be worse, at most
	Alpha      float64  `toml:"alpha" json:"alpha"`           // of the test that it is not
}

// Gates are the thresholds of the stages, and their order.
type Gates struct {
	Order      []mindforge.Stage `toml:"order" json:"order"`
	Smoke      Smoke             `toml:"smoke" json:"smoke"`
	Minibatch  Gain              `toml:"minibatch" json:"minibatch"`
	Validation Gain              `toml:"validation" json:"validation"`
	Canary     Canary            `toml:"canary" json:"canary"`
}

// Smoke asks whether the pair works at all.
type Smoke struct {
	Items int `toml:"items" json:"items"`
	Dead  int `toml:"dead" json:"dead"` // attempts that may end in format, budget or missing tool, where the champion's do not
}

// Gain asks for a difference.
type Gain struct {
	Items int     `toml:"items" json:"items"` // of each primary suite; 0: as many as the suite has
	Gain  float64 `toml:"gain" json:"gain"`   // the mean difference has to be above it
}

// Canary bounds a share of live traffic.
type Canary struct {
	Share    float64 `toml:"share" json:"share"`
	Requests int     `toml:"requests" json:"requests"` // of each arm before it is decided; 0: nothing is served, and nothing asked
	Errors   float64 `toml:"errors" json:"errors"`     // by which the rate of failed turns may be higher
	Latency  float64 `toml:"latency" json:"latency"`   // times the champion's mean, at most
}

// Safety is the hard gate.
type Safety struct {
	Failures int `toml:"failures" json:"failures"` // of its cases, at most
	New      int `toml:"new" json:"new"`           // cases that fail and do not under the champion
	Repeats  int `toml:"repeats" json:"repeats"`
	Cases    int `toml:"cases" json:"cases,omitempty"` // of them, as many of each kind as that allows; 0: all
}

// Limits bound the costs of an attempt, as times the champion's mean; 0 bounds nothing.
type Limits struct {
	Tokens float64 `toml:"tokens" json:"tokens"`
	Turns  float64 `toml:"turns" json:"turns"`
	CPU    float64 `toml:"cpu" json:"cpu"`
	USD    float64 `toml:"usd" json:"usd"`
	Reruns int     `toml:"reruns" json:"reruns"` // of an item whose machinery failed, in both arms
}

// Hacking are the canaries for a candidate that gets its score another way.
type Hacking struct {
	Constant float64 `toml:"constant" json:"constant"` // share of a suite's wins, at most, that a guess of one answer would have
	Cheats   int     `toml:"cheats" json:"cheats"`     // attempts that the audit does not believe, at most
	Texts    int     `toml:"texts" json:"texts"`       // bytes of one text of a contract, at most
}

// Approval says who must agree to what.
type Approval struct {
	Keys []string `toml:"keys" json:"keys"` // identifiers of the keys of people: sha256:HEX
	Need int      `toml:"need" json:"need"` // how many of them
	For  []string `toml:"for" json:"for"`   // permissions, budgets, all
}

// Hash is the contract's name: that of its canonical form.
func (c *Contract) Hash() (ids.Digest, error) { return canonical.Hash(c) }

// Primary lists the suites to be better at.
func (c *Contract) Primary() []Suite { return c.role("primary") }

// Regressions lists the suites not to be worse at.
func (c *Contract) Regressions() []Suite { return c.role("regression") }

func (c *Contract) role(role string) (out []Suite) {
	for _, s := range c.Suites {
		if s.Role == role {
			out = append(out, s)
		}
	}
	return out
}
