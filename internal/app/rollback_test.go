package app

import (
	"os"
	"strings"
	"testing"

	"macaron/internal/auth"
	"macaron/internal/errs"
	"macaron/internal/ids"
	"macaron/internal/mindforge/ledger"
	forge "macaron/internal/mindforge/serve"
)

// twoChampions are releases that were promoted one after the other.
func twoChampions(t *testing.T) (s *site, first, second ids.Digest) {
	s, _ = scriptedSite(t)
	first, _ = s.marked("a")
	second, _ = s.marked("b")
	s.promote(first)
	s.promote(second)
	return s, first, second
}

// A second rollback goes on to what was champion before, as previous says, and not back to what was
// taken back; where nothing is left it is refused, and every name stays where it is.
func TestRollbackDoesNotReturn(t *testing.T) {
	s, a, b := twoChampions(t)
	for i, want := range []struct{ champion, previous ids.Digest }{{a, ""}, {"", ""}} {
		got, err := s.releases.Rollback(t.Context(), auth.Local, forge.Move{Version: -1})
		if err != nil || got.Release != want.champion {
			t.Errorf("rollback %d: %s, %v", i+1, got.Release.Short(), err)
		}
		if served := s.object(s.post(object{"model": "macaron", "messages": []any{user("L1 what now?")}})); at[string](served, "macaron", "release") != string(want.champion) {
			t.Errorf("rollback %d: %v is served", i+1, served["macaron"])
		}
		s.stands(ledger.Champion, want.champion)
		s.stands(ledger.Previous, want.previous)
	}
	_, err := s.releases.Rollback(t.Context(), auth.Local, forge.Move{Version: -1})
	if errs.CodeOf(err) != errs.NotFound || !strings.Contains(errs.As(err).Next, "macaron forge promote") {
		t.Errorf("nothing is left: %v", err)
	}
	s.promote(b)
	s.stands(ledger.Previous, "")
	s.accounted(5)
}

// A command goes back to a release also while the contract's file is broken, and does not make the broken file
// the champion.
func TestRollbackWithABrokenContract(t *testing.T) {
	s, a, _ := twoChampions(t)
	if err := os.WriteFile(s.cfg.Contract, []byte("half a li"), 0o600); err != nil {
		t.Fatal(err)
	}
	r, serving, done, err := Releases(s.cfg, s.store, s.revisions)
	if err != nil {
		t.Fatal(err)
	}
	back := func() (ledger.Alias, error) { return r.Rollback(t.Context(), auth.Local, forge.Move{Version: -1}) }
	if got, err := back(); err != nil || got.Release != a {
		t.Errorf("the first: %s, %v", got.Release.Short(), err)
	}
	_, _, unusable := serving(t.Context(), auth.Local)
	if unusable == nil {
		t.Error("half a line is served")
	}
	if _, err := back(); errs.CodeOf(err) != errs.CodeOf(unusable) {
		t.Errorf("the second, to the file: %v; want %v", err, unusable)
	}
	if err := done(); err != nil {
		t.Error(err)
	}
	s.stands(ledger.Champion, a)
	s.stands(ledger.Previous, "")
	s.accounted(3)
}

func (s *site) stands(name string, release ids.Digest) {
	s.t.Helper()
	all, err := s.releases.Ledger.Store.Aliases(s.t.Context(), auth.Local)
	if err != nil {
		s.t.Fatal(err)
	}
	for _, a := range all {
		if a.Name == name && a.Release != release {
			s.t.Errorf("%s stands on %s, want %s", name, a.Release.Short(), release.Short())
		}
	}
}
