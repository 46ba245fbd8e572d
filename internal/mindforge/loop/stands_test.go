package loop

import (
	"context"
	"database/sql"
	"strings"
	"testing"

	"macaron/internal/clock"
	"macaron/internal/contract"
	"macaron/internal/errs"
	"macaron/internal/ids"
	"macaron/internal/mindforge"
	"macaron/internal/mindforge/ledger"
	"macaron/internal/store/sqlite"
)

// A person moves the champion while a run stands between a decision and its promotion, or between two
// generations: the run ends there, and what the person moved to stays champion.
func TestAChampionThatAPersonMovedStays(t *testing.T) {
	for point, generations := range map[string]int{"decided/champion": 1, "noted/g001/gate": 2} {
		s := newSite(t, settings(func(s *Settings) { s.Generations, s.Discovery.Failing = generations, 1 }))
		if s.start(t, "KILL="+point).Wait() == nil {
			t.Fatal("the run has no point " + point)
		}
		moved := s.enters(t, `name = "planted"`, `name = "mended"`)
		s.ledger(t, func(l *ledger.Ledger) {
			n := Names{l, owner}
			must(t, n.Promote(t.Context(), "", moved, "a person's", ""))
		})
		s.run(t)
		var last ledger.Moved
		for _, e := range s.entries(t) {
			b, err := e.Decode()
			must(t, err)
			if m, ok := b.(ledger.Moved); ok && m.Alias == ledger.Champion {
				last = m
			}
			if e.Key == "end" {
				t.Errorf("%s: the run came to its end", point)
			}
		}
		if last.To != moved {
			t.Errorf("%s: the champion is %s, and the person moved it to %s", point, last.To.Short(), moved.Short())
		}
	}
}

// Where people are served a release, a planted problem is refused before it has entered anything.
func TestAPlantedProblemTakesNobodysPlace(t *testing.T) {
	s := newSite(t, settings(nil))
	served := s.enters(t, `base = "scripted"`, `base = "some-model"`)
	r, err := NewRehearsal(settings(nil).Scripted)
	must(t, err)
	s.ledger(t, func(l *ledger.Ledger) {
		n := Names{l, owner}
		must(t, n.write(t.Context(), next(map[string]ledger.Alias{}, ledger.Champion, served, "", "a person's")))
		if _, err := n.Enter(t.Context(), "run", r.Base); errs.CodeOf(err) != errs.InvalidRequest || !strings.Contains(err.Error(), served.Short()) {
			t.Errorf("it was entered: %v", err)
		}
	})
}

// A run does not go on from an entry that was changed since it was written.
func TestARunStopsAtAChangedEntry(t *testing.T) {
	s := newSite(t, settings(func(s *Settings) { s.Generations = 1 }))
	if s.start(t, "KILL=noted/g001/tasks").Wait() == nil {
		t.Fatal("the run was not stopped")
	}
	db, err := sql.Open("sqlite", s.path("home/log.db"))
	must(t, err)
	defer func() { must(t, db.Close()) }()
	for _, do := range []string{`DROP TRIGGER forge_entries_keep_update`, `UPDATE forge_entries SET body = replace(body, '"seed":1', '"seed":2') WHERE key = 'run'`} {
		_, err := db.ExecContext(t.Context(), do)
		must(t, err)
	}
	s.run(t)
	s.ledger(t, func(l *ledger.Ledger) {
		all, err := l.All(t.Context(), owner, "")
		must(t, err)
		for _, e := range all {
			if e.Key == "g001/expansion" || e.Key == "end" {
				t.Error("the run went on behind a changed entry to " + e.Key)
			}
		}
	})
}

// ledger opens the site's.
func (s site) ledger(t *testing.T, do func(*ledger.Ledger)) {
	t.Helper()
	store, err := sqlite.Open(t.Context(), sqlite.Options{Path: s.path("home/log.db")})
	must(t, err)
	do(&ledger.Ledger{Store: store, Clock: clock.System{}, Limits: ledger.DefaultLimits})
	must(t, store.Close())
}

// enters makes a release of the planted contract with a change.
func (s site) enters(t *testing.T, was, is string) (release ids.Digest) {
	t.Helper()
	r, err := NewRehearsal(settings(nil).Scripted)
	must(t, err)
	text, err := r.Base.Contract.Text()
	must(t, err)
	changed := strings.NewReplacer(was, is, strings.ReplaceAll(was, `"`, `'`), strings.ReplaceAll(is, `"`, `'`)).Replace(string(text))
	k, err := contract.Parse([]byte(changed))
	must(t, err)
	if k.Hash() == r.Base.Contract.Hash() {
		t.Fatalf("nothing was changed in %s", text)
	}
	s.ledger(t, func(l *ledger.Ledger) {
		release, err = Names{l, owner}.Enter(context.Background(), "", mindforge.Pair{Contract: k})
		must(t, err)
		_, err = l.Write(context.Background(), owner, []ledger.Text{{What: ledger.ContractText, Name: k.Hash(), Text: changed}}, nil)
		must(t, err)
	})
	return release
}
