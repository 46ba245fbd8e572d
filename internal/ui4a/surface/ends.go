package surface

import (
	"slices"

	"macaron/internal/ids"
	"macaron/internal/record"
	"macaron/internal/session"
)

// End is what the log knows of a card as one answer left it.
type End struct {
	Surface  string
	Turn     string         // whose answer brought it; records of it are that turn's
	Revision ids.Digest     // of the card's source behind that answer
	Outcome  record.CardEnd // the last of this revision; "" while there is none
	Rounds   int            // of repair that the card has had until now
}

// Ends gives the cards that the last of some turns, oldest first, wrote or changed. It
// compiles nothing.
func Ends(turns []session.Turn) (out []End) {
	if len(turns) == 0 {
		return nil
	}
	last, c := turns[len(turns)-1].ID, fold(turns)
	at := slices.IndexFunc(c.Answers, func(a Answer) bool { return a.Turn == last })
	if at < 0 {
		return nil
	}
	for _, b := range c.Answers[at].Blocks {
		if b.Surface == "" || slices.ContainsFunc(out, func(e End) bool { return e.Surface == string(b.Surface) }) {
			continue
		}
		card := c.card(b.Surface)
		revision := ids.DigestOf([]byte(card.Source))
		out = append(out, End{string(b.Surface), card.Turn, revision, card.ends[revision], card.Round})
	}
	return out
}
