// Package ids makes the identifiers of what happens: a typed prefix and a ULID,
// so that they sort by time. What *is* (a file, a revision, a contract) is named
// by its content instead: Digest.
package ids

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/oklog/ulid/v2"

	"macaron/internal/clock"
	"macaron/internal/errs"
)

// Kind is the prefix of an identifier.
type Kind string

// The kinds of things that happen.
const (
	Session Kind = "ses"
	Turn    Kind = "trn"
	Hop     Kind = "hop"
	Record  Kind = "rec"
	Run     Kind = "run"
	Job     Kind = "job"
	Request Kind = "req"
	APIKey  Kind = "key"
)

// Source makes identifiers; it is safe for concurrent use and strictly rising
// within one millisecond.
type Source struct {
	mu      sync.Mutex
	clock   clock.Clock
	entropy *ulid.MonotonicEntropy
}

// NewSource makes a Source; a nil random reader means crypto/rand.
func NewSource(c clock.Clock, random io.Reader) *Source {
	if random == nil {
		random = rand.Reader
	}
	return &Source{clock: c, entropy: ulid.Monotonic(random, 0)}
}

// New returns the next identifier of a kind, such as "trn_01J...".
func (s *Source) New(k Kind) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return string(k) + "_" + ulid.MustNew(ulid.Timestamp(s.clock.Now()), s.entropy).String()
}

// Check reports whether s is an identifier of kind k.
func Check(k Kind, s string) error {
	rest, ok := strings.CutPrefix(s, string(k)+"_")
	if ok {
		if _, err := ulid.ParseStrict(rest); err == nil {
			return nil
		}
	}
	return errs.New(errs.InvalidRequest, "not a "+string(k)+" identifier", "it looks like "+string(k)+"_ and 26 letters and digits")
}

// TimeOf is when an identifier was made, to the millisecond; false for what is none.
func TimeOf(k Kind, s string) (time.Time, bool) {
	if Check(k, s) != nil {
		return time.Time{}, false
	}
	u, err := ulid.ParseStrict(strings.TrimPrefix(s, string(k)+"_"))
	return u.Timestamp().UTC(), err == nil
}

// From is the least identifier of a kind that can be made at a time.
func From(k Kind, t time.Time) string {
	var u ulid.ULID
	_ = u.SetTime(ulid.Timestamp(t)) // fails beyond the year 10889 only
	return string(k) + "_" + u.String()
}

// Digest names content: "sha256:" and 64 hex digits. The zero value names nothing.
type Digest string

// DigestOf hashes content.
func DigestOf(b []byte) Digest {
	sum := sha256.Sum256(b)
	return Digest("sha256:" + hex.EncodeToString(sum[:]))
}

// ParseDigest is the only way from outside text to a Digest, so that one can
// safely become part of a path.
func ParseDigest(s string) (Digest, error) {
	rest, ok := strings.CutPrefix(s, "sha256:")
	if raw, err := hex.DecodeString(rest); !ok || err != nil || len(raw) != sha256.Size || strings.ToLower(rest) != rest {
		return "", errs.New(errs.InvalidRequest, "not a SHA-256 digest", "it is sha256: and 64 lower-case hex digits")
	}
	return Digest(s), nil
}

// Hex returns the 64 hex digits.
func (d Digest) Hex() string { return strings.TrimPrefix(string(d), "sha256:") }

// Short returns the first 12 hex digits, for people.
func (d Digest) Short() string {
	if h := d.Hex(); len(h) >= 12 {
		return h[:12]
	}
	return ""
}
