package exam

import (
	"context"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"macaron/internal/bench/ui4a"
	"macaron/internal/bench/ui4a/mutant"
)

// One kind of defect for each layer, on one card; all of them: make bench-ui4a-mutants.
func TestADefectDropsItsLayerAlone(t *testing.T) {
	cases, err := ui4a.Cases("private-refund", "split-bill")
	if err != nil {
		t.Fatal(err)
	}
	few := []string{"console.error", "a sum is doubled", "wider than the screen", "all buttons are dead", "a private value is sent"}
	kinds := slices.DeleteFunc(mutant.Kinds(), func(k mutant.Kind) bool { return !slices.Contains(few, k.Name) })
	o := MutantOptions{Cases: cases, Kinds: kinds, Each: 1, Tabs: 2, On: shared, Out: t.TempDir()}
	results, err := Mutants(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range results {
		if !r.Valid {
			t.Errorf("%s, %s: %+v", r.Layer, r.Kind, r)
		}
	}
	ended, stop := context.WithCancel(t.Context())
	stop() // nothing is measured any more: all is known
	again, err := Mutants(ended, o)
	if d := cmp.Diff(results, again); err != nil || d != "" {
		t.Errorf("the same from what is kept: %v %s", err, d)
	}
}
