// Package update turns trajectories into the next revision of an adapter: it selects those
// that were verified, are different from one another and may be trained on, trains one
// adapter on them through the Tinker protocol (by imitation or by policy gradient), and
// publishes the revision with where it comes from. An ability that a contract has in words
// can be moved into the adapter, so that a shorter contract has it too.
//
// An update is a function of its settings, seed and trajectories: stopped anywhere and done
// again, it gives the same revision, once. docs/FORGE_UPDATE.md has the settings.
package update

import (
	"context"
	"time"

	"macaron/internal/adapter"
	"macaron/internal/ids"
	"macaron/internal/mindforge"
	"macaron/internal/mindforge/evaluation"
	"macaron/internal/mindforge/update/tinkerclient"
	"macaron/internal/mint/catalogue"
	"macaron/internal/transcript"
)

// Trajectory is one attempt: what was asked, what came of it, and the record of it.
type Trajectory struct {
	Task     mindforge.Task
	Outcome  mindforge.Outcome
	Run      *transcript.Run
	Feedback *int // what a person said of it: -1, 0 or 1; nil: nobody said anything
}

// Splits tell what a family is for. evaluation.Splits are some.
type Splits interface {
	Of(world, family string) evaluation.Split
}

// Catalogue keeps revisions. mint/catalogue is one.
type Catalogue interface {
	Publish(ctx context.Context, owner string, d catalogue.Draft) (adapter.Published, error)
	Revisions(ctx context.Context, owner string, s adapter.Search) ([]adapter.Numbered, error)
	Files(ctx context.Context, owner string, hash ids.Digest) (catalogue.Files, error)
}

// Journal keeps what an update that was stopped needs to go on where it was. It may be lost:
// then training begins anew, to the same revision.
type Journal interface {
	Recall(key string) (value string, ok bool, err error)
	Note(key, value string) error
}

// Updater makes revisions. All fields but Journal and CPU are needed. It is for one update
// at a time.
type Updater struct {
	Client    *tinkerclient.Client
	Catalogue Catalogue
	Owner     string
	Splits    Splits
	Journal   Journal              // nil: none
	Now       func() time.Time     // for what an update took
	CPU       func() time.Duration // that this process has used; nil: not told
}
