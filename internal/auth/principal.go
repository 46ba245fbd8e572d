// Package auth knows who asks: API keys, of which only digests are kept, the one place that reads
// credentials out of a request, and the principal that a request acts for.
package auth

import (
	"context"
	"net/http"
	"slices"
)

// Local is the tenant of a server without keys: whoever is on this machine.
const Local = "local"

// Principal is whom a request acts for.
type Principal struct {
	Owner  string  // tenant: a term of every query
	KeyID  string  // of the key that was shown; "" on a server without keys
	Scopes []Scope // what it may do
}

// Anybody is the principal of a server without keys: it may do everything.
func Anybody() Principal { return Principal{Owner: Local, Scopes: Scopes()} }

// Can reports whether the principal has a scope. Any is held by everybody who is known.
func (p Principal) Can(s Scope) bool {
	return s == Any && p.Owner != "" || slices.Contains(p.Scopes, s)
}

type place struct{}

// With puts the principal into a request's context.
func With(ctx context.Context, p Principal) context.Context {
	return context.WithValue(ctx, place{}, p)
}

// Of gives the principal of a request. Without one it is nobody, who owns nothing and may do
// nothing.
func Of(ctx context.Context) Principal {
	p, _ := ctx.Value(place{}).(Principal)
	return p
}

// Owner gives the tenant of a request; "" is refused by every query.
func Owner(r *http.Request) string { return Of(r.Context()).Owner }
