package mint

import (
	"encoding/json"
	"time"

	"macaron/internal/ids"
	"macaron/internal/train"
)

// Base is a model that adapters are trained and sampled on.
type Base struct {
	Name       string   // public, such as HuggingFaceTB/SmolLM2-135M-Instruct
	Also       []string // other names of it
	Tokenizer  string   // what a client's tokenizer loader is given: a public name or a directory
	MaxContext int      // positions of a sequence
	Trainable  bool
	Sampleable bool
}

// NewSession is what a client says of itself when it begins.
type NewSession struct {
	Tags        []string        `json:"tags,omitempty"`
	Metadata    json.RawMessage `json:"user_metadata,omitempty"`
	SDK         string          `json:"sdk_version,omitempty"`
	Project     string          `json:"project_id,omitempty"`
	DisplayName string          `json:"display_name,omitempty"`
}

// Session is a client's. It ends when the client says so or is silent for too long.
type Session struct {
	ID    string
	Owner string
	NewSession
	Created time.Time
	Seen    time.Time // its last request
	Ended   time.Time // zero while it lives
	Reason  Reason
	Detail  string
}

// Reason says why a session ended.
type Reason string

// The reasons: the client's own three, and silence.
const (
	Success     Reason = "success"
	Errored     Reason = "errored"
	Interrupted Reason = "interrupted"
	Expired     Reason = "expired"
)

// Model is an adapter under training: a training run.
type Model struct {
	ID        string // <session>:train:<n>
	Owner     string
	Session   string
	Base      string
	Spec      train.Spec
	Metadata  json.RawMessage
	Created   time.Time
	Used      time.Time
	Steps     int64 // optimizer steps that are committed
	Unloaded  bool
	Corrupted bool // its state is lost; its checkpoints are not
	Training  *Checkpoint
	Sampling  *Checkpoint // the last of each kind, where there is one
}

// Sampler is what samples come from: a base, a checkpoint, or a state of a model under
// training.
type Sampler struct {
	ID      string
	Owner   string
	Session string
	Base    string
	Path    string // of its checkpoint; empty for a base and for a state that was not saved
	Created time.Time
}

// Kind is a kind of checkpoint, as it stands in its path.
type Kind string

// The kinds.
const (
	Training Kind = "weights"          // masters and moments of the optimizer
	Sampling Kind = "sampler_weights"  // an exported adapter
	External Kind = "external_weights" // an exported adapter, for download
)

// Checkpoint is a saved state of a training run: tinker://<run>/<kind>/<name>.
type Checkpoint struct {
	Path     string
	Run      string
	Kind     Kind
	Name     string
	Owner    string
	Base     string
	Spec     train.Spec
	Created  time.Time
	Bytes    int64
	Public   bool // other owners may read it
	Metadata json.RawMessage
	Revision ids.Digest // of the catalogue, where it was taken in
	Expires  time.Time  // zero: never
}

// Page is a part of a list, the newest first.
type Page struct {
	Limit, Offset int
}

// Copy makes another checkpoint of the same state, in a new run of a session.
type Copy struct {
	Source   string
	Session  string
	ModelSeq int64
	TTL      time.Duration
}
