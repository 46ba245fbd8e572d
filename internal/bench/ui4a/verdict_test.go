package ui4a

import "testing"

// A yes rests on words of the card; one that quotes nothing, something else or the question
// is none.
func TestYesNeedsEvidence(t *testing.T) {
	e := Evidence{}
	e.Start.Text = "Split the bill\nTotal 84,50 €\nEach pays 21,13 €"
	e.Start.Widgets = []Widget{{Role: "button", Name: "Add person"}}
	for quote, want := range map[string]bool{
		"Each pays 21,13 €": true, `"each PAYS"`: true, "Total … Each pays": true, "Split the bill; button Add person": true,
		"": false, "...": false, "the words of the card": false, "Each pays 25 €": false, "Total ... tip": false,
	} {
		if (Verdict{Yes: true, Quote: quote}).holds(e) != want {
			t.Errorf("a yes that quotes %q: want %v", quote, want)
		}
	}
	if (Verdict{Quote: "Total"}).holds(e) {
		t.Error("a no holds")
	}
	if seen := (Verdict{Yes: true, Quote: "large blue button", Picture: true}); !seen.holds(e) {
		t.Error("a judge that saw the picture may describe it")
	}
	if f := (Verdict{Question: "q", Yes: true, Quote: "nothing there"}).finding(e); f.Pass != 0 {
		t.Errorf("%+v passes", f)
	}
}
