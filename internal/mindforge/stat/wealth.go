package stat

import (
	"fmt"
	"math"
	"slices"

	"macaron/internal/errs"
)

// Bet is how a family is bet on.
type Bet string

// The bets. Each makes of 1 a wealth that does not grow in the mean when the candidate is no
// better, so that it ever reaches 1/alpha with a chance of at most alpha (Ville 1939), however
// often it is looked at.
const (
	// Symmetric multiplies by exp(λd)/cosh(λd), d the family's mean difference. The null is
	// that the arms of a family could be swapped: d and −d are equally likely, whatever shifts
	// the family has in common (de la Peña 1999).
	Symmetric Bet = "symmetric"
	// Bounded multiplies by 1 + λd. The null is that d has mean 0 at most, and nothing else:
	// it needs more families (Waudby-Smith and Ramdas 2024).
	Bounded Bet = "bounded"
)

// grids are the λ that are mixed, each with the same share of the first stake.
var grids = map[Bet][]float64{
	Symmetric: {1.5, 3, 6, 12},
	Bounded:   {0.125, 0.25, 0.5, 0.75, 0.95},
}

// Wealth is a bet against "the candidate is no better than the champion". It is a value that
// can be kept: bets of later sessions multiply onto it.
type Wealth struct {
	Bet  Bet       `json:"bet"`
	Logs []float64 `json:"logs"` // log wealth of each λ
	Seen []string  `json:"seen"` // families that were bet on, in their order
}

// NewWealth is the stake of 1.
func NewWealth(b Bet) (Wealth, error) {
	if grids[b] == nil {
		return Wealth{}, errs.New(errs.InvalidRequest, fmt.Sprintf("there is no bet %q", errs.Clip(string(b))), "the bets are symmetric and bounded")
	}
	return Wealth{Bet: b, Logs: make([]float64, len(grids[b]))}, nil
}

// Add bets on one family. A family has one bet in the life of a wealth: what its items have
// in common would make a second one predictable from the first.
func (w *Wealth) Add(b Block) error {
	if len(w.Logs) != len(grids[w.Bet]) || grids[w.Bet] == nil {
		return errs.Newf(errs.FormatInvalid, "a wealth of %d stakes does not belong to the bet %q", len(w.Logs), errs.Clip(string(w.Bet)))
	}
	if slices.Contains(w.Seen, b.Family) {
		return errs.New(errs.InvalidRequest, "the family "+errs.Clip(b.Family)+" has been bet on already", "draw other families, or begin a new bet")
	}
	if math.IsNaN(b.Diff) || b.Diff < -1 || b.Diff > 1 {
		return errs.Newf(errs.InvalidRequest, "the difference %v of a family is not from -1 to 1", b.Diff)
	}
	for i, λ := range grids[w.Bet] {
		w.Logs[i] += w.Bet.growth(λ * b.Diff)
	}
	w.Seen = append(w.Seen, b.Family)
	return nil
}

// growth is the logarithm of what a stake is multiplied by; x is λd.
func (b Bet) growth(x float64) float64 {
	if b == Bounded {
		return math.Log1p(x)
	}
	// x − log cosh x, without overflow.
	return x - math.Abs(x) - math.Log1p(math.Exp(-2*math.Abs(x))) + math.Ln2
}

// Log is the logarithm of the wealth: of the mean over λ.
func (w Wealth) Log() float64 {
	top := math.Inf(-1)
	for _, l := range w.Logs {
		top = max(top, l)
	}
	sum := 0.0
	for _, l := range w.Logs {
		sum += math.Exp(l - top)
	}
	return top + math.Log(sum/float64(len(w.Logs)))
}

// Reaches reports whether the wealth is at least 1/alpha.
func (w Wealth) Reaches(alpha float64) bool { return alpha > 0 && w.Log() >= -math.Log(alpha) }
