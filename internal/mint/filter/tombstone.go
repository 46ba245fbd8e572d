package filter

import (
	"context"
	"time"
)

// Tombstone names a row of a dataset whose source a person has deleted since. The dataset
// stays what it is; who trains on it leaves the row out.
type Tombstone struct {
	Row     string    `json:"row"`
	Split   string    `json:"split"`
	Line    int       `json:"line"`
	Session string    `json:"session"`
	Turn    string    `json:"turn,omitempty"`
	Run     string    `json:"run,omitempty"`
	What    string    `json:"what"` // session, turn
	Why     string    `json:"why,omitempty"`
	Time    time.Time `json:"time,omitzero"` // of the deletion
}

// Gone says of an owner's turn, "" for a whole session, whether it is deleted, and why.
type Gone func(ctx context.Context, owner, session, turn string) (gone bool, why string, at time.Time, err error)

// Tombstones lists the rows of a dataset that show what is deleted by now.
func (d *Dataset) Tombstones(ctx context.Context, ask Gone) ([]Tombstone, error) {
	out := []Tombstone{}
	err := d.Rows(func(p Provenance) error {
		gone, why, at, err := ask(ctx, p.Owner, p.Session, "")
		what := "session"
		for _, turn := range append([]string{p.Turn}, p.Shows...) {
			if err == nil && !gone && turn != "" {
				what = "turn"
				gone, why, at, err = ask(ctx, p.Owner, p.Session, turn)
			}
		}
		if err != nil || !gone {
			return err
		}
		out = append(out, Tombstone{string(p.Row), p.Split, p.Line, p.Session, p.Turn, p.Run, what, why, at})
		return nil
	})
	return out, err
}
