package surface

import (
	"context"
	"encoding/json"
	"maps"

	"macaron/internal/errs"
	"macaron/internal/ids"
	"macaron/internal/record"
	"macaron/internal/ui4a"
	"macaron/internal/ui4a/action"
)

// Event is what a page tells of a card: that it was drawn, that declared state has
// changed, that it failed, that the conversation goes on without it.
type Event struct {
	Event    string                     `json:"event"` // drawn, state, failed, left
	Surface  ui4a.Surface               `json:"surface"`
	Revision ids.Digest                 `json:"revision"`
	PaintMS  int64                      `json:"paint_ms"`
	Values   map[string]json.RawMessage `json:"values"`
	Errors   []string                   `json:"errors"`   // what the frame told, as a model may read it
	Findings []Finding                  `json:"findings"` // what the page measured
	Secrets  action.Posted              `json:"secrets"`
}

// decision is what becomes of a card as it stands: records, or none.
type decision func(card *Card, g *guarded) ([]record.Body, error)

// tries is how often a decision is taken anew.
const tries = 16

// once writes what a decision makes of a card. Where another tab or process has written of
// the turn's cards meanwhile, nothing is written, and the decision is taken again on what
// stands then: so each outcome is recorded once, whoever tells of it.
func (d *Desk) once(ctx context.Context, owner, turn string, on ui4a.Surface, secrets action.Posted, decide decision) error {
	for range tries {
		card, g, release, err := d.at(ctx, owner, turn, on, secrets)
		if err != nil {
			return err
		}
		bodies, err := decide(card, g)
		kept := len(bodies) == 0
		if err == nil && !kept {
			kept, err = d.log.Card(ctx, owner, card.Turn, card.records, bodies...)
		}
		if err != nil || !kept {
			d.release(g) // it counts what was not written
		}
		release()
		if err != nil || kept {
			return err
		}
	}
	return errs.New(errs.Overloaded, "too much is written of this card at once", "try again")
}

// Act judges an Action and records it; the receipt says what a model may be told.
func (d *Desk) Act(ctx context.Context, owner, turn string, a action.Action, secrets action.Posted) (action.Receipt, error) {
	var receipt action.Receipt
	err := d.once(ctx, owner, turn, ui4a.Surface(a.Origin.Surface), secrets, func(card *Card, g *guarded) ([]record.Body, error) {
		receipt = g.Act(a)
		kept := g.Record(a, receipt)
		for i, p := range kept.Visibility.NoAI {
			kept.Visibility.NoAI[i] = g.Text(action.Log, p)
		}
		bodies := []record.Body{record.CardAction{Action: kept, Receipt: receipt, Private: g.Holds()}}
		if receipt.Outcome == action.Sent && card.Outcome != record.CardCompleted {
			bodies = append(bodies, record.CardOutcome{Surface: string(card.Surface), Revision: card.Revision, Outcome: record.CardCompleted})
		}
		return bodies, nil
	})
	return receipt, err
}

// event is once for an event; a page that shows another revision is told so.
func (d *Desk) event(ctx context.Context, owner, turn string, e Event, decide decision) error {
	return d.once(ctx, owner, turn, e.Surface, e.Secrets, func(card *Card, g *guarded) ([]record.Body, error) {
		if card.Revision != e.Revision {
			return nil, errs.New(errs.Gone, "the card has changed since", "reload the page")
		}
		return decide(card, g)
	})
}

// Keep records declared state that has changed; what may not be kept is left out.
func (d *Desk) Keep(ctx context.Context, owner, turn string, e Event) error {
	return d.event(ctx, owner, turn, e, func(card *Card, g *guarded) ([]record.Body, error) {
		b := record.CardState{Surface: string(card.Surface), Revision: card.Revision, Values: maps.Clone(e.Values), Private: g.Holds()}
		maps.DeleteFunc(b.Values, func(key string, value json.RawMessage) bool { return !g.Keep(key, value) })
		if len(b.Values) == 0 {
			return nil, nil
		}
		return []record.Body{b}, nil
	})
}

// Drawn records that a page has drawn a card. A revision that was drawn before and of
// which no end is known is edited now.
func (d *Desk) Drawn(ctx context.Context, owner, turn string, e Event) error {
	return d.event(ctx, owner, turn, e, func(card *Card, _ *guarded) ([]record.Body, error) {
		if card.before == card.Revision {
			return nil, nil
		}
		bodies := []record.Body{record.CardRendered{Surface: string(card.Surface), Revision: card.Revision, Bytes: len(card.Source), PaintMS: max(0, e.PaintMS)}}
		if card.before != "" && card.ends[card.before] == "" {
			bodies = append([]record.Body{record.CardOutcome{Surface: string(card.Surface), Revision: card.before, Outcome: record.CardEdited}}, bodies...)
		}
		return bodies, nil
	})
}

// Left records that the conversation goes on without a card that nobody has used.
func (d *Desk) Left(ctx context.Context, owner, turn string, e Event) error {
	return d.event(ctx, owner, turn, e, func(card *Card, _ *guarded) ([]record.Body, error) {
		if card.Outcome != "" {
			return nil, nil
		}
		return []record.Body{record.CardOutcome{Surface: string(card.Surface), Revision: card.Revision, Outcome: record.CardAbandoned}}, nil
	})
}
