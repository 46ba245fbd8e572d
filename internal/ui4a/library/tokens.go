package library

import (
	_ "embed"
	"encoding/json"
	"sync"

	"macaron/internal/ids"
)

//go:embed tokens.json
var counted []byte

// Count is how many tokens Prompt has.
type Count struct {
	Prompt ids.Digest     `json:"prompt"` // of the text that was counted
	Tokens map[string]int `json:"tokens"` // by the name of the tokenizer
}

// Tokens gives the size of Prompt, as it was counted: no tokenizer is needed here. The
// caller must not change it.
var Tokens = sync.OnceValue(func() Count {
	var c Count
	if err := json.Unmarshal(counted, &c); err != nil {
		panic("tokens.json: " + err.Error()) // a test reads it
	}
	return c
})
