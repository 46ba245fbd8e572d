package action

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"macaron/internal/canonical"
	"macaron/internal/errs"
)

// nameForm is the form of names, keys and capabilities.
var nameForm = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_.-]*$`)

// IsName says whether a text can name an action, a key of state or a capability.
func IsName(s string) bool { return len(s) <= MaxName && nameForm.MatchString(s) }

// Read reads one Action that came from outside. Fields that are not known, given twice,
// of the wrong kind or over their bounds are refused (errs.InvalidRequest, errs.TooLarge).
// No value of the input is quoted in an error: it may be one that nobody may see.
func Read(text []byte) (Action, error) {
	var a Action
	if len(text) > MaxAction {
		return a, errs.New(errs.TooLarge, fmt.Sprintf("the Action has %d bytes, more than %d", len(text), MaxAction), "keep less in the keys that it reads")
	}
	if _, err := canonical.JSON(text); err != nil { // keys given twice, invalid UTF-8
		return a, refuse("", "the Action is no JSON object, or has a key twice")
	}
	if depth(text) > MaxDepth {
		return a, refuse("state", fmt.Sprintf("a value nests deeper than %d", MaxDepth))
	}
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&a); err != nil {
		return Action{}, refuse(unknownField(err), "the Action has a field that is not known or of the wrong kind")
	}
	return a, a.check()
}

// unknownField takes a field's name out of the decoder's error: the name only if it
// can be one, since the key too comes from outside.
func unknownField(err error) string {
	_, name, found := strings.Cut(err.Error(), "unknown field ")
	if name = strings.Trim(name, `"`); found && IsName(name) {
		return name
	}
	return ""
}

func refuse(field, message string) error {
	e := errs.New(errs.InvalidRequest, message, "docs/formats/ui4a-actions.md has the fields: id, origin, kind, name, text, state, execution, capability, visibility, time, sequence")
	e.Field = field
	return e
}

// check holds what the types alone do not say.
func (a Action) check() error {
	for _, rule := range []struct {
		holds bool
		field string
		says  string
	}{
		{strings.HasPrefix(a.ID, "act_") && len(a.ID) <= MaxName, "id", "id is act_ and a ULID"},
		{a.Origin.Surface != "" && len(a.Origin.Surface) <= 4*MaxName, "origin.surface", "the surface is missing or too long"},
		{a.Origin.Revision != "" && len(a.Origin.Revision) <= 2*MaxName, "origin.revision", "the revision is missing or too long"},
		{len(a.Origin.Node) <= MaxNode, "origin.node", "the node is too long"},
		{a.Kind == Message && a.Name == "" && a.Text != "" || a.Kind == Event && IsName(a.Name) && a.Text == "", "kind", "a message has a text and no name; an action has a name (letters, digits, _ . -) and no text"},
		{len(a.Text) <= MaxText, "text", fmt.Sprintf("the text is longer than %d bytes", MaxText)},
		{slices.Contains([]Execution{Local, AgentEvent, Capability}, a.Execution), "execution", "execution is local, event or host-capability"},
		{(a.Execution == Capability) == IsName(a.Capability) && (a.Execution == Capability || a.Capability == ""), "capability", "host-capability, and it alone, names a capability"},
		{a.Visibility.Audience == AI || a.Visibility.Audience == User, "visibility.audience", "audience is ai or user"},
		{len(a.Visibility.NoAI) <= MaxPointers, "visibility.noai", fmt.Sprintf("more than %d pointers", MaxPointers)},
		{len(a.State) <= MaxKeys, "state", fmt.Sprintf("more than %d keys", MaxKeys)},
		{a.Sequence > 0, "sequence", "sequence begins with 1"},
		{!a.Time.IsZero(), "time", "time is missing"},
	} {
		if !rule.holds {
			return refuse(rule.field, rule.says)
		}
	}
	return a.checkKeys()
}

func (a Action) checkKeys() error {
	for key := range a.State {
		if !IsName(key) {
			return refuse("state", "a key of the state is no name: letters, digits, _ . -")
		}
	}
	for _, p := range a.Visibility.NoAI {
		if _, err := parsePointer(p); err != nil {
			return err
		}
	}
	return nil
}

// depth is how deep the arrays and objects of a JSON text nest.
func depth(text []byte) int {
	deepest, now, quoted := 0, 0, false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			now++
			deepest = max(deepest, now)
		case c == '}' || c == ']':
			now--
		}
	}
	return deepest
}
