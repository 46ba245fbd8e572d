package trajectory

import (
	"macaron/internal/ids"
	"macaron/internal/record"
	"macaron/internal/ui4a/action"
)

// Card is what became of a card that a turn's answer wrote or changed. Nothing in it was
// not fit for a model: values stand only in what the model saw of an Action.
type Card struct {
	Surface  string         `json:"surface"`
	Revision ids.Digest     `json:"revision"` // as this answer left it
	Outcome  record.CardEnd `json:"outcome,omitempty"`
	Rounds   int            `json:"rounds,omitempty"` // of repair
	Receipts []Receipt      `json:"receipts,omitempty"`
}

// Receipt is what came of one Action of that revision.
type Receipt struct {
	Outcome  action.Outcome `json:"outcome"`
	Reason   action.Reason  `json:"reason,omitempty"`
	Sent     []string       `json:"sent,omitempty"`     // declared keys whose values the model saw
	Withheld []string       `json:"withheld,omitempty"` // keys that were read and not shown to it
	Saw      string         `json:"saw,omitempty"`      // all that the model saw; it is the text of a turn, and absent where that turn may not leave
}

// ReceiptOf makes the projection of a record: of the Action itself nothing is taken but its
// receipt. may says that the turn which it became is admissible.
func ReceiptOf(a record.CardAction, may bool) Receipt {
	r := Receipt{Outcome: a.Receipt.Outcome, Reason: a.Receipt.Reason, Sent: a.Receipt.Sent, Withheld: a.Receipt.Withheld}
	if may {
		r.Saw = a.Receipt.Saw
	}
	return r
}

// May reports whether the records of a turn may leave as training data.
func May(h record.Head) bool { return admit(h, "") == nil }
