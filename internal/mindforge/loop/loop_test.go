package loop

import (
	"testing"

	"macaron/internal/mindforge"
	"macaron/internal/mindforge/ledger"
	"macaron/internal/mindforge/lineage"
)

// Three generations over a planted problem come to their end, what does nothing and what harms is
// not promoted, and the names stand where the decisions have put them.
func TestThreeGenerations(t *testing.T) {
	s := newSite(t, settings(nil))
	s.run(t)
	all := s.entries(t)
	g, err := lineage.Of(all)
	must(t, err)
	if len(g.Nodes) == 0 {
		t.Error("the ledger has no lineage")
	}
	promoted, decoys, ended := 0, 0, false
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
			ended = ended || e.Key == "end"
		}
	}
	if decoys > 0 || !ended {
		t.Errorf("%d promotions, %d of them of decoys; ended: %v", promoted, decoys, ended)
	}
}
