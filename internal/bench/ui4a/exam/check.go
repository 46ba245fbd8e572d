package exam

import (
	"context"
	"fmt"
	"slices"

	"macaron/internal/bench/ui4a"
)

// Fault is something that a reference or a twin does not meet.
type Fault struct {
	Case    string  `json:"case"`
	What    string  `json:"what"` // card or twin
	Width   int     `json:"width"`
	Layer   string  `json:"layer"`
	Check   string  `json:"check"`
	Finding string  `json:"finding"`
	Why     string  `json:"why,omitempty"`
	Score   float64 `json:"score"` // of the whole, on that screen
}

// String is one line for a person.
func (f Fault) String() string {
	where := fmt.Sprintf("%s %s", f.Case, f.What)
	if f.Width > 0 {
		where += fmt.Sprintf(" at %d", f.Width)
	}
	return fmt.Sprintf("%s: %s, %s: %s (%s)", where, f.Layer, f.Check, f.Finding, f.Why)
}

// Check holds the references, and the twins, to every rule of their cases.
func Check(ctx context.Context, o Options) (faults []Fault, _ *Run, err error) {
	o.Source, o.Judges = Reference{}, nil
	r, err := Do(ctx, o)
	if err != nil {
		return nil, nil, err
	}
	faults = r.faults("card")
	o.Cases = slices.DeleteFunc(slices.Clone(o.Cases), func(c *ui4a.Case) bool { return c.Twin == "" })
	if len(o.Cases) == 0 {
		return faults, r, nil
	}
	o.Twins, o.Out = true, ""
	twins, err := Do(ctx, o)
	if err != nil {
		return nil, nil, err
	}
	return append(faults, twins.faults("twin")...), r, nil
}

func (r *Run) faults(what string) []Fault {
	var out []Fault
	for _, c := range r.Cases {
		if c.Failure != "" {
			out = append(out, Fault{Case: c.ID, What: what, Layer: "bench", Check: "machinery", Finding: c.Failure})
		}
		out = append(out, faultsOf(c.ID, what, 0, c.Score, c.Layers)...)
		for _, v := range c.Views {
			out = append(out, faultsOf(c.ID, what, v.View.Width, v.Score, v.Layers)...)
		}
	}
	return out
}

func faultsOf(id, what string, width int, score float64, layers []ui4a.Layer) []Fault {
	var out []Fault
	for _, l := range layers {
		for _, k := range l.Checks {
			for _, f := range k.Findings {
				if f.Pass < 1 {
					out = append(out, Fault{id, what, width, l.Name, k.Name, f.What, f.Evidence, score})
				}
			}
		}
	}
	return out
}
