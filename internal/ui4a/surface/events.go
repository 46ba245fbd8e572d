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

// Act judges an Action and records it; the receipt says what a model may be told.
func (d *Desk) Act(ctx context.Context, owner, turn string, a action.Action, secrets action.Posted) (action.Receipt, error) {
	card, g, release, err := d.at(ctx, owner, turn, ui4a.Surface(a.Origin.Surface), secrets)
	if err != nil {
		return action.Receipt{}, err
	}
	defer release()
	receipt := g.Act(a)
	kept := g.Record(a, receipt)
	for i, p := range kept.Visibility.NoAI {
		kept.Visibility.NoAI[i] = g.Text(action.Log, p)
	}
	bodies := []record.Body{record.CardAction{Action: kept, Receipt: receipt, Private: g.Holds()}}
	if receipt.Outcome == action.Sent && card.Outcome != record.CardCompleted {
		bodies = append(bodies, record.CardOutcome{Surface: string(card.Surface), Revision: card.Revision, Outcome: record.CardCompleted})
	}
	return receipt, d.log.Card(ctx, owner, card.turn, bodies...)
}

// Keep records declared state that has changed; what may not be kept is left out.
func (d *Desk) Keep(ctx context.Context, owner, turn string, e Event) error {
	card, g, release, err := d.event(ctx, owner, turn, e)
	if err != nil {
		return err
	}
	defer release()
	b := record.CardState{Surface: string(card.Surface), Revision: card.Revision, Values: e.Values, Private: g.Holds()}
	maps.DeleteFunc(b.Values, func(key string, value json.RawMessage) bool { return !g.Keep(key, value) })
	if len(b.Values) == 0 {
		return nil
	}
	return d.log.Card(ctx, owner, card.turn, b)
}

// event finds the card and the guard of an event; a page that shows another revision is told so.
func (d *Desk) event(ctx context.Context, owner, turn string, e Event) (*Card, *guarded, func(), error) {
	card, g, release, err := d.at(ctx, owner, turn, e.Surface, e.Secrets)
	if err == nil && card.Revision != e.Revision {
		release()
		return nil, nil, nil, errs.New(errs.Gone, "the card has changed since", "reload the page")
	}
	return card, g, release, err
}

// Drawn records that a page has drawn a card. A revision that was drawn before and did
// neither fail nor reach its end is edited now.
func (d *Desk) Drawn(ctx context.Context, owner, turn string, e Event) error {
	card, _, release, err := d.event(ctx, owner, turn, e)
	if err != nil {
		return err
	}
	defer release()
	if card.before == card.Revision {
		return nil
	}
	bodies := []record.Body{record.CardRendered{Surface: string(card.Surface), Revision: card.Revision, Bytes: len(card.Source), PaintMS: max(0, e.PaintMS)}}
	if card.before != "" && card.ends[card.before] != record.CardErrored {
		bodies = append([]record.Body{record.CardOutcome{Surface: string(card.Surface), Revision: card.before, Outcome: record.CardEdited}}, bodies...)
	}
	return d.log.Card(ctx, owner, card.turn, bodies...)
}

// Left records that the conversation goes on without a card that nobody has used.
func (d *Desk) Left(ctx context.Context, owner, turn string, e Event) error {
	card, _, release, err := d.event(ctx, owner, turn, e)
	if err != nil {
		return err
	}
	defer release()
	if card.Outcome != "" {
		return nil
	}
	return d.log.Card(ctx, owner, card.turn, record.CardOutcome{Surface: string(card.Surface), Revision: card.Revision, Outcome: record.CardAbandoned})
}
