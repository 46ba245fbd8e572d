package exam

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"sync"

	"macaron/internal/bench/ui4a"
	"macaron/internal/errs"
	"macaron/internal/ids"
)

//go:embed tokens.json
var counted []byte

// Length is how long a case's card and its twin are. They were counted when they were last
// changed: no tokenizer is needed here.
type Length struct {
	Digest ids.Digest     `json:"digest"` // of both texts
	Card   map[string]int `json:"card"`   // tokens, by the name of the tokenizer
	Twin   map[string]int `json:"twin"`
}

var lengths = sync.OnceValue(func() map[string]Length {
	all := map[string]Length{}
	if err := json.Unmarshal(counted, &all); err != nil {
		panic("tokens.json: " + err.Error()) // a test reads it
	}
	return all
})

// digestOf is that of a card and its twin.
func digestOf(c *ui4a.Case) ids.Digest { return ids.DigestOf([]byte(c.Card + "\x00" + c.Twin)) }

// TokenTable sets cards and twins side by side.
type TokenTable struct {
	Cases map[string]Length `json:"cases"`
	Sums  []TokenSum        `json:"sums"`
}

// TokenSum is the mean length by one tokenizer.
type TokenSum struct {
	Tokenizer string  `json:"tokenizer"`
	N         int     `json:"n"`
	Card      float64 `json:"card"`
	Twin      float64 `json:"twin"`
	Ratio     float64 `json:"ratio"` // of the sums
}

// Tokens gives the lengths of the cases that have a twin.
func Tokens(cases []*ui4a.Case) (TokenTable, error) {
	t := TokenTable{Cases: map[string]Length{}}
	sums := map[string]*TokenSum{}
	for _, c := range cases {
		if c.Twin == "" {
			continue
		}
		l := lengths()[c.ID]
		if l.Digest != digestOf(c) {
			return t, errs.New(errs.FormatInvalid, fmt.Sprintf("card or twin of %s has changed since it was counted", c.ID), "go test ./internal/bench/ui4a/exam -run Counted -update")
		}
		t.Cases[c.ID] = l
		for name, n := range l.Card {
			if sums[name] == nil {
				sums[name] = &TokenSum{Tokenizer: name}
			}
			s := sums[name]
			s.N, s.Card, s.Twin = s.N+1, s.Card+float64(n), s.Twin+float64(l.Twin[name])
		}
	}
	for _, name := range slices.Sorted(maps.Keys(sums)) {
		s := sums[name]
		s.Ratio = s.Card / s.Twin
		s.Card, s.Twin = s.Card/float64(s.N), s.Twin/float64(s.N)
		t.Sums = append(t.Sums, *s)
	}
	return t, nil
}
