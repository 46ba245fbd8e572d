package ui4a

import "testing"

// A number that is shown after a step counts if the step's control works: what a dead one
// hides is Interaction's affair.
func TestNumbersBehindDeadControls(t *testing.T) {
	c := &Case{Steps: []Step{{Do: "slide"}}, Computed: []Computed{{Name: "price", Formula: "4 * 6.5", After: 1}}}
	for _, works := range []bool{true, false} {
		e := Evidence{Mounted: true, Steps: []StepResult{{Step: 1, Done: true, Control: "spinbutton Nights"}}, Operated: []Operated{{Role: "spinbutton", Name: "Nights", Effect: works}}}
		for _, check := range c.contentChecks(e) {
			if check.Name == "computed" && (check.Applies != works || check.Pass != 0) {
				t.Errorf("works %v: %+v", works, check)
			}
		}
	}
}
