package serve

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"macaron/internal/errs"
	"macaron/internal/mindforge/stat"
	"macaron/internal/record"
)

// Judge says what becomes of a trial.
type Judge interface {
	Judge(now time.Time, all []*Conversation) Verdict
}

// Verdict is what a judge says of a trial as far as it has come.
type Verdict struct {
	Back   bool               `json:"back"`   // the canary is worse: it is taken back
	Passed bool               `json:"passed"` // it was tried as long as it must be, and was not taken back
	Why    string             `json:"why,omitempty"`
	Arms   map[string]Arm     `json:"arms"`
	Wealth map[string]float64 `json:"wealth"` // against "the canary is no worse", by measure
}

// Arm counts conversations of an arm: those that are settled, and the bad ones by measure.
type Arm struct {
	Conversations int            `json:"conversations"`
	Bad           map[string]int `json:"bad,omitempty"`
}

// Rule is a judge by betting. Its unit is the conversation, since turns of one are not
// independent and an arm is drawn for the whole of it. For each measure, each conversation of
// the canary is compared with those of the champion that came since the one before; a wealth
// that bets on the canary being worse grows beyond measures/alpha with a chance of at most
// alpha in all where it is not, however often one looks (Ville 1939; Waudby-Smith and
// Ramdas 2024).
type Rule struct {
	Alpha    float64 `json:"alpha"`    // chance that a canary which is no worse is taken back
	Margin   float64 `json:"margin"`   // by how large a share of conversations it may be worse
	Slow     float64 `json:"slow"`     // a turn is slow that takes more than so many times what the median of the champion's took
	Window   int     `json:"window"`   // seconds after its opening in which feedback and cards of a conversation count
	Patience int     `json:"patience"` // seconds after which a turn that is still open has failed
	Least    int     `json:"least"`    // conversations of the canary, settled, until it has passed
	Checks   []Check `json:"checks"`   // of answers
}

// Check is a text that answers must have, or must not have.
type Check struct {
	Name    string `json:"name"`
	Must    string `json:"must,omitempty"`
	MustNot string `json:"must_not,omitempty"`
}

// DefaultRule is what a trial without one is judged by.
var DefaultRule = Rule{Alpha: 0.05, Margin: 0.02, Slow: 2, Window: 600, Patience: 120, Least: 200}

// maxChecks bounds the checks of a rule.
const maxChecks = 64

// ParseRule reads a rule; "" is the default one. A field that is left out has the default's
// value, and one that is not known is refused.
func ParseRule(text string) (Judge, error) {
	r := DefaultRule
	if text != "" {
		dec := json.NewDecoder(bytes.NewReader([]byte(text)))
		dec.DisallowUnknownFields()
		if err := dec.Decode(&r); err != nil {
			return nil, errs.Wrap(errs.InvalidRequest, err, "the rule of the trial cannot be read: "+errs.Clip(err.Error()), "it is JSON with alpha, margin, slow, window, patience, least, checks")
		}
	}
	switch {
	case !(r.Alpha > 0 && r.Alpha < 1), r.Margin < 0 || r.Margin >= 1, !(r.Slow > 1), r.Window < 0, r.Patience < 1, r.Least < 1, len(r.Checks) > maxChecks:
		return nil, errs.New(errs.InvalidRequest, "the rule of the trial has a value out of range",
			fmt.Sprintf("alpha is between 0 and 1, margin from 0 below 1, slow above 1, window from 0, patience and least from 1, and there are at most %d checks", maxChecks))
	}
	return r, nil
}

// The measures.
const (
	measureErrors   = "errors"
	measureSlow     = "slow"
	measureChecks   = "checks"
	measureFeedback = "feedback"
	measureCards    = "cards"
)

var measures = []string{measureErrors, measureSlow, measureChecks, measureFeedback, measureCards}

