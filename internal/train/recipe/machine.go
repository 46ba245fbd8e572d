package recipe

import (
	"context"

	"macaron/internal/chat"
	"macaron/internal/clock"
	"macaron/internal/engine/lora"
	"macaron/internal/train"
)

// Machine is what a recipe runs on.
type Machine struct {
	Passes  train.Passes
	Base    lora.Shape
	Context int // most tokens of a row
	Clock   clock.Clock

	// Encode gives the tokens of a conversation by the model's own template, with the
	// beginning of an answer if open.
	Encode func(messages []chat.Message, open bool) ([]int32, error)
	Decode func(tokens []int32) string
	// Load reads an adapter's directory or file.
	Load func(path string) (*lora.Adapter, error)
	// Sample answers prompts in parallel, each with its own seed, by an adapter; nil is the base.
	Sample func(ctx context.Context, a *lora.Adapter, prompts []Prompt) ([]Answer, error)
	// Top gives, for every token of a conversation but the first, the likeliest n tokens at
	// its place with their log probabilities.
	Top func(ctx context.Context, a *lora.Adapter, tokens []int32, n int) ([][]Likely, error)
	// Command runs a program in the sandbox with a text as its input, and gives its output.
	Command func(ctx context.Context, args []string, input string) (string, error)
}

// Prompt is a question to sample an answer to.
type Prompt struct {
	Tokens      []int32
	MaxTokens   int
	Temperature float64
	Seed        uint64
}

// Answer is what was sampled, the token that ended it included.
type Answer struct {
	Tokens   []int32
	Logprobs []float32 // under the model at temperature 1
}

// Likely is a token and its log probability.
type Likely struct {
	Token   int32
	Logprob float64
}
