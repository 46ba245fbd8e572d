package session

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"macaron/internal/errs"
	"macaron/internal/ids"
	"macaron/internal/record"
)

// Card is what the log has of a card beside its source, folded from its records.
type Card struct {
	State    map[string]json.RawMessage // the last value of each declared key
	Sequence int64                      // of the last Action
	Private  bool                       // it holds, or has held, a NoAI value
	Rendered ids.Digest                 // the revision that was drawn last
	Ends     map[ids.Digest]record.CardEnd
	Round    int      // of the last repair; 0: there was none
	Repairs  []string // the requests of the turns that repair it, in order
	Records  int
}

// MaxCardRecords bounds the records of the cards of one turn.
const MaxCardRecords = 4000

// card moves a card of the turn on by one record. Maps are copied, never changed: copies
// of the turn share them.
func (t *Turn) card(body record.Body) {
	switch b := body.(type) {
	case record.CardRendered:
		t.change(b.Surface, func(c *Card) { c.Rendered = b.Revision })
	case record.CardAction:
		t.change(b.Action.Origin.Surface, func(c *Card) {
			c.Sequence, c.Private = max(c.Sequence, b.Action.Sequence), c.Private || b.Private
		})
	case record.CardState:
		t.change(b.Surface, func(c *Card) {
			c.State, c.Private = with(c.State, b.Values), c.Private || b.Private
		})
	case record.CardOutcome:
		t.change(b.Surface, func(c *Card) {
			c.Ends = with(c.Ends, map[ids.Digest]record.CardEnd{b.Revision: b.Outcome})
			c.Round = max(c.Round, b.Round)
			if b.Repair != "" {
				c.Repairs = slices.Concat(c.Repairs, []string{b.Repair})
			}
		})
	}
}

func (t *Turn) change(surface string, do func(*Card)) {
	c := t.Cards[surface]
	c.Records++
	do(&c)
	t.Cards = with(t.Cards, map[string]Card{surface: c})
}

// with is a copy of a map with some entries set.
func with[K comparable, V any](m, set map[K]V) map[K]V {
	out := make(map[K]V, len(m)+len(set))
	maps.Copy(out, m)
	maps.Copy(out, set)
	return out
}

// CardRecords is how many records the cards of the turn have.
func (t *Turn) CardRecords() (n int) {
	for _, c := range t.Cards {
		n += c.Records
	}
	return n
}

// Card records what became of cards of a turn, whose cards have so many records; false, and
// nothing is written, where they have others by now: another tab or process was faster.
func (l *Log) Card(ctx context.Context, owner, turn string, at int, bodies ...record.Body) (bool, error) {
	t, err := l.turn(ctx, owner, turn)
	if err != nil {
		return false, err
	}
	if at+len(bodies) > MaxCardRecords {
		return false, errs.New(errs.TooLarge, fmt.Sprintf("the cards of this turn have more than %d records", MaxCardRecords), "ask for the card again")
	}
	b := record.Batch{Cards: []record.Cards{{Owner: owner, Turn: turn, Records: at}}}
	for _, body := range bodies {
		b.Records = append(b.Records, l.record(t, body))
	}
	err = l.store.Append(ctx, b)
	if errors.Is(err, record.ErrConflict) {
		return false, nil
	}
	return err == nil, err
}
