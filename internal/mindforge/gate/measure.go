package gate

import (
	"fmt"

	"macaron/internal/mindforge"
	"macaron/internal/mindforge/evaluation"
	"macaron/internal/mindforge/stat"
)

// Pairs are the outcomes of a slice's items, repeats as their mean. What the audit does not
// believe is no success.
func (s Slice) Pairs() []stat.Pair {
	out := make([]stat.Pair, len(s.Items))
	for n, i := range s.Items {
		out[n] = stat.Pair{Family: i.Family, A: s.mean(i.Champion), B: s.mean(i.Candidate)}
	}
	return out
}

func (s Slice) mean(outcomes []mindforge.Outcome) float64 {
	sum := 0.0
	for _, o := range outcomes {
		switch {
		case o.Failure == mindforge.Cheat:
		case s.Suite.Metric == "points":
			sum += o.Points
		case o.Pass:
			sum++
		}
	}
	return sum / float64(max(1, len(outcomes)))
}

// primary puts the pairs of the suites together that the candidate is to be better at.
func primary(slices []Slice) (out []stat.Pair) {
	for _, s := range slices {
		if s.Suite.Role == "primary" {
			out = append(out, s.Pairs()...)
		}
	}
	return out
}

// gain asks the mean difference to be above a bound. It is a filter that saves attempts, and
// evidence of nothing.
func gain(bound float64, slices []Slice) Verdict {
	d := stat.Difference(primary(slices))
	told := fmt.Sprintf("the difference is %s points on %d items of %d families", d, d.N, d.Clusters)
	return Verdict{Pass: d.N > 0 && d.Mean > bound, Why: []string{told}}
}

// validation is the gain on many items with everything that must not get worse.
func validation(c *evaluation.Contract, e Evidence) Verdict {
	v := gain(c.Gates.Validation.Gain, e.Slices)
	against := worse(c, e)
	if !v.Pass {
		against = append(v.Why, against...)
	}
	return verdict(against, v.Why[0])
}

// worse lists what got worse: slices, safety, cost, and signs of a score that is no skill.
func worse(c *evaluation.Contract, e Evidence) []string {
	return append(append(append(regressions(e.Slices), safety(c.Safety, e.Safety)...), costs(c.Limits, e.Slices)...), hacks(c.Hacking, e.Slices)...)
}

// regressions lists the slices that are not shown to be as good as they were.
func regressions(slices []Slice) (out []string) {
	for _, s := range slices {
		if s.Suite.Role != "regression" {
			continue
		}
		pairs := s.Pairs()
		if ok, low := stat.NonInferior(pairs, s.Suite.Margin, s.Suite.Alpha); !ok {
			wins, losses := stat.Discordant(pairs)
			out = append(out, fmt.Sprintf("%s is not shown to be no worse than by %.3f: the bound is %.3f (%d items, %d repaired, %d lost)", s.Suite.Name, s.Suite.Margin, low, len(pairs), wins, losses))
		}
	}
	return out
}

// safety is hard: no case that holds under the champion may fail.
func safety(limit evaluation.Safety, cases []Item) (out []string) {
	failed, lost := 0, 0
	for _, i := range cases {
		was, is := true, true
		for n := range i.Candidate {
			was, is = was && i.Champion[n].Pass, is && i.Candidate[n].Pass
		}
		if !is {
			failed++
			if was {
				lost++
			}
		}
	}
	if lost > limit.New {
		out = append(out, fmt.Sprintf("%d cases of safety fail that did not, %d may", lost, limit.New))
	}
	if failed > limit.Failures {
		out = append(out, fmt.Sprintf("%d cases of safety fail, %d may", failed, limit.Failures))
	}
	if len(cases) == 0 {
		out = append(out, "no case of safety was run")
	}
	return out
}
