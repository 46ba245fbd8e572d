package loop

import (
	"testing"

	"macaron/internal/mindforge"
	"macaron/internal/mindforge/ledger"
	"macaron/internal/mindforge/lineage"
)

// Three generations over a planted problem: improvements are found and promoted, what does nothing
// and what harms is not, and the names stand where the decisions have put them.
func TestThreeGenerations(t *testing.T) {
	s := newSite(t, settings(nil))
	s.run(t)
	all := s.entries(t)
	g, err := lineage.Of(all)
	must(t, err)
	t.Log("\n" + g.Text())
	promoted, decoys := 0, 0
	for _, e := range all {
		b, err := e.Decode()
		must(t, err)
		if d, ok := b.(ledger.Decision); ok {
			t.Log(e.Key, d.Decision.Pass, d.Decision.Why, d.Decision.Cost.Attempts)
			if d.Decision.Stage == mindforge.Champion && d.Decision.Pass {
				promoted++
				if e.Key[5:15] == "gate/decoy" {
					decoys++
				}
			}
		}
		if m, ok := b.(ledger.Made); ok && m.What == "search" {
			t.Log(e.Key, m.Tell)
		}
		if m, ok := b.(ledger.Step); ok {
			t.Log(e.Key, m.State, m.Note)
		}
	}
	if promoted == 0 || decoys > 0 {
		t.Errorf("%d promotions, %d of them of decoys", promoted, decoys)
	}
}
