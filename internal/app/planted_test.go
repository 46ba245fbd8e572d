package app

import (
	"testing"

	"macaron/internal/auth"
	"macaron/internal/errs"
	"macaron/internal/mindforge/ledger"
	"macaron/internal/mindforge/loop"
	"macaron/internal/mindforge/scripted"
	forge "macaron/internal/mindforge/serve"
)

// Whatever a planted problem makes champion or tries, people are served what they were: no model acts
// at it. Nobody can move a name onto its releases either.
func TestNobodyIsServedAPlantedProblem(t *testing.T) {
	s, _ := scriptedSite(t)
	p, err := scripted.DefaultSetup.Plant()
	if err != nil {
		t.Fatal(err)
	}
	text, err := p.Base.Contract.Text()
	if err != nil {
		t.Fatal(err)
	}
	n := loop.Names{Ledger: s.releases.Ledger, Owner: auth.Local}
	planted, err := n.Enter(t.Context(), "run", p.Base)
	if err == nil {
		_, err = n.Ledger.Write(t.Context(), auth.Local, []ledger.Text{{What: ledger.ContractText, Name: p.Base.Contract.Hash(), Text: string(text)}}, nil)
	}
	if err == nil {
		err = n.Promote(t.Context(), "run", planted, "generation 1", "")
	}
	if err == nil {
		err = n.Try(t.Context(), "run", planted, 0.9)
	}
	if err != nil {
		t.Fatal(err)
	}
	if o := s.object(s.post(object{"model": "macaron", "messages": []any{user("L1 what now?")}})); len(at[[]any](o, "choices")) != 1 {
		t.Errorf("a turn was answered %v", o)
	}
	if err := s.releases.Look(t.Context()); err != nil {
		t.Errorf("trials cannot be judged: %v", err)
	}
	if _, err := s.releases.Promote(t.Context(), auth.Local, forge.Move{Release: planted, Version: -1}); errs.CodeOf(err) != errs.Unsupported {
		t.Errorf("it was promoted: %v", err)
	}
}
