package contract

import (
	"strconv"
	"strings"

	"macaron/internal/chat"
)

// MaxParts bounds the specialists of one turn.
const MaxParts = 4

// The ways to plan a split.
const (
	SplitByPieces = "pieces" // the request's sentences and clauses are routed one by one
	SplitByModel  = "model"  // the router writes the plan, held to its JSON schema
)

// Split says that a turn with several intents is answered by several specialists. A
// contract without it gives every turn to exactly one.
type Split struct {
	Parts          int     `toml:"parts" json:"parts" rule:"need range=2..4"`                          // specialists of one turn, at most
	By             string  `toml:"by" json:"by" rule:"need one=pieces|model"`                          // who plans: SplitByPieces or SplitByModel
	MinProbability float64 `toml:"min_probability" json:"min_probability,omitempty" rule:"range=0..1"` // of a piece's label; a less sure piece belongs to the one before it
	Prompt         string  `toml:"prompt" json:"prompt,omitempty"`                                     // of SplitByModel: {{adapters}}, {{parts}}
	Tokens         int     `toml:"tokens" json:"tokens,omitempty" rule:"range=1..1048576"`             // of SplitByModel: of the plan
}

func (c *Contract) checkSplit() error {
	s := c.Split
	switch {
	case s == nil:
		return nil
	case s.By == SplitByPieces && (s.Prompt != "" || s.Tokens != 0):
		return bad("split.prompt", "split.prompt and split.tokens are for split.by = \"model\"")
	case s.By == SplitByModel && s.Tokens == 0:
		return bad("split.tokens", "split.tokens is missing; split.by = \"model\" needs it")
	case s.By == SplitByModel:
		return holes(hole{"split.prompt", s.Prompt, "{{adapters}}"})
	}
	return nil
}

// PlanPrompt is the prompt that asks for a plan of a request over these labels: the
// contract's instruction with their descriptions, and the request as quoted data.
func (c *Contract) PlanPrompt(request string, labels []string) []chat.Message {
	system := strings.TrimSpace(expand(c.Split.Prompt, "{{adapters}}", c.describe(labels, ": "), "{{parts}}", strconv.Itoa(c.Split.Parts)))
	return []chat.Message{chat.Text(chat.System, system), chat.Text(chat.User, c.RouteUser(request, nil))}
}
