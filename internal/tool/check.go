package tool

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"macaron/internal/canonical"
	"macaron/internal/errs"
	"macaron/internal/ids"
)

// Bounds of a definition.
const (
	MaxDescription = 16 << 10
	MaxSchema      = 64 << 10
	MaxNoAI        = 64
	MaxRetries     = 10
	MaxTimeoutMS   = 3_600_000
	MaxCalls       = 1_000_000
)

// name is what every model API takes as the name of a function.
var name = regexp.MustCompile(`^[a-zA-Z_][a-zA-Z0-9_-]{0,63}$`)

// ValidName reports whether s can name a tool.
func ValidName(s string) bool { return name.MatchString(s) }

// Check refuses a definition that no gate could enforce. Whether the schemas are
// schemas is the gate's business.
func (d Def) Check() error {
	if !ValidName(d.Name) {
		return bad(d, "name", "a tool's name has 1 to 64 letters, digits, _ and -, and begins with a letter or _; this is "+errs.Clip(d.Name))
	}
	if !slices.Contains(Effects(), d.Effect) {
		return bad(d, "effect", fmt.Sprintf("the effect %q is not one of pure, read, write, irreversible", errs.Clip(string(d.Effect))))
	}
	for _, n := range []struct {
		field    string
		is, most int
	}{
		{"description", len(d.Description), MaxDescription}, {"parameters", len(d.Parameters), MaxSchema}, {"returns", len(d.Returns), MaxSchema},
		{"noai", len(d.NoAI), MaxNoAI}, {"retries", d.Retries, MaxRetries}, {"timeout_ms", d.TimeoutMS, MaxTimeoutMS}, {"max_calls", d.MaxCalls, MaxCalls},
	} {
		if n.is < 0 || n.is > n.most {
			return bad(d, n.field, fmt.Sprintf("%s is %d; it may be 0 to %d", n.field, n.is, n.most))
		}
	}
	for _, p := range d.NoAI {
		if _, err := parsePointer(p); err != nil {
			return bad(d, "noai", err.Error())
		}
	}
	return nil
}

func bad(d Def, field, message string) error {
	return errs.New(errs.InvalidRequest, "tool "+errs.Clip(d.Name)+": "+message, "correct its definition").In(field)
}

// Hash names a list of tools by everything that a model or the gate sees of them, in
// their order. Schemas count by their canonical form.
func Hash(defs []Def) (ids.Digest, error) { return canonical.Hash(append([]Def{}, defs...)) }

// parsePointer splits a JSON pointer (RFC 6901). As one extension the segment * stands
// for every member or element.
func parsePointer(p string) ([]string, error) {
	if p == "" {
		return nil, nil
	}
	if p[0] != '/' || len(p) > 256 {
		return nil, fmt.Errorf("%q is no JSON pointer such as /rows/*/email", errs.Clip(p))
	}
	segments := strings.Split(p[1:], "/")
	for i, s := range segments {
		segments[i] = strings.NewReplacer("~1", "/", "~0", "~").Replace(s)
	}
	return segments, nil
}

// object is the schema of no arguments.
var object = json.RawMessage(`{"type":"object","properties":{},"additionalProperties":false}`)

// Schema gives the schema of the arguments; a tool without one takes none.
func (d Def) Schema() json.RawMessage {
	if len(d.Parameters) == 0 {
		return object
	}
	return d.Parameters
}
