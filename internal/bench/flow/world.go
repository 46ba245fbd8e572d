// Package flow is a suite of composition tasks of our own: questions about a small library
// network whose answers need one to eighty calls of simple tools, up to six of them one
// behind the other. A salt makes a world: the same salt the same world on every machine,
// another one a world that nobody has seen. Tools run in this process and are functions of
// their arguments; their tables, code and the labels never enter a sandbox. docs/BENCH.md.
package flow

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
)

// The sizes of a world.
const (
	nBranches  = 24
	nTitles    = 60
	nCopies    = 170
	nMembers   = 80
	nLoans     = 520
	nTransfers = 150
	lastDay    = 180
)

var (
	regions = []string{"north", "east", "south", "west"}
	genres  = []string{"crime", "poetry", "travel", "science"}
	plans   = []string{"basic", "family", "student", "patron"}
)

type branch struct {
	Region string `json:"region"`
	Staff  int    `json:"staff"`
	Hours  int    `json:"weekly_hours"`
}

type title struct {
	Genre string `json:"genre"`
	Price int    `json:"price_cents"`
	Pages int    `json:"pages"`
}

type volume struct { // a copy of a title
	Title  string `json:"title"`
	Branch string `json:"branch"`
	Wear   int    `json:"wear"` // 0 to 9
}

type member struct {
	Home string `json:"home_branch"`
	Plan string `json:"plan"`
}

type plan struct {
	Free int `json:"free_days"`
	Fee  int `json:"fee_cents_per_day"`
	Cap  int `json:"cap_cents"`
}

type loan struct {
	Copy   string `json:"copy"`
	Member string `json:"member"`
	Day    int    `json:"day"`
	Days   int    `json:"days_kept"`
}

type transfer struct {
	Copy string `json:"copy"`
	From string `json:"from_branch"`
	To   string `json:"to_branch"`
	Day  int    `json:"day"`
	Cost int    `json:"cost_cents"`
}

// world is all tables of one salt, by index; identifiers are a letter and the index.
type world struct {
	branches  []branch
	titles    []title
	copies    []volume
	members   []member
	plans     []plan
	loans     []loan
	transfers []transfer
}

// draw gives a whole number from lo to hi that follows from the salt and a place in a table.
type draw func(table string, row int, field string, lo, hi int) int

func drawer(salt string) draw {
	return func(table string, row int, field string, lo, hi int) int {
		sum := sha256.Sum256(fmt.Appendf(nil, "flow/1\x00%s\x00%s\x00%d\x00%s", salt, table, row, field))
		return lo + int(binary.BigEndian.Uint64(sum[:8])%uint64(hi-lo+1)) //nolint:gosec // small
	}
}

func newWorld(salt string) *world {
	d := drawer(salt)
	w := &world{}
	for i := range nBranches {
		w.branches = append(w.branches, branch{regions[i%len(regions)], d("branch", i, "staff", 2, 19), d("branch", i, "hours", 18, 60)})
	}
	for i := range nTitles {
		w.titles = append(w.titles, title{genres[d("title", i, "genre", 0, len(genres)-1)], d("title", i, "price", 450, 5200), d("title", i, "pages", 60, 900)})
	}
	for i := range nCopies {
		w.copies = append(w.copies, volume{id('t', d("copy", i, "title", 0, nTitles-1)), id('b', d("copy", i, "branch", 0, nBranches-1)), d("copy", i, "wear", 0, 9)})
	}
	for i := range nMembers {
		w.members = append(w.members, member{id('b', d("member", i, "home", 0, nBranches-1)), plans[d("member", i, "plan", 0, len(plans)-1)]})
	}
	for i := range plans {
		w.plans = append(w.plans, plan{d("plan", i, "free", 7, 28), d("plan", i, "fee", 5, 60), d("plan", i, "cap", 300, 1500)})
	}
	for i := range nLoans {
		w.loans = append(w.loans, loan{id('c', d("loan", i, "copy", 0, nCopies-1)), id('m', d("loan", i, "member", 0, nMembers-1)), d("loan", i, "day", 1, lastDay), d("loan", i, "days", 1, 45)})
	}
	for i := range nTransfers {
		c := d("transfer", i, "copy", 0, nCopies-1)
		from := d("transfer", i, "from", 0, nBranches-1)
		to := (from + d("transfer", i, "to", 1, nBranches-1)) % nBranches
		w.transfers = append(w.transfers, transfer{id('c', c), id('b', from), id('b', to), d("transfer", i, "day", 1, lastDay), d("transfer", i, "cost", 80, 2400)})
	}
	return w
}

// id is a row's identifier, such as b07.
func id(table byte, row int) string { return fmt.Sprintf("%c%02d", table, row) }

// row reads an identifier back; false if the table has no such row.
func row(s string, table byte, n int) (int, bool) {
	var i int
	if len(s) < 3 || s[0] != table {
		return 0, false
	}
	if _, err := fmt.Sscanf(s[1:], "%d", &i); err != nil || id(table, i) != s || i >= n {
		return 0, false
	}
	return i, true
}
