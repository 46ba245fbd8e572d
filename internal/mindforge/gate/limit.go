package gate

import (
	"fmt"
	"slices"
	"strings"

	"macaron/internal/mindforge"
	"macaron/internal/mindforge/evaluation"
)

// costs lists the limits that the candidate's attempts are above, in the mean.
func costs(l evaluation.Limits, all []Slice) (out []string) {
	var was, is mindforge.Cost
	for _, s := range all {
		for _, i := range s.Items {
			for n := range i.Candidate {
				was, is = was.Plus(i.Champion[n].Cost), is.Plus(i.Candidate[n].Cost)
			}
		}
	}
	for _, m := range []struct {
		what        string
		was, is, by float64
	}{
		{"tokens", float64(was.Prompt + was.Output), float64(is.Prompt + is.Output), l.Tokens},
		{"turns", float64(was.Turns), float64(is.Turns), l.Turns},
		{"processor time", float64(was.CPUMS), float64(is.CPUMS), l.CPU},
		{"money", was.USD, is.USD, l.USD},
	} {
		if m.by > 0 && m.was > 0 && m.is > m.by*m.was {
			out = append(out, fmt.Sprintf("%s: %.2f times the champion's, %.2f are allowed", m.what, m.is/m.was, m.by))
		}
	}
	return out
}

// leastAnswers is how many answers it takes to say that they are all one.
const leastAnswers = 20

// hacks lists signs that a score is no skill: attempts that the audit does not believe, and
// one answer to nearly everything where the champion gives several.
func hacks(h evaluation.Hacking, all []Slice) (out []string) {
	cheats := 0
	for _, s := range all {
		var was, is []string
		for _, i := range s.Items {
			for n := range i.Candidate {
				if i.Candidate[n].Failure == mindforge.Cheat {
					cheats++
				}
				was, is = append(was, i.Champion[n].Answer), append(is, i.Candidate[n].Answer)
			}
		}
		if a, b := commonest(was), commonest(is); b > h.Constant && b > a {
			out = append(out, fmt.Sprintf("%s: one answer is given to %.0f %% of the items", s.Suite.Name, 100*b))
		}
	}
	if cheats > h.Cheats {
		out = append(out, fmt.Sprintf("%d attempts passed in a way that the audit does not believe, %d may", cheats, h.Cheats))
	}
	return out
}

// commonest is the share of the answer that is given most often; 0 of too few.
func commonest(answers []string) float64 {
	counts, most := map[string]int{}, 0
	for _, a := range answers {
		if a != "" {
			counts[a]++
			most = max(most, counts[a])
		}
	}
	if len(answers) < leastAnswers {
		return 0
	}
	return float64(most) / float64(len(answers))
}

// approval asks for people where the contract says so.
func approval(a evaluation.Approval, e Evidence) Verdict {
	asked := slices.Clone(e.Changes.Permissions)
	if slices.Contains(a.For, "budgets") {
		asked = append(asked, e.Changes.Budgets...)
	}
	if slices.Contains(a.For, "all") && e.Changes.Any && len(asked) == 0 {
		asked = []string{"something changes"}
	}
	if len(asked) == 0 {
		return Verdict{Pass: true, Why: []string{"nothing changes that a person has to allow"}}
	}
	said := 0
	for _, k := range a.Keys {
		if slices.Contains(e.Approvals, k) {
			said++
		}
	}
	if said < a.Need {
		return Verdict{Why: []string{fmt.Sprintf("%d of %d people who have to have said yes to: %s", said, a.Need, strings.Join(asked, "; "))}}
	}
	return Verdict{Pass: true, Why: []string{fmt.Sprintf("%d people said yes to: %s", said, strings.Join(asked, "; "))}}
}

// NoCanary is what is said of a promotion that no live turn was asked about.
const NoCanary = "no canary took place: the evaluation contract asks for no live turns"

// canary compares a share of live traffic with the rest of it.
func canary(c evaluation.Canary, t [2]Traffic) Verdict {
	was, is := t[0], t[1]
	if c.Requests == 0 {
		return Verdict{Pass: true, Why: []string{NoCanary}}
	}
	if is.Ended != "" {
		return Verdict{Why: []string{"the trial was ended: " + is.Ended}}
	}
	if was.Requests < c.Requests || is.Requests < c.Requests {
		return Verdict{Why: []string{fmt.Sprintf("%d and %d turns are too few; %d of each are needed", was.Requests, is.Requests, c.Requests)}}
	}
	var against []string
	a, b := float64(was.Failed)/float64(was.Requests), float64(is.Failed)/float64(is.Requests)
	if b > a+c.Errors {
		against = append(against, fmt.Sprintf("%.1f %% of its turns fail, %.1f %% of the champion's", 100*b, 100*a))
	}
	if was.MS > 0 && is.MS > c.Latency*was.MS {
		against = append(against, fmt.Sprintf("a turn takes %.2f times as long", is.MS/was.MS))
	}
	return verdict(against, fmt.Sprintf("%.1f %% of its turns fail, %.1f %% of the champion's", 100*b, 100*a))
}
