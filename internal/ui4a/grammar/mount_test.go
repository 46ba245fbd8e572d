package grammar

import (
	"flag"
	"math/rand/v2"
	"testing"

	"macaron/internal/axe"
	bench "macaron/internal/bench/ui4a"
	"macaron/internal/bench/ui4a/stage"
	"macaron/internal/browser"
	"macaron/internal/ui4a"
)

var mounted = flag.Int("mounted", 5, "random cards of the grammar that are drawn in Chromium")

// Every card that can be written within the grammar is drawn: Chromium shows it, and
// nothing is thrown, refused by the policy or told as an error, whatever its numbers are.
func TestEverySentenceIsDrawn(t *testing.T) {
	g, tab := language(t), stageTab(t)
	for seed := range *mounted {
		text := sentence(t, g, rand.New(rand.NewPCG(uint64(seed), 9)), ui4a.Fence+"\n")
		card := ui4a.SplitFences(text)[0].Text
		e, err := tab.Card(t.Context(), &bench.Case{ID: "sentence"}, card, bench.Views[1], noAlbum{})
		if err != nil {
			t.Fatalf("sentence %d: %v\n%s", seed, err, card)
		}
		if !e.Mounted {
			t.Errorf("sentence %d: %s\n%s", seed, e.Failure, card)
		}
		for _, x := range e.Events {
			if x.Kind == "error" || x.Kind == "exception" || x.Kind == "policy" {
				t.Errorf("sentence %d: %s: %s\n%s", seed, x.Kind, x.Text, card)
			}
		}
	}
}

func stageTab(t *testing.T) *stage.Tab {
	t.Helper()
	b, err := browser.Start(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.Close)
	s, err := stage.Open(b, axe.Script)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	tab, err := s.Tab()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(tab.Close)
	return tab
}

// noAlbum keeps no pictures.
type noAlbum struct{}

func (noAlbum) Keep(string, []byte) (string, error) { return "", nil }
