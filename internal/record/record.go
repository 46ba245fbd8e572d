// Package record holds the typed records of the one append-only log. Everything
// that happens is a record; conversations, trajectories, training rows, metrics and
// pages are views of them. No I/O. The format is docs/formats/log.md.
package record

import (
	"encoding/json"
	"time"

	"macaron/internal/adapter"
	"macaron/internal/chat"
	"macaron/internal/ids"
	"macaron/internal/money"
)

// Purpose says why something ran. Training rows are exported from Production and
// Discovery only.
type Purpose string

// The purposes.
const (
	Production Purpose = "production"
	Evaluation Purpose = "evaluation"
	Discovery  Purpose = "discovery"
	Training   Purpose = "training"
	Replay     Purpose = "replay"
)

// Consent says what the person allowed the record to be used for.
type Consent string

// The consents; none is the default.
const (
	ConsentNone  Consent = "none"
	ConsentTrain Consent = "train"
)

// Head is what every record carries from the first one on.
type Head struct {
	Seq        int64      `json:"seq"` // given by the store, rising
	ID         string     `json:"id"`
	Owner      string     `json:"owner"` // tenant; "local" by default
	Session    string     `json:"session"`
	Run        string     `json:"run,omitempty"`
	Turn       string     `json:"turn,omitempty"`
	ParentTurn string     `json:"parent_turn,omitempty"`
	Request    string     `json:"request,omitempty"`
	Time       time.Time  `json:"time"`
	Contract   ids.Digest `json:"contract,omitempty"`
	Revision   ids.Digest `json:"revision,omitempty"`
	Purpose    Purpose    `json:"purpose"`
	Consent    Consent    `json:"consent"`
	Blob       *Blob      `json:"blob,omitempty"` // token ids and logprobs of a hop, or null
}

// Blob holds what a hop served: token ids and their natural-log probabilities,
// equal in length (Logps may be empty when unknown). Prompt is the ids that the hop's
// prompt has behind those of the hop that it continues: all, if it continues none.
type Blob struct {
	Tokens []int32   `json:"tokens"`
	Logps  []float32 `json:"logps,omitempty"`
	Prompt []int32   `json:"prompt,omitempty"`
}

// Record is a head and one body.
type Record struct {
	Head
	Body Body
	Text []byte `json:"-"` // of a record that is settled: the body as the log stores it
}

// Body is one of the kinds below.
type Body interface{ Kind() Kind }

// Kind names a body's type in the log.
type Kind string

// The kinds.
const (
	KindSessionOpened Kind = "session.opened"
	KindTurnOpened    Kind = "turn.opened"
	KindHop           Kind = "hop"
	KindToolResults   Kind = "tool.results"
	KindTurnClosed    Kind = "turn.closed"
	KindSummary       Kind = "summary"
	KindSummaryUsed   Kind = "summary.used"
	KindFeedback      Kind = "feedback"
	KindDeleted       Kind = "response.deleted"
	KindJoined        Kind = "turn.joined"
	KindCompacted     Kind = "view.compacted"
)

// SessionOpened starts a session. ForkedFrom is the turn of another session whose
// history this one shares, if any; Client is the `user` field and the key's scope.
type SessionOpened struct {
	ForkedFrom string `json:"forked_from,omitempty"`
	Root       string `json:"root"`  // the first session of the family
	Scope      string `json:"scope"` // key and `user`: recovery never crosses it
	Title      string `json:"title,omitempty"`
	Asked      *Asked `json:"asked,omitempty"` // of a session that was opened before its first turn
}

// TurnOpened starts a turn: the new messages since the parent turn. Imported are
// messages before them that no record owns, shown verbatim to every specialist.
type TurnOpened struct {
	System   []chat.Message  `json:"system,omitempty"`
	Imported []chat.Message  `json:"imported,omitempty"`
	Messages []chat.Message  `json:"messages"`
	Tools    []chat.ToolDef  `json:"tools,omitempty"`
	Choice   chat.ToolChoice `json:"tool_choice,omitzero"`
	Forced   string          `json:"forced,omitempty"` // adapter that the client asked for
	// Continued is set when the turn goes on from the tool calls of a sibling turn
	// that has gone on elsewhere, was retried or was left.
	Continued *Continued `json:"continued,omitempty"`
	Asked     *Asked     `json:"asked,omitempty"`
	Part      *PartOf    `json:"part,omitempty"`
	Pair      *Pair      `json:"pair,omitempty"`
}

// Pair says which pair of contract and revisions a turn began with, where a release is in
// force or on trial.
type Pair struct {
	Release ids.Digest `json:"release,omitempty"` // "": the contract's file and the policy records
	Trial   int64      `json:"trial,omitempty"`   // of the canary that was on trial then: the version of its alias; 0: none was
	Arm     string     `json:"arm,omitempty"`     // of the trial: ArmChampion or ArmCanary
}

// The arms of a trial.
const (
	ArmChampion = "champion"
	ArmCanary   = "canary"
)

// Asked is what a wire format must tell again of a request when its answer is asked for
// later. Only the room that wrote it reads Fields.
type Asked struct {
	API    string          `json:"api"` // the wire format's name
	Fields json.RawMessage `json:"fields,omitempty"`
}

