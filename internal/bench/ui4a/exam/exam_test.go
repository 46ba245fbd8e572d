package exam

import (
	"context"
	"fmt"
	"os"
	"testing"

	"macaron/internal/bench/ui4a"
	"macaron/internal/browser"
	"macaron/internal/ui4a/compile"
)

// shared is the one browser of the package's tests.
var shared *browser.Browser

func TestMain(m *testing.M) {
	b, err := browser.Start(context.Background())
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	shared = b
	code := m.Run()
	b.Close()
	os.Exit(code)
}

func TestEveryReferenceCompiles(t *testing.T) {
	cases, err := ui4a.Cases()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range cases {
		if _, findings := compile.Compile(c.Card, compile.Options{}); c.Wants() && len(findings) > 0 {
			t.Errorf("%s: %v", c.ID, findings)
		}
	}
}

// Two cases in Chromium: a private value, and sliders with a twin. All of them:
// macaron bench ui4a --check.
func TestReferencesMeetTheirCasesAndNothingDoesNot(t *testing.T) {
	cases, err := ui4a.Cases("private-refund", "split-bill", "capital-question")
	if err != nil {
		t.Fatal(err)
	}
	o := Options{Cases: cases, Tabs: 2, On: shared, Views: ui4a.Views[:1], Out: t.TempDir()}
	faults, r, err := Check(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range faults {
		t.Error(f)
	}
	if r.Summary.Composite.Mean < 95 || r.Summary.Decision.Mean != 100 {
		t.Errorf("the references have %.1f, decisions %.1f", r.Summary.Composite.Mean, r.Summary.Decision.Mean)
	}
	o.Source = Null{}
	if r, err = Do(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	for _, c := range r.Cases {
		if most := 25.0; c.Score > most || !c.Wanted && c.Score != 0 {
			t.Errorf("%s: a card that shows nothing has %.1f", c.ID, c.Score)
		}
	}
}
