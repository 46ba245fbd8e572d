package ledger

import (
	"context"
	"time"
)

// Remote is a thing that a backend elsewhere has and this service gives a name of its own:
// what clients say is ID, what the backend says is There.
type Remote struct {
	Owner, Kind, ID string
	Backend, There  string
	Session         string // of this service
	State           string // of a checkpoint: Due until its archive was looked for
	About           []byte // JSON
	Created         time.Time
}

// The kinds of remote things.
const (
	RemoteSession    = "session"
	RemoteModel      = "model"
	RemoteSampler    = "sampler"
	RemoteRequest    = "request"
	RemoteCheckpoint = "checkpoint"
)

// Due is the state of a remote checkpoint that something is still to be done about.
const Due = "due"

// Remotes keeps the table of names. An owner is part of every question but that for what is
// due.
type Remotes interface {
	PutRemotes(ctx context.Context, all []Remote) error // in place of what was there
	Remote(ctx context.Context, owner, kind, id string) (Remote, error)
	RemotesOf(ctx context.Context, owner, kind, session string) ([]Remote, error) // the newest first; session "": all
	DueRemotes(ctx context.Context) ([]Remote, error)
	DropRemote(ctx context.Context, owner, kind, id string) error
}
