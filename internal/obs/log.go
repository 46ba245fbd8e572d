// Package obs is the only room that knows telemetry libraries: the operator's log
// with secrets struck out, and the metrics. Conversations never pass through it.
package obs

import (
	"io"
	"log/slog"
	"regexp"
	"strings"
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
	secretKey  = regexp.MustCompile(`(?i)(authorization|api[_-]?key|^key$|secret|password|cookie|credential|bearer)`)
	secretText = regexp.MustCompile(`(?i)(bearer\s+)\S+|\b(sk|mk|hf|ghp|xox[a-z])[-_][A-Za-z0-9_-]{6,}|(://)[^/@\s]+@|([?&](?:api_?key|token|key)=)[^&\s]+`)
)

const struck = "[redacted]"

func redact(_ []string, a slog.Attr) slog.Attr {
	if secretKey.MatchString(a.Key) {
		return slog.String(a.Key, struck)
	}
	switch v := a.Value.Any().(type) {
	case string:
		return slog.String(a.Key, Redact(v))
	case error:
		return slog.String(a.Key, Redact(v.Error()))
	}
	return a
}

// Redact strikes out what looks like a credential inside a text.
func Redact(s string) string {
	if !strings.ContainsAny(s, "-_:@= ") {
		return s
	}
	return secretText.ReplaceAllString(s, "$1$3$4"+struck)
}
