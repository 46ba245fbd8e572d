// Package lineage makes a graph of a ledger: which candidates came of which, by which edits,
// what was measured and decided of each, which releases were made of them, and where the
// names stand. Pure: what is drawn on a page, and printed, depends on the entries alone.
package lineage

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"macaron/internal/errs"
	"macaron/internal/ids"
	"macaron/internal/mindforge"
	"macaron/internal/mindforge/ledger"
)

// Graph is what came of what.
type Graph struct {
	Nodes []*Node `json:"nodes"` // in the order in which the ledger first speaks of them
	Edges []Edge  `json:"edges"`
	Wide  int     `json:"wide"` // columns and rows that the nodes take
	High  int     `json:"high"`
}

// Node is one thing that has a name by content.
type Node struct {
	ID         ids.Digest `json:"id"`
	What       string     `json:"what"` // candidate, release, contract, revision, dataset, tasks, ...
	Title      string     `json:"title"`
	Run        string     `json:"run,omitempty"`
	Generation int        `json:"generation"`
	At         time.Time  `json:"at,omitzero"`
	Lines      []string   `json:"lines,omitempty"` // what the ledger says of it, in order
	Names      []string   `json:"names,omitempty"` // the aliases that stand on it
	Failed     bool       `json:"failed,omitempty"`
	Column     int        `json:"column"`
	Row        int        `json:"row"`
}

// Edge leads from what something came of.
type Edge struct {
	From ids.Digest `json:"from"`
	To   ids.Digest `json:"to"`
	What string     `json:"what"` // operator, or role of a source
}

// maxLines bounds what is told of one node.
const maxLines = 64

// builder folds entries.
type builder struct {
	Graph
	byID map[ids.Digest]*Node
	at   map[string]ids.Digest // where the names stand
}

// aliases are the names that move.
var aliases = []string{ledger.Champion, ledger.Canary, ledger.Previous}

// Of makes the graph of a ledger's entries.
func Of(entries []ledger.Entry) (*Graph, error) {
	b := builder{byID: map[ids.Digest]*Node{}, at: map[string]ids.Digest{}}
	for _, e := range entries {
		body, err := e.Decode()
		if err != nil {
			return nil, err
		}
		b.add(e, body)
	}
	for _, name := range aliases {
		if n := b.byID[b.at[name]]; n != nil {
			n.Names = append(n.Names, name)
		}
	}
	b.place()
	return &b.Graph, nil
}

func (b *builder) node(id ids.Digest, what string) *Node {
	if n := b.byID[id]; n != nil {
		return n
	}
	n := &Node{ID: id, What: what, Title: what}
	b.byID[id] = n
	b.Nodes = append(b.Nodes, n)
	return n
}

func (b *builder) add(e ledger.Entry, body ledger.Body) {
	switch x := body.(type) {
	case ledger.Candidate:
		b.candidate(e, x)
	case ledger.Outcomes:
		b.node(x.Candidate, "candidate").say("%s on %s: %d of %d attempts passed, %d items", x.Stage, x.Suite, x.Passes, x.Cost.Attempts, x.Items)
	case ledger.Decision:
		d, said := x.Decision, "passed"
		n := b.node(d.Candidate, "candidate")
		if !d.Pass {
			said, n.Failed = "failed", true
		}
		n.say("%s %s: %s", d.Stage, said, d.Why)
	case ledger.Made:
		b.made(e, x)
	case ledger.Moved:
		b.at[x.Alias] = x.To
		if x.To != "" {
			b.node(x.To, "release").say("%s from %s: %s", x.Alias, e.At.Format(time.DateTime), x.Reason)
		} else if x.From != "" {
			b.node(x.From, "release").say("%s no more from %s: %s", x.Alias, e.At.Format(time.DateTime), x.Reason)
		}
	case ledger.Refused:
		if x.Candidate != "" {
			n := b.node(x.Candidate, "candidate")
			n.Failed = true
			n.say("refused: %s: %s", x.What, x.Why)
		}
	}
}

func (b *builder) candidate(e ledger.Entry, x ledger.Candidate) {
	n, c := b.node(x.Hash, "candidate"), x.Candidate
	n.What, n.Title, n.Run, n.Generation, n.At = "candidate", string(c.Operator), e.Run, c.Generation, e.At
	for _, edit := range c.Edits {
		n.say("%s %s", edit.Kind, edit.Component)
	}
	switch {
	case c.Operator == mindforge.Seed:
	case c.Prediction.None():
		n.say("by %s, without a prediction", c.Proposer)
	default:
		n.say("predicted %+.2f by %s", c.Prediction.Gain, c.Proposer)
	}
	for _, p := range c.Parents {
		b.node(p, "candidate")
		b.Edges = append(b.Edges, Edge{p, x.Hash, string(c.Operator)})
	}
	if c.Contract != "" {
		b.Edges = append(b.Edges, Edge{x.Hash, b.node(c.Contract, "contract").ID, "has"})
	}
}

