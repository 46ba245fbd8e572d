package exam

import (
	"macaron/internal/bench/ui4a"
)

// Swap is what changes when another judge is asked about the same cards.
type Swap struct {
	A       string          `json:"a"` // judge
	B       string          `json:"b"`
	Asked   int             `json:"asked"` // of both, about the same card on the same screen
	YesA    int             `json:"yes_a"`
	YesB    int             `json:"yes_b"`
	Changes []VerdictChange `json:"changes"`
}

// VerdictChange is a question to which the two have answered otherwise.
type VerdictChange struct {
	Case     string `json:"case"`
	Width    int    `json:"width"`
	Layer    string `json:"layer"`
	Question string `json:"question"`
	YesA     bool   `json:"yes_a"`
	QuoteA   string `json:"quote_a"`
	QuoteB   string `json:"quote_b"`
}

// swapOf compares two judges; nil when they are the same, or one is missing.
func swapOf(a, b *Run, pairs []pair) *Swap {
	if a.Judge == "" || b.Judge == "" || a.Judge == b.Judge {
		return nil
	}
	s := &Swap{A: a.Judge, B: b.Judge, Changes: []VerdictChange{}}
	for _, p := range pairs {
		if p.A.Answer.Card != p.B.Answer.Card {
			continue
		}
		for _, v := range p.A.Views {
			for _, w := range p.B.Views {
				if v.View == w.View {
					s.take(p.A.ID, v, w)
				}
			}
		}
	}
	return s
}

func (s *Swap) take(id string, a, b ViewResult) {
	for _, layer := range ui4a.LayerNames {
		for _, x := range a.Verdicts[layer] {
			for _, y := range b.Verdicts[layer] {
				if x.Question == y.Question {
					s.count(VerdictChange{id, a.View.Width, layer, x.Question, x.Yes, x.Quote, y.Quote}, y.Yes)
				}
			}
		}
	}
}

func (s *Swap) count(c VerdictChange, yesB bool) {
	s.Asked++
	if c.YesA {
		s.YesA++
	}
	if yesB {
		s.YesB++
	}
	if c.YesA != yesB {
		s.Changes = append(s.Changes, c)
	}
}
