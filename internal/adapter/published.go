package adapter

import (
	"time"

	"macaron/internal/ids"
)

// Published is a revision in the catalogue: what it is and where it comes from. It never
// changes. Whose it is is part of its identity: two owners who publish the same revision
// have one each.
type Published struct {
	Revision                     // Name is the adapter's that it was made as
	Owner     string             `json:"-"`
	Parent    ids.Digest         `json:"parent,omitempty"`    // the revision that training began from
	Contract  ids.Digest         `json:"contract,omitempty"`  // in force when it was made
	Data      ids.Digest         `json:"data,omitempty"`      // of the data set that it was trained on
	Recipe    ids.Digest         `json:"recipe,omitempty"`    // of the recipe's text
	Metrics   map[string]float64 `json:"metrics,omitempty"`   // measured of it, by name
	Created   time.Time          `json:"created"`             // when it came into the catalogue
	Signature string             `json:"signature,omitempty"` // a DSSE envelope; empty: nobody has signed it

	Checkpoint ids.Digest `json:"checkpoint,omitempty"` // the last saved state of its training; a policy record keeps it
	Place      Place      `json:"-"`
}

// Place is where a revision's bytes are: in a range of a shard, or, without a shard, in a
// directory of its own that its hash names.
type Place struct {
	Shard   string
	At, Len int64 // bytes
}

// Search narrows a list of published revisions; empty fields do not.
type Search struct {
	Name   string     // of the adapter
	Parent ids.Digest // children of this one
	Before int64      // behind the one with this number
	Limit  int
}

// Numbered is a published revision with its number in the catalogue, which rises in the
// order of publishing.
type Numbered struct {
	Seq int64 `json:"seq"`
	Published
}

// The aliases that the catalogue itself moves. Others are their owner's to name.
const (
	Champion = "champion" // what is served: the policy record
	Previous = "previous" // what was champion before
)

// Pointer is a movable name for a revision of an owner's adapter. The one whose alias is
// Champion is the adapter's policy record. Every move of it is kept.
type Pointer struct {
	Owner    string     `json:"-"`
	Name     string     `json:"name"` // of the adapter
	Alias    string     `json:"alias"`
	Version  int64      `json:"version"`            // counts its moves from 1
	Revision ids.Digest `json:"revision,omitempty"` // empty: it points nowhere since this move
	Contract ids.Digest `json:"contract,omitempty"` // in force when it was moved

	Base    ids.Digest `json:"base,omitempty"`
	Rank    int        `json:"rank,omitempty"`
	Alpha   float64    `json:"alpha,omitempty"`
	Targets []string   `json:"targets,omitempty"`

	Checkpoint ids.Digest   `json:"checkpoint,omitempty"` // latest, of training; never served
	Optimizer  ids.Digest   `json:"optimizer,omitempty"`  // its state; never served
	Rollouts   []string     `json:"rollouts,omitempty"`   // records of the log that it was trained on
	Exported   []ids.Digest `json:"exported,omitempty"`   // revisions that were exported of it

	Reason string    `json:"reason,omitempty"`
	By     string    `json:"by,omitempty"` // who moved it
	At     time.Time `json:"at"`
}

// Hold keeps a revision from being collected while somebody reads it.
type Hold struct {
	Owner    string
	Revision ids.Digest
	Holder   string
	Until    time.Time
}

// Aged is what a collection looks at in a revision.
type Aged struct {
	Seq       int64
	Hash      ids.Digest
	Parent    ids.Digest
	Created   time.Time
	Condemned time.Time // zero: it is not
}