// Judge implements Judge.
func (r Rule) Judge(now time.Time, all []*Conversation) Verdict {
	v := Verdict{Arms: map[string]Arm{record.ArmChampion: {Bad: map[string]int{}}, record.ArmCanary: {Bad: map[string]int{}}}, Wealth: map[string]float64{}}
	for _, m := range measures {
		units := r.units(m, now, all)
		wealth := bet(blocks(units), r.Margin)
		v.Wealth[m] = wealth
		for _, u := range units {
			if u.bad {
				v.Arms[u.arm].Bad[m]++
			}
		}
		if limit := float64(len(measures)) / r.Alpha; wealth >= limit && !v.Back {
			v.Back, v.Why = true, fmt.Sprintf("%s: %d of the canary's conversations are bad, %d of the champion's; the wealth of the bet is %.3g, and %.3g is the limit",
				m, v.Arms[record.ArmCanary].Bad[m], v.Arms[record.ArmChampion].Bad[m], wealth, limit)
		}
	}
	for _, u := range r.units(measureFeedback, now, all) { // the last to settle
		a := v.Arms[u.arm]
		a.Conversations++
		v.Arms[u.arm] = a
	}
	v.Passed = !v.Back && v.Arms[record.ArmCanary].Conversations >= r.Least
	return v
}

// unit is a conversation by one measure.
type unit struct {
	arm string
	bad bool
}

// units gives the conversations that are settled by a measure, up to the first that is not, so
// that what was bet on never changes.
func (r Rule) units(measure string, now time.Time, all []*Conversation) (out []unit) {
	var times []time.Duration // of the champion's turns so far
	var usual time.Duration   // their median, as of every so many
	patience, window := time.Duration(r.Patience)*time.Second, time.Duration(r.Window)*time.Second
	for _, c := range all {
		took := c.Took(now)
		late := took >= patience
		settled := !c.Closed.IsZero() || late
		if measure == measureFeedback || measure == measureCards {
			settled = now.Sub(c.Opened) >= window
		}
		if !settled {
			break
		}
		u := unit{arm: c.Arm}
		switch measure {
		case measureErrors:
			u.bad = c.Failed || late
		case measureSlow:
			u.bad = usual > 0 && took > time.Duration(r.Slow*float64(usual))
		case measureChecks:
			u.bad = !c.Failed && !late && r.fails(c.Answer)
		case measureFeedback:
			u.bad = c.within(disliked, window)
		case measureCards:
			u.bad = c.within(badCard, window)
		}
		if measure != measureSlow || len(times) >= reference { // else there is nothing to be slow against yet
			out = append(out, u)
		}
		if c.Arm == record.ArmChampion && !c.Failed {
			if times = append(times, took); len(times)%reference == 0 {
				usual = median(times)
			}
		}
	}
	return out
}

// reference is how many turns of the champion tell how long one takes.
const reference = 20

// median of the last turns: what came before tells what is slow now.
func median(all []time.Duration) time.Duration {
	last := slices.Sorted(slices.Values(all[max(0, len(all)-200):]))
	return last[len(last)/2]
}

func (r Rule) fails(answer string) bool {
	return slices.ContainsFunc(r.Checks, func(c Check) bool {
		return c.Must != "" && !strings.Contains(answer, c.Must) || c.MustNot != "" && strings.Contains(answer, c.MustNot)
	})
}

// blocks compares each conversation of the canary with those of the champion that came since
// the one before: how much worse it was, -1 to 1.
func blocks(units []unit) (worse []float64) {
	n, bad := 0.0, 0.0
	var waiting []float64 // canaries that have no champion to compare with yet
	for _, u := range units {
		x := 0.0
		if u.bad {
			x = 1
		}
		if u.arm == record.ArmCanary {
			waiting = append(waiting, x)
		} else {
			n, bad = n+1, bad+x
		}
		if len(waiting) > 0 && n > 0 {
			worse = append(worse, waiting[0]-bad/n)
			waiting, n, bad = waiting[1:], 0, 0
		}
	}
	return worse
}

// bet gives the wealth of betting on differences being above a margin, beginning with 1.
// While their mean given what came before is not, its expectation never grows.
func bet(worse []float64, margin float64) float64 {
	w, err := stat.NewWealth(stat.Bounded)
	for i, d := range worse {
		if err == nil {
			err = w.Add(stat.Block{Family: strconv.Itoa(i), N: 1, Diff: (d - margin) / (1 + margin)})
		}
	}
	if err != nil {
		return 1 // no difference is out of range, and none comes twice
	}
	return math.Exp(w.Log())
}
