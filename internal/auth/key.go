package auth

import (
	"crypto/rand"
	"encoding/base64"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"macaron/internal/adapter"
	"macaron/internal/errs"
	"macaron/internal/ids"
	"macaron/internal/limits"
)

// A secret is "mk-" and 256 random bits in base64url. It is shown once, when it is made; what is
// kept is its SHA-256, which cannot be turned back: there are too many secrets to try.
const (
	prefix     = "mk-"
	secretBits = 256
)

var secretLength = len(prefix) + base64.RawURLEncoding.EncodedLen(secretBits/8)

// Key is what is kept of a key.
type Key struct {
	ID       string       `toml:"id" json:"id"`
	Name     string       `toml:"name,omitempty" json:"name,omitempty"` // for people
	Digest   ids.Digest   `toml:"digest" json:"-"`                      // of the secret
	Tenant   string       `toml:"tenant" json:"tenant"`
	User     string       `toml:"user,omitempty" json:"user,omitempty"`             // of the tenant, whose key it is
	Trusted  bool         `toml:"trust_user,omitempty" json:"trust_user,omitempty"` // its holder knows the tenant's users, and names them
	Scopes   []Scope      `toml:"scopes" json:"scopes"`
	Adapters []string     `toml:"adapters,omitempty" json:"adapters,omitempty"` // that may answer; none: all
	Created  time.Time    `toml:"created" json:"created"`
	Expires  time.Time    `toml:"expires,omitempty" json:"expires,omitzero"` // zero: never
	Revoked  time.Time    `toml:"revoked,omitempty" json:"revoked,omitzero"` // zero: not
	Disabled bool         `toml:"disabled,omitempty" json:"disabled,omitempty"`
	Limits   limits.Quota `toml:"limits,omitempty" json:"limits,omitzero"`
}

// Tenant bounds all keys of a tenant together.
type Tenant struct {
	Name   string       `toml:"name" json:"name"`
	Limits limits.Quota `toml:"limits" json:"limits"`
}

// NewSecret makes a secret.
func NewSecret() string {
	var b [secretBits / 8]byte
	_, _ = rand.Read(b[:]) // never fails
	return prefix + base64.RawURLEncoding.EncodeToString(b[:])
}

// digestOf is what is kept of a secret.
func digestOf(secret string) ids.Digest { return ids.DigestOf([]byte(secret)) }

// wellFormed reports whether a text could be a secret, so that nothing else is looked up.
func wellFormed(s string) bool {
	rest, ok := strings.CutPrefix(s, prefix)
	_, err := base64.RawURLEncoding.DecodeString(rest)
	return ok && err == nil && len(s) == secretLength
}

// Check refuses a key that this program would not have made.
func (k Key) Check() error {
	if err := ids.Check(ids.APIKey, k.ID); err != nil {
		return errs.As(err).In("id")
	}
	if _, err := ids.ParseDigest(string(k.Digest)); err != nil {
		return errs.As(err).In("digest")
	}
	if err := CheckTenant(k.Tenant); err != nil {
		return err
	}
	switch {
	case k.User == "":
	case k.Trusted:
		return errs.New(errs.InvalidRequest, "a key is one user's or its holder names users, not both", "leave one out").In("user")
	default:
		if err := CheckUser(k.User); err != nil {
			return err
		}
	}
	if len(k.Name) > limits.NameBytes {
		return errs.New(errs.TooLarge, "the name is too long", "use at most 256 bytes").In("name")
	}
	if len(k.Scopes) == 0 {
		return errs.New(errs.InvalidRequest, "the key has no scope", "use some of "+join(Scopes())).In("scopes")
	}
	for _, s := range k.Scopes {
		if _, err := ParseScopes(string(s)); err != nil {
			return err
		}
	}
	for _, a := range k.Adapters {
		if err := adapter.CheckName(a); err != nil {
			return err
		}
	}
	return k.Limits.Check()
}

// CheckTenant refuses names that are no tenant's.
func CheckTenant(name string) error {
	bad := strings.IndexFunc(name, func(c rune) bool {
		return !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.ContainsRune("_-.@", c))
	})
	if name == "" || len(name) > 64 || bad >= 0 || strings.ContainsRune("_-.@", rune(name[0])) {
		return errs.New(errs.InvalidRequest, "\""+errs.Clip(name)+"\" is not the name of a tenant", "use a letter or digit and then up to 63 of A-Z a-z 0-9 _ - . @").In("tenant")
	}
	return nil
}

// CheckUser refuses what cannot be a user's name.
func CheckUser(name string) error {
	bad := !utf8.ValidString(name) || strings.TrimSpace(name) != name || strings.ContainsFunc(name, unicode.IsControl)
	if name == "" || len(name) > limits.NameBytes || bad {
		return errs.New(errs.InvalidRequest, "\""+errs.Clip(name)+"\" is not the name of a user", "use 1 to 256 bytes of UTF-8 without control characters, and no white space at the ends").In("user")
	}
	return nil
}

// state tells whether a key may be used.
func (k *Key) state(now time.Time) *errs.Error {
	switch {
	case !k.Revoked.IsZero() && !now.Before(k.Revoked):
		return errs.New(errs.Unauthenticated, "this key was revoked", "ask the operator for another one")
	case !k.Expires.IsZero() && !now.Before(k.Expires):
		return errs.New(errs.Unauthenticated, "this key has expired", "ask the operator for another one")
	case k.Disabled:
		return errs.New(errs.Unauthenticated, "this key is switched off", "ask the operator")
	}
	return nil
}

// State names it for people: active, revoked, expired or disabled.
func (k *Key) State(now time.Time) string {
	switch {
	case !k.Revoked.IsZero() && !now.Before(k.Revoked):
		return "revoked"
	case !k.Expires.IsZero() && !now.Before(k.Expires):
		return "expired"
	case k.Disabled:
		return "disabled"
	}
	return "active"
}
