// Package discovery finds tasks for the loop: from the worlds' generators with harder variants
// of what is solved, from a model's proposals, and from production. A task is kept when its
// solution passes and its failing solutions fail, whenever they are played; when it is new,
// by its structure and by its words; when nothing of the sealed split is in it; when it is
// neither too easy nor too hard for the pair, or when the pair fails at it altogether, which
// is kept apart; and when it does not feed a shape of which there is too much already.
// Whatever is refused is counted by its reason. docs/formats/task.md has the records.
package discovery

import (
	"context"
	"encoding/json"

	"macaron/internal/ids"
	"macaron/internal/mindforge"
	"macaron/internal/mindforge/stat"
	"macaron/internal/mindforge/world"
)

// Schema names the form of records.
const Schema = "macaron.task/1"

// Source says where a task comes from.
type Source struct {
	Kind     Kind   `json:"kind"`
	Proposer string `json:"proposer,omitempty"` // who chose or wrote it: a model's name, "scripted"
	Parent   string `json:"parent,omitempty"`   // the task that it is a harder variant of
	Run      string `json:"run,omitempty"`      // of production
	Owner    string `json:"owner,omitempty"`    // of that run
}

// Kind of a source.
type Kind string

// The kinds.
const (
	Generated Kind = "generated"  // drawn from a family
	Variant   Kind = "variant"    // a harder one of a task that is solved
	Chosen    Kind = "chosen"     // a model's choice among the catalogue of families, levels and ways
	Written   Kind = "written"    // a model's own task for the tools of a world
	FromRun   Kind = "production" // a run that somebody has consented to
)

// Class is what a task is good for.
type Class string

// The classes.
const (
	Frontier Class = "frontier"     // the pair solves it now and then
	Failing  Class = "base-failing" // the pair never solved it
)

// Record is a task that was kept, with the judge's half: it is for the evaluator and the loop
// that trains, and for no model.
type Record struct {
	Schema    string               `json:"schema"`
	Task      mindforge.Task       `json:"task"`
	Source    Source               `json:"source"`
	Split     string               `json:"split"`
	Class     Class                `json:"class"`
	Solved    stat.Rate            `json:"solved"` // of the attempts, with its interval
	Pair      ids.Digest           `json:"pair"`   // whose attempts they were: the contract
	Structure ids.Digest           `json:"structure"`
	Verifier  ids.Digest           `json:"verifier"` // of spec
	Spec      json.RawMessage      `json:"spec"`
	Solution  mindforge.Solution   `json:"solution"`
	Failing   []mindforge.Solution `json:"failing"`
	Likeness  float64              `json:"likeness"` // with the text among those kept that it is most like
	Cost      mindforge.Cost       `json:"cost"`
}

// Candidate is a task that may be kept.
type Candidate struct {
	Task   mindforge.Task
	World  world.World // nil: a planted problem's, see Discoverer.Planted
	Source Source
}

// Reason is why a task was refused.
type Reason string

// The reasons, in the order in which they are looked for: what costs nothing first.
const (
	Malformed   Reason = "malformed"    // a proposal that cannot be read, or is out of bounds
	Unknown     Reason = "unknown"      // a world, family, level, way or tool that there is not
	TooLong     Reason = "too_long"     // the request is longer than the settings allow
	Leak        Reason = "leak"         // the request has its answer in it
	NoFailing   Reason = "no_failing"   // fewer than three failing solutions
	Insecure    Reason = "passes_wrong" // the verifier passes a solution that must fail
	Unsolvable  Reason = "fails_right"  // the verifier fails the solution
	Flaky       Reason = "flaky"        // it does not judge the same twice, or is not made the same twice
	Repeated    Reason = "same_problem" // its structure is known: the same problem with other constants
	Alike       Reason = "alike"        // its words are those of a task that is kept
	Tainted     Reason = "sealed"       // the sealed split is in it
	Unsplit     Reason = "split"        // its family belongs to no split that discovery may feed
	Monotone    Reason = "diversity"    // of its shape there is too much already
	TooEasy     Reason = "too_easy"     // solved too often
	TooHard     Reason = "too_hard"     // solved too seldom, and yet not never
	Unsolved    Reason = "unsolved"     // never solved, and of those there are enough
	Unmeasured  Reason = "unmeasured"   // the machinery failed too often for a rate
	Unconsented Reason = "consent"      // of production: nobody has consented
	Unfinished  Reason = "unfinished"   // of production: it did not come to its end
	Unverified  Reason = "unverified"   // of production: nothing on record says that the outcome is right
	Unreplayed  Reason = "not_replayed" // of production: it does not come out the same again
	Screened    Reason = "screened"     // of production: the data filter refuses it
)

// Refusal is a task that was not kept.
type Refusal struct {
	ID     string `json:"id,omitempty"`
	Reason Reason `json:"reason"`
	Detail string `json:"detail,omitempty"`
	Source Source `json:"source"`
	// Solved are the attempts at a task that was too easy or too hard.
	Solved *stat.Rate `json:"solved,omitempty"`
}

// Sealed answers whether something of the sealed split is in a task. It says yes or no, and
// nothing else: who asks learns nothing of what is sealed.
type Sealed interface {
	Has(ctx context.Context, q Question) (bool, error)
}

// Question is what is asked of the sealed split: the words of a task, and what its window is.
type Question struct {
	World  string   `json:"world"`
	Family string   `json:"family"`
	Seed   uint64   `json:"seed"`
	Texts  []string `json:"texts"` // instruction, data, answers
	Canary string   `json:"canary"`
}

// Splits says which split a family is in, by a hash of its name; discovery feeds those that
// Settings.Splits lists.
type Splits func(world, family string) string
