package chat

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
)

// Offered gives the tools that a model may call under this choice.
func (c ToolChoice) Offered(tools []ToolDef) []ToolDef {
	switch c.Mode {
	case "none":
		return nil
	case "function":
		for _, t := range tools {
			if t.Name == c.Name {
				return []ToolDef{t}
			}
		}
	}
	return tools
}

// Callable are the offered tools that an answer may call.
func (c ToolChoice) Callable(tools []ToolDef) []ToolDef {
	if len(c.Without) == 0 {
		return c.Offered(tools)
	}
	var out []ToolDef
	for _, t := range c.Offered(tools) {
		if !slices.Contains(c.Without, t.Name) {
			out = append(out, t)
		}
	}
	return out
}

// Formatted reports whether the answer is asked for in a format, beyond plain text.
func (s Sampling) Formatted() bool {
	if len(s.ResponseFormat) == 0 || string(s.ResponseFormat) == "null" {
		return false
	}
	var f struct {
		Type string `json:"type"`
	}
	return json.Unmarshal(s.ResponseFormat, &f) != nil || f.Type != "text"
}

// Quote writes s as a JSON string, without the escapes that are for HTML only.
func Quote(s string) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(s); err != nil { // a string always encodes
		return `""`
	}
	return strings.TrimSuffix(b.String(), "\n")
}
