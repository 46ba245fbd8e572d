package action

import "time"

// Outcome says what became of an Action.
type Outcome string

// The outcomes.
const (
	Sent    Outcome = "sent"    // a model saw Saw
	Kept    Outcome = "kept"    // nobody but the person saw it, as declared
	Refused Outcome = "refused" // nobody saw it; Reason says why
)

// Reason says why an Action was refused.
type Reason string

// The reasons.
const (
	Stale       Reason = "stale"        // it comes from another surface or revision than the card in force
	Replayed    Reason = "replayed"     // its sequence is not above the last
	DynamicText Reason = "dynamic-text" // the card holds NoAI values and its text is no literal of its source
	Tainted     Reason = "tainted"      // a value that it would send has a NoAI value in it, or a piece of one
)

// Receipt says what became of an Action, above all what the model saw of it. It can be
// shown and logged: it has no NoAI value.
type Receipt struct {
	Action   string    `json:"action"` // its id
	Surface  string    `json:"surface"`
	Sequence int64     `json:"sequence"`
	Time     time.Time `json:"time"`
	Outcome  Outcome   `json:"outcome"`
	Reason   Reason    `json:"reason,omitempty"`
	Message  string    `json:"message"`            // for the person
	Saw      string    `json:"saw"`                // every byte that the model saw; empty if none
	Sent     []string  `json:"sent,omitempty"`     // the declared keys whose values it saw
	Withheld []string  `json:"withheld,omitempty"` // the keys that were read and not shown to it
}

// messages are the sentences for people, by reason.
var messages = map[Reason]string{
	Stale:       "The card has changed since; nothing was sent. Use the card that is shown now.",
	Replayed:    "This card has been used since, such as in another tab, or this was sent before; nothing was sent now. Reload the page to go on with the card as it is.",
	DynamicText: "The card holds private values, so it may send only what is written in its source and its declared state; this text was made while it ran. Nothing was sent.",
	Tainted:     "What the card would have sent has a private value in it, or a piece of one. Nothing was sent.",
}
