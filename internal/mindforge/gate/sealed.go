package gate

import (
	"fmt"

	"macaron/internal/errs"
	"macaron/internal/mindforge/evaluation"
	"macaron/internal/mindforge/stat"
)

// flips seeds the signs that a sign-flip test draws: a fixed number, so that equal evidence is
// an equal verdict.
const flips = 1

// sealed tests the primary suites at the alpha that this test has, and asks that no slice of
// the sealed set got worse.
func sealed(c *evaluation.Contract, e Evidence) (Verdict, error) {
	if e.Test < 1 || e.Test > c.Alpha.Tests {
		return Verdict{}, errs.Newf(errs.BudgetSpent, "sealed test %d of %d: the evaluation contract is used up; begin a new version of it, with sealed families of its own", e.Test, c.Alpha.Tests)
	}
	alpha := stat.Spend(c.Alpha.Budget, e.Test)
	pairs := primary(e.Slices)
	blocks := stat.Blocks(pairs)
	if len(blocks) < c.Statistic.Families {
		return Verdict{}, errs.Newf(errs.InvalidRequest, "the sealed test has %d families; its contract asks for %d", len(blocks), c.Statistic.Families)
	}
	better, told, err := Better(c.Statistic, pairs, alpha)
	if err != nil {
		return Verdict{}, err
	}
	var against []string
	if d := stat.Difference(pairs); !better || d.Mean <= c.Statistic.MinGain {
		against = append(against, fmt.Sprintf("not shown to be better: %s, difference %s", told, d))
	}
	v := verdict(append(against, worse(c, e)...), told)
	v.Alpha = alpha
	return v, nil
}

// Better runs the contract's test at level alpha. The e-process is looked at after every
// family, in their order; the other tests once.
func Better(s evaluation.Statistic, pairs []stat.Pair, alpha float64) (bool, string, error) {
	switch s.Test {
	case "e-process":
		return bets(s, pairs, alpha)
	case "sign-flip":
		p := stat.SignFlip(pairs, s.Draws, flips)
		return p <= alpha, fmt.Sprintf("sign-flip p = %.2g at alpha = %.2g", p, alpha), nil
	}
	wins, losses := stat.Discordant(pairs)
	p := stat.McNemar(wins, losses)
	return p <= alpha, fmt.Sprintf("McNemar p = %.2g at alpha = %.2g, %d repaired, %d lost", p, alpha, wins, losses), nil
}

func bets(s evaluation.Statistic, pairs []stat.Pair, alpha float64) (bool, string, error) {
	w, err := stat.NewWealth(s.Bet)
	if err != nil {
		return false, "", err
	}
	best := w.Log()
	for _, b := range stat.Blocks(pairs) {
		if err := w.Add(b); err != nil {
			return false, "", err
		}
		if best = max(best, w.Log()); w.Reaches(alpha) {
			return true, fmt.Sprintf("the wealth crosses 1/alpha = %.3g after %d families", 1/alpha, len(w.Seen)), nil
		}
	}
	return false, fmt.Sprintf("log wealth is %.2f at most, 1/alpha = %.3g", best, 1/alpha), nil
}
