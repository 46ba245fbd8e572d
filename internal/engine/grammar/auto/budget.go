package auto

import (
	"fmt"

	"macaron/internal/errs"
)

// Budget bounds the work of making automata for one constraint, in states and edges.
type Budget struct{ left, all int }

// NewBudget allows n.
func NewBudget(n int) *Budget { return &Budget{n, n} }

// Spend takes n off. It fails with TooLarge when nothing is left.
func (b *Budget) Spend(n int) error {
	if b.left -= n; b.left >= 0 {
		return nil
	}
	return errs.New(errs.TooLarge, fmt.Sprintf("the constraint needs automata of more than %d states and transitions", b.all),
		"use simpler patterns and smaller bounds on lengths and numbers")
}
