package surface

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"macaron/internal/ids"
	"macaron/internal/record"
	"macaron/internal/ui4a/action"
)

// Repair is what goes back to the model of a card that fails: the text of a turn, and the
// request under which it is sent.
type Repair struct {
	Text    string `json:"text,omitempty"`
	Request string `json:"request,omitempty"`
	Round   int    `json:"round"`
	Left    int    `json:"left"` // rounds that remain after it
}

// Failed records that a card does not work: it does not compile, some people cannot use it,
// or the page tells of errors. It gives the repair, nil when the rounds are used up or this revision was told of.
func (d *Desk) Failed(ctx context.Context, owner, turn string, e Event) (*Repair, error) {
	var r *Repair
	err := d.event(ctx, owner, turn, e, func(card *Card, g *guarded) ([]record.Body, error) {
		r = nil
		if err := checkFindings(e.Findings); err != nil {
			return nil, err
		}
		told := card.broken()
		if !g.Holds() {
			told = append(told, measured(e.Findings)...)
		}
		for _, text := range e.Errors {
			told = append(told, g.Text(action.ErrorText, text))
		}
		if len(told) == 0 || card.Outcome == record.CardErrored {
			return nil, nil
		}
		b := record.CardOutcome{Surface: string(card.Surface), Revision: card.Revision, Outcome: record.CardErrored, Errors: clipped(told)}
		if card.Round < MaxRounds {
			b.Round, b.Repair = card.Round+1, d.ids.New(ids.Request)
			r = &Repair{Round: b.Round, Left: MaxRounds - b.Round, Request: b.Repair, Text: wish(b)}
		}
		return []record.Body{b}, nil
	})
	return r, err
}

// The errors of one round: so many, and so many bytes of each.
const (
	maxErrors    = 12
	maxErrorText = 600
)

func clipped(told []string) []string {
	told = slices.Compact(told)
	out := make([]string, 0, maxErrors)
	for _, s := range told[:min(len(told), maxErrors)] {
		out = append(out, strings.ToValidUTF8(s[:min(len(s), maxErrorText)], ""))
	}
	return out
}

// wish is the text of a turn that asks for a repair.
func wish(b record.CardOutcome) string {
	return fmt.Sprintf("Repair %d of %d. The card %s has errors:\n- %s\nAnswer with the whole card again, or with a patch of it.", b.Round, MaxRounds, b.Surface, strings.Join(b.Errors, "\n- "))
}
