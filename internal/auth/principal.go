// Package auth knows who asks: API keys, of which only digests are kept, the one place that reads
// credentials out of a request, and the principal that a request acts for.
package auth

import (
	"context"
	"net/http"
	"slices"
	"time"

	"macaron/internal/errs"
	"macaron/internal/limits"
	"macaron/internal/record"
)

// Local is the tenant of a server without keys: whoever is on this machine.
const Local = "local"

// Principal is whom a request acts for.
type Principal struct {
	Owner    string   // tenant: a term of every query
	User     string   // of the tenant, whom the key is of or its trusted holder names; "": nobody in particular
	Trusted  bool     // the holder may name users
	KeyID    string   // of the key that was shown; "" on a server without keys
	Scopes   []Scope  // what it may do
	Adapters []string // that may answer; none: all

	accounts []*limits.Account // the key's and its tenant's
}

// Anybody is the principal of a server without keys: it may do everything.
func Anybody() Principal { return Principal{Owner: Local, Scopes: Scopes()} }

// Can reports whether the principal has a scope. Any is held by everybody who is known.
func (p Principal) Can(s Scope) bool {
	return s == Any && p.Owner != "" || slices.Contains(p.Scopes, s)
}

// Request takes one request from the key and its tenant. Left is of the one that has fewer.
func (p Principal) Request(now time.Time) (left limits.Left, err error) {
	for _, a := range p.accounts {
		l, refused := a.Request(now)
		left = tighter(left, l)
		if refused != nil {
			return left, refused
		}
	}
	return left, nil
}

// tighter joins what two accounts have left, for each bound the lower.
func tighter(a, b limits.Left) limits.Left {
	if b.Quota.Requests > 0 && (a.Quota.Requests == 0 || b.Requests < a.Requests) {
		a.Quota.Requests, a.Requests, a.ResetRequests = b.Quota.Requests, b.Requests, b.ResetRequests
	}
	if b.Quota.Tokens > 0 && (a.Quota.Tokens == 0 || b.Tokens < a.Tokens) {
		a.Quota.Tokens, a.Tokens, a.ResetTokens = b.Quota.Tokens, b.Tokens, b.ResetTokens
	}
	return a
}

// Enter begins a turn on the accounts of the key and its tenant; leave must be called once.
func (p Principal) Enter(now time.Time) (leave func(), err error) {
	var entered []func()
	leave = func() {
		for _, f := range entered {
			f()
		}
	}
	for _, a := range p.accounts {
		f, err := a.Enter(now)
		if err != nil {
			leave()
			return nil, err
		}
		entered = append(entered, f)
	}
	return leave, nil
}

// Spend counts what a model call of this principal used.
func (p Principal) Spend(now time.Time, s record.Spent) {
	for _, a := range p.accounts {
		a.Spend(now, s)
	}
}

// As is the principal for a request whose header names a user, "" if none does. Only whom the
// operator trusts with that may name another than the key's own.
func (p Principal) As(user string) (Principal, error) {
	if user == "" || user == p.User {
		return p, nil
	}
	if !p.Trusted {
		return p, errs.New(errs.Forbidden, "this key may not act for other users", "leave "+UserHeader+" out, or use a key that was made with --trust-user").In(UserHeader)
	}
	if err := CheckUser(user); err != nil {
		return p, errs.As(err).In(UserHeader)
	}
	p.User = user
	return p, nil
}

// Acts tells which user a request acts for whose body names one (`user`, `metadata.user_id`),
// and the scope within which its conversations are found again. What a body says is a scope
// within the key's user; it is a user only where the operator trusts whoever says it.
func (p Principal) Acts(named string) (user, scope string) {
	switch {
	case p.User != "" && named != "" && named != p.User:
		return p.User, p.User + "/" + named
	case p.User != "":
		return p.User, p.User
	case p.Trusted:
		return named, named
	}
	return "", named
}

// UserHeader names the user that a request acts for.
const UserHeader = "X-Macaron-User"

// May reports whether an adapter may answer to the principal.
func (p Principal) May(adapter string) bool {
	return len(p.Adapters) == 0 || slices.Contains(p.Adapters, adapter)
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

// Acting is Acts for a request.
func Acting(r *http.Request, named string) (user, scope string) { return Of(r.Context()).Acts(named) }
