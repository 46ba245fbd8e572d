package auth

import (
	"net/http"
	"strings"

	"macaron/internal/errs"
)

// Credential gives the secret that a request shows, "" if it shows none. It is the one place that
// reads credentials: both headers come through here, so what holds for one holds for the other, and
// nothing is taken from the address or from cookies.
func Credential(h http.Header) (string, error) {
	bearer, err := one(h, "Authorization")
	if err != nil {
		return "", err
	}
	if bearer != "" {
		scheme, secret, ok := strings.Cut(bearer, " ")
		if secret = strings.TrimSpace(secret); !ok || !strings.EqualFold(scheme, "Bearer") || secret == "" {
			return "", unauthenticated("the Authorization header is not \"Bearer KEY\"")
		}
		bearer = secret
	}
	plain, err := one(h, "X-Api-Key")
	if err != nil {
		return "", err
	}
	if bearer != "" && plain != "" && bare(bearer) != bare(plain) {
		return "", unauthenticated("the headers Authorization and x-api-key show different keys")
	}
	if bearer == "" {
		bearer = plain
	}
	return bare(bearer), nil
}

// bare takes off what clients of the Tinker protocol want a key to begin with, as in
// tml-mk-... and sk-mint-mk-...: it is the same key.
func bare(secret string) string {
	for _, p := range []string{"tml-", "sk-mint-"} {
		if rest, ok := strings.CutPrefix(secret, p); ok && strings.HasPrefix(rest, prefix) {
			return rest
		}
	}
	return secret
}

// one reads a header that may stand once.
func one(h http.Header, name string) (string, error) {
	values := h.Values(name)
	if len(values) > 1 {
		return "", unauthenticated("the header " + name + " stands twice")
	}
	return strings.TrimSpace(h.Get(name)), nil
}

func unauthenticated(message string) *errs.Error {
	return errs.New(errs.Unauthenticated, message, "send one key as Authorization: Bearer KEY or as x-api-key: KEY")
}
