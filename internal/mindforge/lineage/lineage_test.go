package lineage

import (
	"strings"
	"testing"
	"time"

	"macaron/internal/canonical"
	"macaron/internal/errs"
	"macaron/internal/ids"
	"macaron/internal/mindforge"
	"macaron/internal/mindforge/ledger"
)

const hostile = "<img src=x onerror=alert(1)>\x1b[2J\u202e"

// story is a ledger of three candidates, the last of which became a release.
func story(t *testing.T) ([]ledger.Entry, map[string]ids.Digest) {
	t.Helper()
	named := map[string]ids.Digest{"release": ids.DigestOf([]byte("release")), "contract": ids.DigestOf([]byte("c"))}
	var bodies []ledger.Body
	propose := func(name string, c mindforge.Candidate) {
		h, err := ledger.Identity(c)
		if err != nil {
			t.Fatal(err)
		}
		named[name] = h
		bodies = append(bodies, ledger.Candidate{Hash: h, Candidate: c})
	}
	propose("seed", mindforge.Candidate{Operator: mindforge.Seed})
	propose("bad", mindforge.Candidate{Operator: mindforge.Mutate, Parents: []ids.Digest{named["seed"]}, Edits: []mindforge.Edit{{Kind: "tool.add", Component: hostile}}, Generation: 1, Proposer: "m",
		Prediction: mindforge.Prediction{Fixes: []string{"f"}}})
	propose("good", mindforge.Candidate{Operator: mindforge.Merge, Parents: []ids.Digest{named["seed"], named["bad"]}, Generation: 2, Contract: named["contract"], Proposer: "p"})
	bodies = append(bodies,
		ledger.Outcomes{Candidate: named["good"], Stage: mindforge.Minibatch, Suite: "compose", Items: 4, Passes: 3, Cost: mindforge.Cost{Attempts: 8}},
		ledger.Decision{Decision: mindforge.Decision{Candidate: named["bad"], Stage: mindforge.Lint, Why: hostile}},
		ledger.Decision{Decision: mindforge.Decision{Candidate: named["good"], Stage: mindforge.Sealed, Pass: true, Why: "better"}},
		ledger.Made{What: "release", Hash: named["release"], From: []ledger.Source{{What: "contract", Name: "x", Hash: named["contract"]}}},
		ledger.Moved{Alias: ledger.Champion, Version: 1, To: named["release"], Reason: "it won"},
	)
	var all []ledger.Entry
	for i, b := range bodies {
		body, err := canonical.Bytes(b)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, ledger.Entry{Seq: int64(i + 1), Kind: b.Kind(), At: time.Unix(1e9, 0).UTC(), Body: body})
	}
	return all, named
}

func TestGraph(t *testing.T) {
	entries, named := story(t)
	g, err := Of(entries)
	if err != nil {
		t.Fatal(err)
	}
	columns := map[ids.Digest]int{}
	for _, n := range g.Nodes {
		columns[n.ID] = n.Column
	}
	for name, want := range map[string]int{"seed": 0, "bad": 1, "good": 2, "contract": 3, "release": 4} {
		if columns[named[name]] != want {
			t.Errorf("%s is in column %d, not %d", name, columns[named[name]], want)
		}
	}
	if g.Wide != 5 || g.High != 1 || len(g.Edges) != 5 {
		t.Errorf("%d by %d, %d edges", g.Wide, g.High, len(g.Edges))
	}
	text := g.Text()
	for _, want := range []string{"[champion]", "sealed passed: better", "3 of 8 attempts", "tool.add", "(merge)", "predicted +0.00 by m", "by p, without a prediction"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
	if n := strings.Count(text, "predict"); n != 2 { // what the loop began with says nothing of it
		t.Errorf("predictions are told of %d candidates", n)
	}
	if strings.ContainsAny(text, "\x1b\u202e") {
		t.Error("what a proposer wrote reaches the terminal")
	}
}

// Around shows where something comes from and what came of it, and nothing beside.
func TestAround(t *testing.T) {
	entries, named := story(t)
	g, err := Of(entries)
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]int{"champion": 5, string(named["bad"]): 5, named["seed"].Hex()[:8]: 5} {
		a, err := g.Around(text)
		if err != nil || len(a.Nodes) != want {
			t.Errorf("%s: %+v, %v", text, a, err)
		}
	}
	only, err := Of(entries[:2])
	if err != nil {
		t.Fatal(err)
	}
	if a, err := only.Around(string(named["seed"])); err != nil || len(a.Nodes) != 2 {
		t.Errorf("%+v, %v", a, err)
	}
	if _, err := g.Around(ledger.Previous); errs.CodeOf(err) != errs.NotFound || !strings.Contains(err.Error(), "previous stands on no release") {
		t.Error(err)
	}
	for _, text := range []string{"", "abc", "ffffffffffff", "canary"} {
		if _, err := g.Around(text); errs.CodeOf(err) != errs.NotFound {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// A circle of sources, which only somebody who forged a ledger can make, is drawn and ends.
func TestCircle(t *testing.T) {
	a, b := ids.DigestOf([]byte("a")), ids.DigestOf([]byte("b"))
	var all []ledger.Entry
	for _, m := range []ledger.Made{{What: "x", Hash: a, From: []ledger.Source{{What: "y", Hash: b}}}, {What: "y", Hash: b, From: []ledger.Source{{What: "x", Hash: a}}}} {
		body, err := canonical.Bytes(m)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, ledger.Entry{Kind: ledger.KindMade, Body: body})
	}
	if g, err := Of(all); err != nil || len(g.Nodes) != 2 {
		t.Errorf("%+v, %v", g, err)
	}
}
