package filter

import (
	"time"

	"macaron/internal/ids"
	"macaron/internal/record"
)

// Line is a row as trainers read it: docs/formats/recipe.md, Rows.
type Line struct {
	Messages []Message `json:"messages,omitempty"`
	Train    []int     `json:"train,omitempty"` // which messages are learned
	Tokens   []int32   `json:"tokens,omitempty"`
	Weights  []float32 `json:"weights,omitempty"` // 1 where the model spoke
	Group    string    `json:"group,omitempty"`   // of rows of tokens
}

// Message is one of its messages.
type Message struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

// Provenance is where a row comes from and what was done to it.
type Provenance struct {
	Row           ids.Digest     `json:"row"` // of the line's bytes, without its end
	Split         string         `json:"split"`
	Line          int            `json:"line"` // of the split's file, from 1
	Owner         string         `json:"owner"`
	Session       string         `json:"session"`
	Root          string         `json:"root"` // the first session of its family
	Turn          string         `json:"turn,omitempty"`
	Run           string         `json:"run,omitempty"`
	Hops          []string       `json:"hops"`
	Spans         []Span         `json:"spans,omitempty"` // what of the row which of these said
	Shows         []string       `json:"shows,omitempty"` // turns before, which the row shows
	Contract      ids.Digest     `json:"contract"`
	Revision      ids.Digest     `json:"revision"`
	Adapter       string         `json:"adapter"`
	Purpose       record.Purpose `json:"purpose"`
	Consent       record.Consent `json:"consent"`
	ConsentRecord string         `json:"consent_record"` // that begins the turn or the run, and carries the consent
	Time          time.Time      `json:"time"`
	Filter        string         `json:"filter"`
	Changes       []string       `json:"changes"` // in the order in which they were made
	PII           map[string]int `json:"pii,omitempty"`
	Language      string         `json:"language"`
	Chars         int            `json:"chars"`
	Cards         []CardLabel    `json:"cards,omitempty"`
	Tokens        int            `json:"tokens,omitempty"`
	Family        string         `json:"family"`             // rows of one family are on one side of the split
	Logprobs      []float32      `json:"logprobs,omitempty"` // as served, of the tokens with weight 1; 0 elsewhere
}

// Span is what one call of the model said of a row: of the messages, or of the tokens where
// the row has these, those from From to before To.
type Span struct {
	Hop  string `json:"hop"`
	From int    `json:"from"`
	To   int    `json:"to"`
}

// CardLabel is what became of a card of the answer: a label of the row. What the model saw
// of Actions is the text of later turns, and stands in their rows.
type CardLabel struct {
	Surface  string         `json:"surface"`
	Revision ids.Digest     `json:"revision"`
	Outcome  string         `json:"outcome"` // completed, abandoned, edited, errored; none
	Rounds   int            `json:"rounds,omitempty"`
	Actions  map[string]int `json:"actions,omitempty"` // receipts by outcome: sent, kept, refused
}

// Dropped is what did not become a row, without its content.
type Dropped struct {
	Owner   string `json:"owner"`
	Session string `json:"session"`
	Turn    string `json:"turn,omitempty"`
	Run     string `json:"run,omitempty"`
	Reason  string `json:"reason"`
	Detail  string `json:"detail,omitempty"`
}

// The reasons, in the order in which they are looked at.
var Reasons = []string{
	"purpose", "consent", "deleted", "unfinished", "several_specialists", "no_view", "failed_run", "tool_calls", "not_text", "no_tokens", "correction", "negative_feedback", "no_card", "card_outcome",
	"too_long", "too_short", "truncated", "tool_error", "refusal", "repetition", "language", "contaminated_ngram", "contaminated_overlap", "contaminated_embedding", "pii", "duplicate", "near_duplicate",
}
