package record

import (
	"encoding/json"

	"macaron/internal/ids"
	"macaron/internal/ui4a/action"
)

// The kinds of cards. They belong to the turn whose answer has the card; NoAI values are
// in none of them (docs/formats/ui4a-actions.md).
const (
	KindCardRendered Kind = "card.rendered"
	KindCardAction   Kind = "card.action"
	KindCardState    Kind = "card.state"
	KindCardOutcome  Kind = "card.outcome"
)

// CardRendered says that a page has drawn a whole card.
type CardRendered struct {
	Surface  string     `json:"surface"`
	Revision ids.Digest `json:"revision"`           // of the card's source
	Bytes    int        `json:"bytes"`              // of the source
	PaintMS  int64      `json:"paint_ms,omitempty"` // from its first piece to the first that was seen; 0: it did not stream
}

// CardAction is what a person did on a card, in the form that may be kept, and what
// became of it. If a model saw it, the turn whose request is the Action's id has it.
type CardAction struct {
	Action  action.Action  `json:"action"`
	Receipt action.Receipt `json:"receipt"`
	Private bool           `json:"private,omitempty"` // the surface holds, or has held, a NoAI value
}

// CardState is declared state of a card that has changed, by key.
type CardState struct {
	Surface  string                     `json:"surface"`
	Revision ids.Digest                 `json:"revision"`
	Values   map[string]json.RawMessage `json:"values"`
	Private  bool                       `json:"private,omitempty"` // as of an Action
}

// CardEnd says what became of a revision of a card.
type CardEnd string

// The outcomes.
const (
	CardCompleted CardEnd = "completed" // the person sent an Action of it
	CardAbandoned CardEnd = "abandoned" // the conversation went on without it
	CardEdited    CardEnd = "edited"    // another revision took its place
	CardErrored   CardEnd = "errored"   // it does not compile, or failed when it ran
)

// CardOutcome is the end of a revision of a card.
type CardOutcome struct {
	Surface  string     `json:"surface"`
	Revision ids.Digest `json:"revision"`
	Outcome  CardEnd    `json:"outcome"`
	Errors   []string   `json:"errors,omitempty"` // what a model was told of them
	Round    int        `json:"round,omitempty"`  // of repair that it leads to, from 1
	Repair   string     `json:"repair,omitempty"` // the request of the turn that repairs it
}

// Kind implements Body.
func (CardRendered) Kind() Kind { return KindCardRendered }

// Kind implements Body.
func (CardAction) Kind() Kind { return KindCardAction }

// Kind implements Body.
func (CardState) Kind() Kind { return KindCardState }

// Kind implements Body.
func (CardOutcome) Kind() Kind { return KindCardOutcome }