func (b *builder) made(e ledger.Entry, x ledger.Made) {
	n := b.node(x.Hash, x.What)
	n.What, n.Run, n.At = x.What, e.Run, e.At
	n.Title = strings.TrimSpace(x.What + " " + x.Name)
	for _, k := range slices.Sorted(maps.Keys(x.Tell)) {
		n.say("%s: %s", k, x.Tell[k])
	}
	for _, s := range x.From {
		from := b.node(s.Hash, s.What)
		if from.Title == from.What && s.Name != "" {
			from.Title = s.What + " " + s.Name
		}
		b.Edges = append(b.Edges, Edge{s.Hash, x.Hash, s.What})
	}
}

func (n *Node) say(form string, args ...any) {
	if len(n.Lines) < maxLines {
		n.Lines = append(n.Lines, fmt.Sprintf(form, args...))
	}
}

// place gives each node a column, one behind the last of what it came of, and a row among
// those of its column. A circle, which an honest ledger has none of, ends where it began.
func (b *builder) place() {
	into := map[ids.Digest][]ids.Digest{}
	for _, e := range b.Edges {
		into[e.To] = append(into[e.To], e.From)
	}
	column, open := map[ids.Digest]int{}, map[ids.Digest]bool{}
	var walk func(id ids.Digest, depth int) int
	walk = func(id ids.Digest, depth int) int {
		if c, ok := column[id]; ok {
			return c
		}
		if open[id] || depth > len(b.Nodes) {
			return 0
		}
		open[id] = true
		c := 0
		for _, from := range into[id] {
			c = max(c, walk(from, depth+1)+1)
		}
		column[id] = c
		return c
	}
	rows := map[int]int{}
	for _, n := range b.Nodes {
		n.Column = walk(n.ID, 0)
		n.Row = rows[n.Column]
		rows[n.Column]++
		b.Wide, b.High = max(b.Wide, n.Column+1), max(b.High, n.Row+1)
	}
}

// Around keeps a node with what it came of and what came of it. text is its hash, or the
// first six or more digits of it.
func (g *Graph) Around(text string) (*Graph, error) {
	var found []*Node
	digits := strings.TrimPrefix(text, "sha256:")
	for _, n := range g.Nodes {
		if strings.HasPrefix(n.ID.Hex(), digits) || slices.Contains(n.Names, text) {
			found = append(found, n)
		}
	}
	switch {
	case len(found) == 0 && slices.Contains(aliases, text):
		return nil, errs.New(errs.NotFound, text+" stands on no release", "`macaron forge aliases` shows where the names stand")
	case len(digits) < 6 || len(found) == 0:
		return nil, errs.New(errs.NotFound, "the ledger speaks of nothing named "+errs.Clip(text), "give a hash, six or more digits of one, or champion, canary, previous")
	case len(found) > 1:
		return nil, errs.New(errs.InvalidRequest, "several things are named "+errs.Clip(text), "give more digits")
	}
	keep := map[ids.Digest]bool{found[0].ID: true}
	g.reach(keep, found[0].ID, func(e Edge) (ids.Digest, ids.Digest) { return e.From, e.To })
	g.reach(keep, found[0].ID, func(e Edge) (ids.Digest, ids.Digest) { return e.To, e.From })
	out := builder{}
	for _, n := range g.Nodes {
		if keep[n.ID] {
			c := *n
			out.Nodes = append(out.Nodes, &c)
		}
	}
	for _, e := range g.Edges {
		if keep[e.From] && keep[e.To] {
			out.Edges = append(out.Edges, e)
		}
	}
	out.place()
	return &out.Graph, nil
}

func (g *Graph) reach(keep map[ids.Digest]bool, from ids.Digest, ends func(Edge) (ids.Digest, ids.Digest)) {
	next := map[ids.Digest][]ids.Digest{}
	for _, e := range g.Edges {
		a, b := ends(e)
		next[a] = append(next[a], b)
	}
	seen := map[ids.Digest]bool{from: true}
	for todo := []ids.Digest{from}; len(todo) > 0; {
		id := todo[0]
		todo = todo[1:]
		for _, to := range next[id] {
			if !seen[to] {
				seen[to], keep[to] = true, true
				todo = append(todo, to)
			}
		}
	}
}

// Text prints the graph for people, in columns of what came of what. Characters that move a
// terminal's cursor are shown as what they are.
func (g *Graph) Text() string {
	var out strings.Builder
	into := map[ids.Digest][]string{}
	for _, e := range g.Edges {
		into[e.To] = append(into[e.To], fmt.Sprintf("%s (%s)", e.From.Short(), e.What))
	}
	for _, n := range slices.SortedStableFunc(slices.Values(g.Nodes), func(a, b *Node) int { return cmp.Compare(a.Column, b.Column) }) {
		names := ""
		if len(n.Names) > 0 {
			names = " [" + strings.Join(n.Names, ", ") + "]"
		}
		fmt.Fprintf(&out, "%s  %s%s\n", n.ID.Short(), plain(n.Title), names)
		if from := into[n.ID]; len(from) > 0 {
			fmt.Fprintf(&out, "    of %s\n", plain(strings.Join(from, ", ")))
		}
		for _, l := range n.Lines {
			fmt.Fprintf(&out, "    %s\n", plain(l))
		}
	}
	return out.String()
}

func plain(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r >= 0x7f && r < 0xa0 || r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069 {
			return '\ufffd'
		}
		return r
	}, s)
}
