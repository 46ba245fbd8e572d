package filter

import (
	"fmt"
	"strings"
	"time"

	"macaron/internal/ids"
)

// Report is a dataset in numbers.
type Report struct {
	Dataset       ids.Digest  `json:"dataset"`
	Manifest      Manifest    `json:"manifest"`
	Read          int         `json:"read"`    // turns and runs
	Kept          int         `json:"kept"`    // rows
	Dropped       []Count     `json:"dropped"` // by reason, in the order of Reasons
	Chars         []Count     `json:"chars"`   // of rows, by powers of two
	Tokens        []Count     `json:"tokens"`  // the same of rows of tokens
	Languages     []Count     `json:"languages"`
	Adapters      []Count     `json:"adapters"`
	Days          []Count     `json:"days"`  // UTC; months when there are many
	PII           []Count     `json:"pii"`   // by type, in the rows
	Cards         []Count     `json:"cards"` // of the rows' answers, by outcome
	Doubles       []Count     `json:"duplicates"`
	Contamination []Count     `json:"contamination"` // by set and how it was found
	Tombstones    []Tombstone `json:"tombstones"`
}

// Count is how many there are of something.
type Count struct {
	Name string `json:"name"`
	N    int    `json:"n"`
}

// Report reads the dataset once.
func (d *Dataset) Report(tombs []Tombstone) (*Report, error) {
	m := d.Manifest
	r := &Report{Dataset: d.Digest, Manifest: m, Read: m.Source.Turns + m.Source.Runs, Kept: m.Rows["train"] + m.Rows["held_out"], Tombstones: tombs}
	chars, tokens, langs, adapters, days, months, pii, cards := tally{}, tally{}, tally{}, tally{}, tally{}, tally{}, tally{}, tally{}
	err := d.Rows(func(p Provenance) error {
		chars.add(power(p.Chars), 1)
		if p.Tokens > 0 {
			tokens.add(power(p.Tokens), 1)
		}
		langs.add(p.Language, 1)
		adapters.add(p.Adapter, 1)
		days.add(p.Time.UTC().Format(time.DateOnly), 1)
		months.add(p.Time.UTC().Format("2006-01"), 1)
		for _, c := range p.Cards {
			cards.add(c.Outcome, 1)
		}
		for kind, n := range p.PII {
			pii.add(kind, n)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	evals := tally{}
	err = d.Dropped(func(x Dropped) error {
		if how, ok := strings.CutPrefix(x.Reason, "contaminated_"); ok {
			set, _, _ := strings.Cut(x.Detail, ", ")
			evals.add(set+" by "+how, 1)
		}
		return nil
	})
	r.Chars, r.Tokens, r.Languages, r.Adapters, r.PII, r.Contamination = chars.sorted(), tokens.sorted(), langs.largest(), adapters.largest(), pii.largest(), evals.largest()
	r.Cards = cards.sorted()
	if r.Days = days.sorted(); len(r.Days) > 62 {
		r.Days = months.sorted()
	}
	for _, reason := range Reasons {
		if n := m.Dropped[reason]; n > 0 {
			r.Dropped = append(r.Dropped, Count{reason, n})
		}
	}
	r.Doubles = []Count{{"equal", m.Dropped["duplicate"]}, {"near", m.Dropped["near_duplicate"]}}
	return r, err
}

// power names the range that a number lies in.
func power(n int) string {
	low := 1
	for low*2 <= n {
		low *= 2
	}
	return fmt.Sprintf("%6d to %d", low, 2*low-1)
}
