package fleet

import (
	"errors"
	"strings"
	"time"

	"macaron/internal/errs"
)

// broken reports whether an error tells of an engine that is not well, rather than of
// a request that it does not want or of settings that are wrong, which a pause does not mend.
func broken(err error) bool {
	var l interface{ Lasting() bool }
	if errors.As(err, &l) && l.Lasting() {
		return false
	}
	return faulty(err)
}

// faulty: the engine is at fault, or how it was set up.
func faulty(err error) bool {
	switch errs.CodeOf(err) {
	case errs.UpstreamUnavailable, errs.UpstreamFailed, errs.Internal:
		return true
	}
	return false
}

// elsewhere reports whether another engine may do better: the request itself was not at fault.
func elsewhere(err error) bool { return faulty(err) || errs.CodeOf(err) == errs.Overloaded }

// failures are what the engines said that were asked in vain.
type failures struct {
	last  error
	names []string
	wait  time.Duration // the shortest that was told
}

func (f *failures) add(err error) {
	f.last = err
	f.sooner(errs.As(err).RetryAfter)
}

// closed notes an engine whose breaker let nothing pass.
func (f *failures) closed(m *member, wait time.Duration) {
	f.names = append(f.names, m.Name)
	f.sooner(wait)
}

func (f *failures) sooner(wait time.Duration) {
	if wait > 0 && (f.wait == 0 || wait < f.wait) {
		f.wait = wait
	}
}

// result is the last error, with the shortest wait that any engine told.
func (f *failures) result() error {
	if f.last == nil {
		return &errs.Error{Code: errs.UpstreamUnavailable, Message: "the engine failed several times in a row and is left alone for a while: " + strings.Join(f.names, ", "),
			Next: "try again later", RetryAfter: f.wait}
	}
	e := *errs.As(f.last)
	if f.wait > 0 {
		e.RetryAfter = f.wait
	}
	return &e
}
