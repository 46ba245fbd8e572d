// Package surface keeps the cards of conversations: which cards an answer has, what later
// answers make of them, the state that they are opened with again, what a person's
// gestures become, and how often a card that fails is repaired. The record log has all of
// it; a NoAI value is in none of its records (docs/formats/ui4a-chat.md).
package surface

import (
	"encoding/json"
	"strings"

	"macaron/internal/chat"
	"macaron/internal/ids"
	"macaron/internal/record"
	"macaron/internal/session"
	"macaron/internal/ui4a"
	"macaron/internal/ui4a/action"
)

// Card is a card of a conversation as it stands at one of its turns.
type Card struct {
	Surface  ui4a.Surface               `json:"surface"`
	Revision ids.Digest                 `json:"revision"`
	Script   string                     `json:"script"` // empty where it cannot run
	Source   string                     `json:"source"`
	Keys     map[string]action.Key      `json:"keys"`
	Findings []ui4a.Diagnostic          `json:"findings"`
	Pictures []string                   `json:"pictures,omitempty"` // there are, of those that its source names
	Broken   bool                       `json:"broken,omitempty"`   // findings are worth a repair
	Open     bool                       `json:"open,omitempty"`     // it is still being written
	State    map[string]json.RawMessage `json:"state"`
	Sequence int64                      `json:"sequence"`
	Outcome  record.CardEnd             `json:"outcome,omitempty"` // of this revision
	Round    int                        `json:"round,omitempty"`   // repairs that were asked for
	Turn     string                     `json:"turn"`              // whose answer brought it
	Edited   string                     `json:"edited,omitempty"`  // the last turn whose answer changed it

	private bool
	records int        // of all cards of that turn
	before  ids.Digest // the revision that was drawn last
	ends    map[ids.Digest]record.CardEnd
}

// Block is a piece of an answer: text, or the surface on which a card of it is shown.
type Block struct {
	Text    string       `json:"text,omitempty"`
	Surface ui4a.Surface `json:"surface,omitempty"`
	Changes bool         `json:"changes,omitempty"` // the surface was there before
}

// Answer is an answer that has cards, cut at them.
type Answer struct {
	Turn   string  `json:"turn"`
	Blocks []Block `json:"blocks"`
}

// Cards are the cards of a conversation.
type Cards struct {
	Cards   []*Card  `json:"cards"` // in the order in which they came
	Answers []Answer `json:"answers"`
}

// conversation folds turns, oldest first, into their cards.
type conversation struct {
	Cards
	repairs map[string]ui4a.Surface // the requests of turns that repair a card
	wrong   map[ui4a.Surface][]ui4a.Diagnostic
}

// fold reads the cards of a conversation up to the last of some turns.
func fold(turns []session.Turn) *conversation {
	c := &conversation{Cards: Cards{Cards: []*Card{}, Answers: []Answer{}}, repairs: map[string]ui4a.Surface{}, wrong: map[ui4a.Surface][]ui4a.Diagnostic{}}
	for i := range turns {
		t := &turns[i]
		for name, kept := range t.Cards {
			for _, request := range kept.Repairs {
				c.repairs[request] = ui4a.Surface(name)
			}
		}
		switch {
		case t.Status == record.StatusDelivered:
			c.answer(t.ID, t.Request, text(t.Trace), t.Cards, true)
		case i == len(turns)-1: // an answer that was stopped is asked for by its own turn
			c.answer(t.ID, t.Request, t.Partial(), t.Cards, false)
		}
		for _, card := range c.Cards.Cards {
			if card.Turn == t.ID {
				card.records = t.CardRecords()
			}
		}
	}
	return c
}

// text is what a turn says, as the chat page shows it.
func text(trace []chat.Message) string {
	var said []string
	for _, m := range trace {
		if s := m.Text(); m.Role == chat.Assistant && s != "" {
			said = append(said, s)
		}
	}
	return strings.Join(said, "\n\n")
}

// answer takes the cards of an answer; final says that nothing of it is to come.
func (c *conversation) answer(turn, request, said string, kept map[string]session.Card, final bool) {
	var f ui4a.Fences
	f.Write(said)
	a, n, failed := Answer{Turn: turn}, 0, c.card(c.repairs[request])
	for _, b := range f.Blocks(final) {
		if !b.Card {
			a.Blocks = append(a.Blocks, Block{Text: b.Text})
			continue
		}
		on, wrong := c.place(b, ui4a.Inline(turn, n), failed, n)
		n++
		there := c.card(on) != nil
		c.take(b, on, turn, kept[string(on)], wrong)
		if !there && failed != nil { // else each answer to a repair could bring what is repaired anew
			c.card(on).Round = max(c.card(on).Round, failed.Round)
		}
		a.Blocks = append(a.Blocks, Block{Surface: on, Changes: there})
	}
	if n > 0 {
		c.Answers = append(c.Answers, a)
	}
}

// take puts a block on its surface; wrong is what was found of its place.
func (c *conversation) take(b ui4a.Block, on ui4a.Surface, turn string, kept session.Card, wrong *ui4a.Diagnostic) {
	card := c.card(on)
	if card == nil {
		card = &Card{Surface: on, Turn: turn, State: kept.State, Sequence: kept.Sequence, Round: kept.Round,
			private: kept.Private, before: kept.Rendered, ends: kept.Ends}
		c.Cards.Cards = append(c.Cards.Cards, card)
	} else {
		card.Edited = turn
	}
	card.Open = b.Open
	delete(c.wrong, on)
	var found []ui4a.Diagnostic
	switch {
	case !b.Patch:
		card.Source = b.Text
	case wrong == nil:
		card.Source, found = ui4a.Patch(card.Source, b.Text, b.Open)
	}
	if wrong != nil {
		found = append(found, *wrong)
	}
	if len(found) > 0 {
		c.wrong[on] = found
	}
}

func (c *conversation) card(on ui4a.Surface) *Card {
	for _, card := range c.Cards.Cards {
		if card.Surface == on {
			return card
		}
	}
	return nil
}
