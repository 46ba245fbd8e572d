package serve

import (
	"time"

	"macaron/internal/record"
)

// Conversation is what one conversation of a trial came to. Its first turn under the trial
// counts for errors, time and checks; feedback and cards count wherever they are.
type Conversation struct {
	ID     string
	Arm    string
	Opened time.Time // its first turn of the trial
	Closed time.Time // that turn's first end; zero: it is still open
	Failed bool      // it ended and was not answered
	Answer string    // its first answer

	judged map[string]time.Time // of disliked and card: when the first came
}

// Took is how long the first turn took, until now if it is still open.
func (c *Conversation) Took(now time.Time) time.Duration {
	if !c.Closed.IsZero() {
		now = c.Closed
	}
	return now.Sub(c.Opened)
}

// The marks of people and cards.
const (
	disliked = "disliked"
	badCard  = "card"
)

func (c *Conversation) mark(what string, at time.Time) {
	if _, there := c.judged[what]; !there {
		c.judged[what] = at
	}
}

// within tells whether a conversation was marked within a time of its opening.
func (c *Conversation) within(what string, window time.Duration) bool {
	at, ok := c.judged[what]
	return ok && at.Sub(c.Opened) <= window
}

func (c *Conversation) apply(r record.Record, first bool) {
	switch b := r.Body.(type) {
	case record.TurnOpened:
		if first {
			c.Opened = r.Time
		}
	case record.Hop:
		if first && b.Hop == record.HopAnswer && b.Error == "" && b.Message != nil && c.Answer == "" {
			c.Answer = b.Message.Text()
		}
	case record.TurnClosed:
		if first && c.Closed.IsZero() {
			c.Closed, c.Failed = r.Time, b.Status == record.StatusInterrupted
		}
	case record.Feedback:
		if b.Score < 0 {
			c.mark(disliked, r.Time)
		}
	case record.CardOutcome:
		if b.Outcome == record.CardErrored || b.Outcome == record.CardAbandoned {
			c.mark(badCard, r.Time)
		}
	}
}