// Continued is the part of a sibling turn that a turn shares: its adapter and its
// trace up to the tool calls that the client has seen.
type Continued struct {
	Turn    string           `json:"turn"`
	Adapter adapter.Revision `json:"adapter"`
	Trace   []chat.Message   `json:"trace"`
}

// HopKind is one model call of a turn.
type HopKind string

// The hops.
const (
	HopRoute   HopKind = "route"
	HopAnswer  HopKind = "answer"
	HopSummary HopKind = "summary"
	HopSplit   HopKind = "split" // plans which specialists answer a turn together
)

// Hop is one model call that ended, well or not.
type Hop struct {
	ID       string            `json:"id"`
	Hop      HopKind           `json:"hop"`
	Adapter  adapter.Revision  `json:"adapter"`
	Engine   chat.Engine       `json:"engine"`
	Usage    chat.Usage        `json:"usage"`
	Finish   chat.FinishReason `json:"finish,omitempty"`
	Message  *chat.Message     `json:"message,omitempty"` // what the model said (answer)
	Route    *RouteDecision    `json:"route,omitempty"`
	Sampling chat.Sampling     `json:"sampling,omitzero"`
	Error    string            `json:"error,omitempty"` // code of the failure
	Detail   string            `json:"detail,omitempty"`

	Continues string    `json:"continues,omitempty"` // the hop whose prompt and answer, by token ids, begin this one's prompt
	CostUSD   money.USD `json:"cost_usd,omitempty"`  // by the price table of the machine; 0 without one
}

// RouteDecision says which adapter was chosen and why.
type RouteDecision struct {
	Label         string             `json:"label"`
	Reason        string             `json:"reason"` // model, follow_up, forced, sticky, fallback, single, split
	Probabilities map[string]float64 `json:"probabilities,omitempty"`
	Error         string             `json:"error,omitempty"`     // why the fall-back was needed
	Preferred     string             `json:"preferred,omitempty"` // what the router named, where another was taken
	Offered       []string           `json:"offered,omitempty"`   // labels to choose from, where they are not all that the tenant has
	RankedBy      string             `json:"ranked_by,omitempty"` // what made the shortlist: lexical, embedding
	Earlier       []RouteContext     `json:"earlier,omitempty"`   // summaries that the prompt carried, oldest first
	User          string             `json:"user,omitempty"`      // of the tenant, whose adapters were to choose from
	Overlay       bool               `json:"overlay,omitempty"`   // the prompt was laid out for the answer to go on from
}

// RouteContext is a summary as the router saw it; later ones may take its place in the turn.
type RouteContext struct {
	Label string `json:"label,omitempty"` // of the adapter that answered; "" when nobody knows
	Text  string `json:"text"`
}

// ToolResults are the client's answers to the open calls of a turn.
type ToolResults struct {
	Messages []chat.Message  `json:"messages"`
	System   *[]chat.Message `json:"system,omitempty"` // the client's system texts, if they have changed
	Asked    *Asked          `json:"asked,omitempty"`
}

// Status is how a turn stands.
type Status string

// The statuses. Only a delivered turn is history; a turn awaiting tools stays open.
const (
	StatusOpen        Status = "open"
	StatusAwaiting    Status = "awaiting_tools"
	StatusDelivered   Status = "delivered"
	StatusInterrupted Status = "interrupted"
)

// TurnClosed changes a turn's status: delivered, interrupted, or awaiting tools
// (which tool results open again). It is committed before the client's terminal event.
type TurnClosed struct {
	Status Status `json:"status"`
	Reason string `json:"reason,omitempty"`
}

// The sources of a summary.
const (
	SummaryModel   = "model"   // the turn's own specialist wrote it
	SummaryExtract = "extract" // a clipped answer, for want of a model's
	SummaryParts   = "parts"   // those of its parts, of a turn that several specialists answered
)

// Summary is the stored summary of a delivered turn. The first text that any view
// used is final.
type Summary struct {
	Text   string `json:"text"`
	Source string `json:"source"` // SummaryModel, SummaryExtract or SummaryParts
	Error  string `json:"error,omitempty"`
}

// SummaryUsed marks that a view has used the turn's summary: it is final from here on.
type SummaryUsed struct {
	Text string `json:"text"`
}

// Feedback is a person's judgement of a turn: +1, -1, or 0 with a reason.
type Feedback struct {
	Score      int    `json:"score"`
	Reason     string `json:"reason,omitempty"`
	Correction string `json:"correction,omitempty"`
}

// Deleted says that an answer is not to be had again by its identifier. Its turn stays
// what it is: history of the turns behind it.
type Deleted struct {
	Response string `json:"response"`
}

// Kind implements Body.
func (Deleted) Kind() Kind { return KindDeleted }

// Kind implements Body.
func (SessionOpened) Kind() Kind { return KindSessionOpened }

// Kind implements Body.
func (TurnOpened) Kind() Kind { return KindTurnOpened }

// Kind implements Body.
func (Hop) Kind() Kind { return KindHop }

// Kind implements Body.
func (ToolResults) Kind() Kind { return KindToolResults }

// Kind implements Body.
func (TurnClosed) Kind() Kind { return KindTurnClosed }

// Kind implements Body.
func (Summary) Kind() Kind { return KindSummary }

// Kind implements Body.
func (SummaryUsed) Kind() Kind { return KindSummaryUsed }

// Kind implements Body.
func (Feedback) Kind() Kind { return KindFeedback }
