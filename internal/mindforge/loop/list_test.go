package loop

import (
	"testing"

	"macaron/internal/mindforge/ledger"
)

// What a stage comes to is kept however long it is: a list that is longer than one text may be comes
// back as it was.
func TestLongListsAreKept(t *testing.T) {
	s := newSite(t, settings(nil))
	s.ledger(t, func(l *ledger.Ledger) {
		l.Limits.Text = 1500
		w := &work{Loop: &Loop{Owner: owner, Run: "r", Ledger: l}, bodies: map[string]ledger.Body{}}
		var all, again []found
		for i := range 40 {
			all = append(all, found{ID: "compose/item_town/0/" + itoa(i), Passes: i})
		}
		texts, err := w.list(all)
		must(t, err)
		must(t, w.note(t.Context(), "g001/tasks", ledger.Made{What: "tasks", Hash: texts[0].Name}, texts...))
		must(t, w.read(t.Context(), texts[0].Name, &again))
		if len(texts) < 3 || len(again) != len(all) || again[39].ID != all[39].ID || again[39].Passes != 39 {
			t.Errorf("%d texts, %d of %d came back", len(texts), len(again), len(all))
		}
	})
}
