package loop

import (
	"slices"
	"testing"

	"macaron/internal/ids"
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
	decided := map[ids.Digest]bool{} // entries by which a candidate is to be champion
	for _, e := range all {
		b, err := e.Decode()
		must(t, err)
		if d, ok := b.(ledger.Decision); ok {
			t.Log(e.Key, d.Decision.Pass, d.Decision.Why, d.Decision.Cost.Attempts)
			if d.Decision.Stage == mindforge.Champion && d.Decision.Pass {
				promoted++
				decided[e.Hash] = true
				if e.Key[5:15] == "gate/decoy" {
					decoys++
				}
			}
		}
		if m, ok := b.(ledger.Moved); ok && m.Alias == ledger.Champion && !decided[m.Because] {
			t.Errorf("%s moved the champion because of %q, which is no decision", e.Key, m.Because)
		}
		if m, ok := b.(ledger.Made); ok && m.What == "search" {
			t.Log(e.Key, m.Tell)
		}
		if m, ok := b.(ledger.Step); ok {
			t.Log(e.Key, m.State, m.Note)
			ended = ended || e.Key == "end"
		}
	}
	if promoted == 0 || decoys > 0 || !ended {
		t.Errorf("%d promotions, %d of them of decoys; ended: %v", promoted, decoys, ended)
	}
}

// An edit that is good at tasks and breaks live turns is promoted by no attempt: the canary goes
// back, and the champion stays. The edit is one that the same run promotes where it breaks nothing.
func TestPlantedRegressionIsTakenBack(t *testing.T) {
	one := func(s *Settings) { s.Generations, s.Discovery.Failing = 1, 1 }
	s := newSite(t, settings(one))
	s.run(t)
	sly := promotedEdit(t, s.entries(t), settings(one))
	s = newSite(t, settings(func(s *Settings) { one(s); s.Scripted.Sly = sly }))
	s.run(t)
	moves, refused := map[string]int{}, 0
	for _, e := range s.entries(t) {
		b, err := e.Decode()
		must(t, err)
		if m, ok := b.(ledger.Moved); ok {
			moves[m.Alias]++
		}
		if d, ok := b.(ledger.Decision); ok && d.Decision.Stage == mindforge.Canary {
			if refused++; d.Decision.Pass {
				t.Errorf("the canary passed: %s", d.Decision.Why)
			}
		}
	}
	if refused == 0 || moves[ledger.Canary] != 2*refused || moves[ledger.Champion] != 0 {
		t.Errorf("%d canaries, names moved %v", refused, moves)
	}
}

// promotedEdit is the number of an improving edit of the planted problem that a run has promoted.
func promotedEdit(t *testing.T, all []ledger.Entry, s Settings) int {
	t.Helper()
	r, err := NewRehearsal(s.Scripted)
	must(t, err)
	candidates, promoted := map[ids.Digest]mindforge.Candidate{}, ids.Digest("")
	for _, e := range all {
		b, err := e.Decode()
		must(t, err)
		switch b := b.(type) {
		case ledger.Candidate:
			candidates[b.Hash] = b.Candidate
		case ledger.Decision:
			if b.Decision.Stage == mindforge.Champion && b.Decision.Pass {
				promoted = b.Decision.Candidate
			}
		}
	}
	for c, ok := candidates[promoted]; ok; c, ok = candidates[c.Parents[0]] {
		for i, e := range r.Improving {
			if slices.Contains(c.Edits, e) {
				return i
			}
		}
		if len(c.Parents) == 0 {
			break
		}
	}
	t.Fatal("the run has promoted no improving edit")
	return 0
}
