// Package ledger has the rows of the training service as a store keeps them: sessions,
// models under training, the journal of their operations, samplers and checkpoints. The
// rules are package mint's; a store keeps what it is told, all of a change or nothing.
package ledger

import (
	"context"
	"time"

	"macaron/internal/ids"
)

// Session is a client's session.
type Session struct {
	Owner, ID      string
	About          []byte // JSON
	Created, Seen  time.Time
	Ended          time.Time // zero while it lives
	Reason, Detail string
}

// Model is a model under training. Its state is that of Snapshot and what the operations
// behind number SnapshotAt, to Applied, did to it.
type Model struct {
	Owner, ID, Session, Base string
	About                    []byte // JSON
	Created, Used            time.Time
	Steps                    int64      // optimizer steps that are applied
	Applied                  int64      // operation that was carried out last; 0: none
	Snapshot                 ids.Digest // empty: the first values
	SnapshotAt               int64
	SnapshotSteps            int64
	Form                     Form // what the snapshot is
	Unloaded, Corrupted      bool
}

// Form says what a snapshot is.
type Form string

// The forms.
const (
	Whole   Form = "whole"   // masters, the optimizer's moments, and gradients
	State   Form = "state"   // the same file, of which the gradients do not count
	Masters Form = "masters" // the same file, of which the moments do not count either
	Adapter Form = "adapter" // an exported adapter
)

// Op is a promise: an operation and what came of it.
type Op struct {
	Owner, ID      string // its name, which its number is part of: the same number is the same operation
	Session        string
	Model, Sampler string // which it works on
	Seq            int64
	Kind, State    string
	Body           []byte     // how it was asked
	BodyBlob       ids.Digest // the same, where it is large
	Result         []byte
	ResultBlob     ids.Digest
	Failure        string // of a failed one
	Category       string
	Bytes          int64 // of the result
	Created, Done  time.Time
}

// Sampler is what samples come from.
type Sampler struct {
	Owner, ID, Session, Base string
	Model                    string     // whose state it is
	Path                     string     // of the checkpoint that it is
	Adapter                  ids.Digest // archive of its adapter; empty: the base
	Inflight                 bool
	Created, Used            time.Time
}

// Checkpoint is a saved state.
type Checkpoint struct {
	Owner, Path, Run, Kind, Name string
	Base                         string
	About                        []byte     // JSON
	State                        ids.Digest // masters and moments; empty where it is an adapter only
	Adapter                      ids.Digest // archive of the exported adapter; empty where it is a state
	Bytes                        int64
	Created                      time.Time
	Expires                      time.Time // zero: never
	Public                       bool
}

// Change is written as one.
type Change struct {
	Sessions    []Session // put in, or in place of what was there
	Models      []Model
	Samplers    []Sampler
	Checkpoints []Checkpoint
	Promises    []Op      // with their outcome; those that are there stay as they are
	Resolve     []Op      // the outcome only, of ops that are pending
	Behind      []Mark    // operations whose bodies a snapshot has made superfluous
	Used        []Sampler // the time of their last use only, of samplers that are there
	Unsaved     []Name    // checkpoints that are no more
	Closed      []Name    // samplers that are no more
	Canceled    []Name    // ops that nobody wants any more: their Category is Canceled while they are pending
}

// Canceled is the category of what was canceled before it began. To clients the cause is
// theirs.
const Canceled = "canceled"

// Name is one thing of an owner.
type Name struct{ Owner, ID string }

// Mark is a place in a model's operations.
type Mark struct {
	Owner, Model string
	Seq          int64
}

// Page is a part of a list, the newest first.
type Page struct{ Limit, Offset int }

// Store keeps the rows. An owner is part of every question but those at the start of a
// process and those of the collector.
type Store interface {
	Remotes

	// Promise keeps an operation that was not there, and gives the one that was.
	Promise(ctx context.Context, op Op) (old Op, there bool, err error)
	Write(ctx context.Context, c Change) error

	Session(ctx context.Context, owner, id string) (Session, error) // errs.NotFound, as the others
	Sessions(ctx context.Context, owner string, p Page) (list []Session, total int, err error)
	Model(ctx context.Context, owner, id string) (Model, error)
	Models(ctx context.Context, owner string, p Page) (list []Model, total int, err error)
	ModelsOf(ctx context.Context, owner, session string) ([]Model, error)
	Op(ctx context.Context, owner, id string) (Op, error)
	Resolved(ctx context.Context, owner, sampler string) ([]Op, error)          // without what they were asked and what they gave
	OpsAfter(ctx context.Context, owner, model string, seq int64) ([]Op, error) // by number
	Sampler(ctx context.Context, owner, id string) (Sampler, error)
	SamplersOf(ctx context.Context, owner, session string) ([]Sampler, error)
	Checkpoint(ctx context.Context, path string) (Checkpoint, error)                                                     // of any owner: it may be public
	Checkpoints(ctx context.Context, owner, run string, now time.Time, p Page) (list []Checkpoint, total int, err error) // that have not expired
	Last(ctx context.Context, owner, run, kind string) (Checkpoint, error)

	Living(ctx context.Context) ([]Session, error)                            // all sessions that have not ended
	Pending(ctx context.Context) ([]Op, error)                                // all, in the order in which they were promised
	Expired(ctx context.Context, at time.Time) ([]Checkpoint, error)          // all that are no more
	Idle(ctx context.Context, before time.Time) ([]Sampler, error)            // states without a checkpoint that nobody used since
	Forget(ctx context.Context, endedBefore time.Time) (int, error)           // operations, samplers and remote names but runs and checkpoints, of sessions that ended; what was resolved for none
	Reachable(ctx context.Context, each func(ids.Digest) error) error         // every blob that a row names
	Hold(ctx context.Context, until, now time.Time, who string) (bool, error) // the one process that carries out operations
}
