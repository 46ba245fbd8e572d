package contract

import (
	"fmt"
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
	Parts          int     `toml:"parts" json:"parts"`                               // specialists of one turn, at most
	By             string  `toml:"by" json:"by"`                                     // who plans: SplitByPieces or SplitByModel
	MinProbability float64 `toml:"min_probability" json:"min_probability,omitempty"` // of a piece's label; a less sure piece belongs to the one before it
	Prompt         string  `toml:"prompt" json:"prompt,omitempty"`                   // of SplitByModel: {{adapters}}, {{parts}}
	Tokens         int     `toml:"tokens" json:"tokens,omitempty"`                   // of SplitByModel: of the plan
}

func (c *Contract) checkSplit() error {
	s := c.Split
	if s == nil {
		return nil
	}
	if err := bounds(count{"split.parts", s.Parts, 2, MaxParts}); err != nil {
		return err
	}
	if !(s.MinProbability >= 0 && s.MinProbability <= 1) {
		return bad("split.min_probability", "split.min_probability must be from 0 to 1")
	}
	switch s.By {
	case SplitByPieces:
		if s.Prompt != "" || s.Tokens != 0 {
			return bad("split.prompt", "split.prompt and split.tokens are for split.by = \"model\"")
		}
		return nil
	case SplitByModel:
	default:
		return bad("split.by", fmt.Sprintf("split.by is %q; use %q or %q", s.By, SplitByPieces, SplitByModel))
	}
	if !strings.Contains(s.Prompt, "{{adapters}}") {
		return bad("split.prompt", "split.prompt must contain {{adapters}}")
	}
	return bounds(count{"split.tokens", s.Tokens, 1, MaxTokens})
}

// PlanPrompt is the prompt that asks for a plan of a request over these labels: the
// contract's instruction with their descriptions, and the request as quoted data.
func (c *Contract) PlanPrompt(request string, labels []string) []chat.Message {
	system := strings.TrimSpace(expand(c.Split.Prompt, "{{adapters}}", c.describe(labels), "{{parts}}", strconv.Itoa(c.Split.Parts)))
	return []chat.Message{chat.Text(chat.System, system), chat.Text(chat.User, c.RouteUser(request, nil))}
}
