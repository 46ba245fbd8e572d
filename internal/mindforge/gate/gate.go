// Package gate decides, from what was measured, whether a candidate passes a stage: lint,
// smoke, paired minibatch, validation, sealed test, approval, canary, champion. It runs
// nothing and knows no clock: equal evidence under an equal evaluation contract is an equal
// verdict. Pure.
package gate

import (
	"fmt"
	"math"
	"strings"

	"macaron/internal/errs"
	"macaron/internal/mindforge"
	"macaron/internal/mindforge/evaluation"
)

// Item is one task under both arms. Outcomes with one index had the same seed.
type Item struct {
	Task      string
	Family    string // WORLD/FAMILY
	Champion  []mindforge.Outcome
	Candidate []mindforge.Outcome
}

// Slice is what was measured of a suite.
type Slice struct {
	Suite evaluation.Suite
	Items []Item
}

// Evidence is everything that a stage's verdict rests on. A stage reads what it needs.
type Evidence struct {
	Findings  []string // reasons of the lint to refuse
	Changes   Changes  // against the champion
	Slices    []Slice
	Safety    []Item
	Test      int        // the number of this sealed test, from 1
	Approvals []string   // identifiers of keys whose signature over the candidate is good
	Traffic   [2]Traffic // champion, candidate
}

// Changes are those of a contract that people care about.
type Changes struct {
	Permissions []string // tools exposed, what may be called, reached or left unchecked, sandbox limits
	Budgets     []string // more time, tokens, calls or money
	Any         bool
}

// Traffic is what live requests came to.
type Traffic struct {
	Requests int
	Failed   int
	MS       float64 // mean time of a turn
	Ended    string  // of the candidate: why its trial was ended before; "": it goes on
}

// Verdict is a decision with its reasons.
type Verdict struct {
	Pass  bool
	Why   []string // what failed; where it passed, what was measured
	Alpha float64  // that the test was allowed
}

// maxText bounds the reasons of a decision, in bytes.
const maxText = 1000

// Text is the reasons in one line.
func (v Verdict) Text() string {
	s := strings.Join(v.Why, "; ")
	return strings.ToValidUTF8(s[:min(len(s), maxText)], "")
}

// Decide judges a stage. An error means that there is no verdict: the machinery failed too
// often, or the evidence is not of that stage.
func Decide(c *evaluation.Contract, stage mindforge.Stage, e Evidence) (Verdict, error) {
	if err := e.whole(); err != nil {
		return Verdict{}, err
	}
	switch stage {
	case mindforge.Lint:
		return verdict(e.Findings, "nothing was found"), nil
	case mindforge.Smoke:
		return smoke(c, e), nil
	case mindforge.Minibatch:
		return gain(c.Gates.Minibatch.Gain, e.Slices), nil
	case mindforge.Validation:
		return validation(c, e), nil
	case mindforge.Sealed:
		return sealed(c, e)
	case mindforge.Approval:
		return approval(c.Approval, e), nil
	case mindforge.Canary:
		return canary(c.Gates.Canary, e.Traffic), nil
	case mindforge.Champion:
		return Verdict{Pass: true, Why: []string{"every stage before is passed"}}, nil
	}
	return Verdict{}, errs.Newf(errs.InvalidRequest, "there is no stage %q", errs.Clip(string(stage)))
}

// After gives the stage behind one; false behind the last.
func After(stage mindforge.Stage) (mindforge.Stage, bool) {
	for i, s := range evaluation.Stages[:len(evaluation.Stages)-1] {
		if s == stage {
			return evaluation.Stages[i+1], true
		}
	}
	return "", false
}

// whole refuses evidence in which the machinery failed, arms are unpaired or numbers are none.
func (e Evidence) whole() error {
	all := append([]Slice{{Items: e.Safety}}, e.Slices...)
	for _, s := range all {
		for _, i := range s.Items {
			if len(i.Champion) == 0 || len(i.Champion) != len(i.Candidate) {
				return errs.Newf(errs.InvalidRequest, "%s has %d attempts of the champion and %d of the candidate", errs.Clip(i.Task), len(i.Champion), len(i.Candidate))
			}
			for _, o := range append(append([]mindforge.Outcome{}, i.Champion...), i.Candidate...) {
				if o.Failure == mindforge.Infrastructure {
					return errs.New(errs.UpstreamFailed, "the machinery failed in an attempt at "+errs.Clip(i.Task), "mend it and ask for the stage again: nothing is decided")
				}
				if math.IsNaN(o.Points) || o.Points < 0 || o.Points > 1 || o.Cost.Prompt < 0 || o.Cost.Output < 0 {
					return errs.Newf(errs.InvalidRequest, "an outcome of %s has points or costs that nothing can have", errs.Clip(i.Task))
				}
			}
		}
	}
	return nil
}

// verdict passes when there is nothing against it.
func verdict(against []string, otherwise string) Verdict {
	if len(against) > 0 {
		return Verdict{Why: against}
	}
	return Verdict{Pass: true, Why: []string{otherwise}}
}

// smoke: the candidate does not end where the champion goes on.
func smoke(c *evaluation.Contract, e Evidence) Verdict {
	dead := 0
	for _, s := range e.Slices {
		for _, i := range s.Items {
			for n := range i.Candidate {
				if stuck(i.Candidate[n]) && !stuck(i.Champion[n]) {
					dead++
				}
			}
		}
	}
	if dead > c.Gates.Smoke.Dead {
		return Verdict{Why: []string{fmt.Sprintf("%d attempts end in form, budget or a missing tool where the champion's do not; %d may", dead, c.Gates.Smoke.Dead)}}
	}
	return Verdict{Pass: true, Why: []string{"it runs"}}
}

// stuck: the attempt did not come to an answer of the pair.
func stuck(o mindforge.Outcome) bool {
	return o.Failure == mindforge.Format || o.Failure == mindforge.Budget || o.Failure == mindforge.MissingTool
}
