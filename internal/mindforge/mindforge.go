// Package mindforge has the words of the loop that improves a pair of adapters and contract:
// tasks, attempts at them, edits and candidates, and the three things that its rooms hand to
// each other. It does nothing itself. docs/MINDFORGE.md tells a generation from discovery to
// promotion.
package mindforge

import (
	"context"

	"macaron/internal/adapter"
	"macaron/internal/contract"
)

// Pair is what the loop improves: a contract, and the revisions that its adapters have.
// An adapter that is not listed has the revision that the contract's source gives it.
type Pair struct {
	Contract  *contract.Contract
	Revisions []adapter.Revision
}

// Actor makes attempts at tasks under a pair. The one that counts runs the harness of
// production; the scripted one has a known skill, so that search and gates can be measured
// against the truth. Equal arguments give equal outcomes, up to cost in time.
type Actor interface {
	// Try makes one attempt. An error means that nothing is known of the pair: the machinery
	// failed in a way that the outcome cannot tell.
	Try(ctx context.Context, p Pair, t Task, seed uint64) (Outcome, error)
}

// World makes tasks of families without end, and judges what was done with them. It is a pure
// function of its arguments: a task is made again from its world, family, level and seed.
type World interface {
	Name() string
	// Families lists the template families, the unit of splits and of clusters.
	Families() []string
	// Make makes the task that a seed names. Level 0 is the easiest.
	Make(family string, level int, seed uint64) (Task, error)
	// Harder makes a variant of a task that asks more, by a named way.
	Harder(t Task, way Way, seed uint64) (Task, error)
}

// Way names how a task is made harder.
type Way string

// The ways.
const (
	Lift       Way = "lift"       // a constraint that made it easy is lifted: larger numbers, more rows, longer texts
	Prefer     Way = "prefer"     // a preference that is stated once and judged in the answer
	Chain      Way = "chain"      // the answer of one part is the input of the next
	Contradict Way = "contradict" // two statements disagree; the one that goes before the other is said
)

// Ways are all of them.
var Ways = []Way{Lift, Prefer, Chain, Contradict}
