package accounting

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Four adapters of 7.7 billion parameters on a base of 744 billion: 774.8 billion in
// all, against 2.976 trillion in four merged copies.
func TestPublishedFigures(t *testing.T) {
	const billion = 1_000_000_000
	var adapters []Part
	for i := range 4 {
		adapters = append(adapters, Part{fmt.Sprint("L", i), Amount{Params: 7_700_000_000, Stored: 15_400_000_000, Resident: 15_400_000_000}})
	}
	r := Compare(Part{"base", Amount{Params: 744 * billion, Stored: 1488 * billion, Resident: 1488 * billion}}, adapters)
	if r.Together.Params != 774_800_000_000 || r.Merged.Params != 2_976*billion {
		t.Errorf("%d against %d", r.Together.Params, r.Merged.Params)
	}
	for _, p := range []float64{r.Saved.Params, r.Saved.Stored, r.Saved.Resident} {
		if s := fmt.Sprintf("%.1f%%", p); s != "-74.0%" {
			t.Errorf("saved %s", s)
		}
	}
	if r.Active != 751_700_000_000 || r.ActiveMerged != 744*billion {
		t.Errorf("active %d against %d", r.Active, r.ActiveMerged)
	}
}

func TestUnequalParts(t *testing.T) {
	r := Compare(Part{"base", Amount{100, 60, 80}}, []Part{{"a", Amount{10, 20, 30}}, {"b", Amount{5, 10, 15}}})
	want := Report{
		Base: Part{"base", Amount{100, 60, 80}}, Adapters: []Part{{"a", Amount{10, 20, 30}}, {"b", Amount{5, 10, 15}}},
		Together: Amount{115, 90, 125}, Merged: Amount{200, 120, 160}, Active: 110, ActiveMerged: 100,
		Saved: Saving{-42.5, -25, -21.875},
	}
	if d := cmp.Diff(want, r); d != "" {
		t.Error(d)
	}
}

func TestWithoutAdaptersNothingIsCompared(t *testing.T) {
	r := Compare(Part{"base", Amount{100, 60, 80}}, nil)
	if r.Saved != (Saving{}) || r.Active != 100 {
		t.Errorf("got %+v", r)
	}
}
