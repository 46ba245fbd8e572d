package report

import (
	"macaron/internal/mindforge"
	"macaron/internal/mindforge/expansion"
	"macaron/internal/mindforge/stat"
)

// Coverage is the adaptive search and its controls on one set of tasks, by one rule.
type Coverage struct {
	Items    int    `json:"items"`
	Families int    `json:"families"`
	Arms     []Arm  `json:"arms"`
	Command  string `json:"command,omitempty"` // that measures it again
}

// Arm is one of them.
type Arm struct {
	Name     string         `json:"name"`
	Curve    []expansion.At `json:"curve"`
	Practice int            `json:"practice"`           // attempts on other tasks before
	Replayed *stat.Estimate `json:"replayed,omitempty"` // share of its passes that pass again on a fresh seed
	Cost     mindforge.Cost `json:"cost"`
}

// ArmOf sums up a harvest. replayed is nil where nothing was tried again.
func ArmOf(h expansion.Harvest, items []mindforge.Task, replayed *stat.Estimate) Arm {
	return Arm{h.Arm, h.Curve(items), h.Trained.Attempts, replayed, h.Spent.Plus(h.Trained)}
}

// End is the last point of its curve; nil where no attempt was made.
func (a Arm) End() *expansion.At {
	if len(a.Curve) == 0 {
		return nil
	}
	return &a.Curve[len(a.Curve)-1]
}

// Covered is the share that it has covered at its end.
func (a Arm) Covered() stat.Estimate {
	if at := a.End(); at != nil {
		return at.Covered
	}
	return stat.Estimate{}
}

// Families counts those of tasks.
func Families(items []mindforge.Task) int {
	seen := map[string]bool{}
	for _, t := range items {
		seen[t.World+"/"+t.Family] = true
	}
	return len(seen)
}
