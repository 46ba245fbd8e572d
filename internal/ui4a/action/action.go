// Package action holds the contract under which a card's gestures reach anybody: the
// Action, what of it a model may see, and a receipt that says what it saw. The view for
// a model is built from an allow-list: what a card's source does not declare is not
// sent. Values marked NoAI leave by no outlet (docs/formats/ui4a-actions.md says which
// covert channels a hostile card keeps). Pure.
package action

import (
	"encoding/json"
	"time"
)

// Kind says what a gesture gives.
type Kind string

// The kinds.
const (
	Message Kind = "message" // a text, as if the person had written it
	Event   Kind = "action"  // a name, and the state that it reads
)

// Execution says who carries an Action out.
type Execution string

// The executions.
const (
	Local      Execution = "local"           // a function of the card: it is told to nobody
	AgentEvent Execution = "event"           // the model answers it, as a turn
	Capability Execution = "host-capability" // the host does what Capability names
)

// Audience says who may see an Action at all.
type Audience string

// The audiences.
const (
	AI   Audience = "ai"   // the person and, as far as declared, the model
	User Audience = "user" // the person alone
)

// Action is one gesture of a person on a card. Identity, origin, sequence and state are
// the host's: a card chooses the name, the text and the keys that are read.
type Action struct {
	ID         string                     `json:"id"` // act_ and a ULID
	Origin     Origin                     `json:"origin"`
	Kind       Kind                       `json:"kind"`
	Name       string                     `json:"name,omitempty"` // of an action
	Text       string                     `json:"text,omitempty"` // of a message
	State      map[string]json.RawMessage `json:"state"`          // the values of the keys that it reads
	Execution  Execution                  `json:"execution"`
	Capability string                     `json:"capability,omitempty"`
	Visibility Visibility                 `json:"visibility"`
	Time       time.Time                  `json:"time"`
	Sequence   int64                      `json:"sequence"` // from 1, rising within a surface
}

// Origin is where an Action comes from.
type Origin struct {
	Surface  string `json:"surface"`
	Revision string `json:"revision"`       // the hash of the card's source
	Node     string `json:"node,omitempty"` // what was touched, in the card's own words; never shown to a model
}

// Visibility bounds who sees what of an Action's state.
type Visibility struct {
	Audience Audience `json:"audience"`
	NoAI     []string `json:"noai,omitempty"` // JSON pointers into state, such as /account/number
}
