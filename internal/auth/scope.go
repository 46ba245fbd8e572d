package auth

import (
	"slices"
	"strings"

	"macaron/internal/errs"
)

// Scope is something that a key may do. No scope includes another.
type Scope string

// The closed set, and two that stand in route tables only.
const (
	Chat     Scope = "chat"     // ask for answers and routing decisions; see models
	Read     Scope = "read"     // see the tenant's stored conversations and adapters
	Feedback Scope = "feedback" // judge answers
	Runs     Scope = "runs"     // start runs of tasks, resume and cancel them
	Train    Scope = "train"    // train adapters, sample from them, keep checkpoints
	Approve  Scope = "approve"  // say yes or no to calls of runs that wait for a person
	Publish  Scope = "publish"  // say which revision of an adapter is served
	Admin    Scope = "admin"    // what concerns the whole server
	Metrics  Scope = "metrics"  // read the metrics of the whole server

	Any    Scope = "any"    // whatever the key may do otherwise
	Public Scope = "public" // no key is asked for
)

// Scopes lists what keys can have.
func Scopes() []Scope {
	return []Scope{Chat, Read, Feedback, Runs, Train, Approve, Publish, Admin, Metrics}
}

// ParseScopes reads a list such as "chat,read".
func ParseScopes(list string) ([]Scope, error) {
	var out []Scope
	for _, word := range strings.Split(list, ",") {
		s := Scope(strings.TrimSpace(word))
		if !slices.Contains(Scopes(), s) {
			return nil, errs.New(errs.InvalidRequest, "there is no scope \""+errs.Clip(string(s))+"\"", "use some of "+join(Scopes())).In("scopes")
		}
		if !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return out, nil
}

func join(all []Scope) string {
	words := make([]string, len(all))
	for i, s := range all {
		words[i] = string(s)
	}
	return strings.Join(words, ", ")
}
