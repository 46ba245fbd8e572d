// Package obs is the only room that knows telemetry libraries: the operator's log
// with secrets struck out, and the metrics. Conversations never pass through it.
package obs

import (
	"fmt"
	"io"
	"log/slog"
	"regexp"
	"strings"
	"sync"

	"macaron/internal/ids"
)

// NewLog makes the operator's log: level is debug, info, warn or error; format is
// text or json. Attributes named like credentials, and text that looks like one,
// are struck out.
func NewLog(w io.Writer, level, format string) *slog.Logger {
	return NewLogAt(w, Level(level), format)
}

// Level reads a word for a level; what is none is info.
func Level(word string) slog.Level {
	var l slog.Level
	if err := l.UnmarshalText([]byte(word)); err != nil {
		l = slog.LevelInfo
	}
	return l
}

// NewLogAt is NewLog with a level that may change.
func NewLogAt(w io.Writer, l slog.Leveler, format string) *slog.Logger {
	opts := &slog.HandlerOptions{Level: l, ReplaceAttr: redact}
	if format == "json" {
		return slog.New(slog.NewJSONHandler(w, opts))
	}
	return slog.New(slog.NewTextHandler(w, opts))
}

// Discard is a log that keeps nothing, for tests and embedders that want none.
func Discard() *slog.Logger { return slog.New(slog.DiscardHandler) }

var (
	secretKey = regexp.MustCompile(`(?i)(authorization|api[_-]?key|^key$|(^|_)token$|secret|password|cookie|credential|bearer)`)
	// A scheme and what follows; prefixes that providers give their keys; tokens of three parts (JWT); the user of
	// a URL; a parameter of a query.
	secretText = regexp.MustCompile(`(?i)(bearer\s+)\S+|\b(?:sk|mk|hf|gh[a-z]|github_pat|glpat|gsk|xox[a-z])[-_][A-Za-z0-9_-]{6,}|` +
		`\b(?-i:AKIA|ASIA)[0-9A-Z]{16}\b|\b(?-i:AIza)[A-Za-z0-9_-]{20,}|\b(?-i:eyJ)[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*|` +
		`(://)[^/@\s]+@|([?&](?:api_?key|token|key)=)[^&\s]+`)
)

const struck = "[redacted]"

func redact(_ []string, a slog.Attr) slog.Attr {
	if secretName(a.Key) {
		return slog.String(a.Key, struck)
	}
	switch v := a.Value.Any().(type) {
	case string:
		return slog.String(a.Key, Redact(v))
	case error:
		return slog.String(a.Key, Redact(v.Error()))
	default:
		if a.Value.Kind() == slog.KindAny { // lists and whatever else prints itself
			if text := fmt.Sprint(v); Redact(text) != text {
				return slog.String(a.Key, Redact(text))
			}
		}
	}
	return a
}

// names are the keys that were looked at: they stand in the code, so there are only so many.
var names sync.Map // string to bool

func secretName(key string) bool {
	if secret, known := names.Load(key); known {
		return secret.(bool)
	}
	secret := secretKey.MatchString(key)
	names.Store(key, secret)
	return secret
}

// Redact strikes out what looks like a credential inside a text.
func Redact(s string) string {
	if len(s) < 8 || !strings.ContainsAny(s, "-_:@= .") && !strings.HasPrefix(s, "A") {
		return s
	}
	switch s[:4] {
	case "trn_", "ses_", "hop_", "req_": // identifiers of ours, in every line
		if ids.Check(ids.Kind(s[:3]), s) == nil {
			return s
		}
	}
	return secretText.ReplaceAllString(s, "$1$2$3"+struck)
}
