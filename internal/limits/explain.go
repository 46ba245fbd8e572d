package limits

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"

	"macaron/internal/errs"
)

// wrong says what a field is and what it must be.
func wrong(field string, raw json.RawMessage, must string) *errs.Error {
	if len(raw) == 0 {
		return errs.New(errs.InvalidRequest, fmt.Sprintf("%s is missing, but must be %s", field, must), "").In(field)
	}
	return errs.New(errs.InvalidRequest, fmt.Sprintf("%s is %s, but must be %s", field, errs.Clip(string(raw)), must), "").In(field)
}

// malformed explains JSON that does not parse: where it breaks and inside which
// field, which tells NaN from a cut body.
func malformed(field string, raw []byte, err error, must string) *errs.Error {
	var bad *json.SyntaxError
	if !errors.As(err, &bad) {
		return errs.New(errs.InvalidRequest, fmt.Sprintf("%s is not %s", name(field), must), "").In(field)
	}
	at := int(min(bad.Offset, int64(len(raw))))
	if member := lastMember(raw[:at]); member != "" && strings.Contains(bad.Error(), "looking for beginning") {
		field = member
	}
	return errs.New(errs.InvalidRequest, fmt.Sprintf("the body is not valid JSON at byte %d, near %s: %v", at, name(field), bad), "").In(field)
}

// notUTF8 gives the place of the first byte that is no UTF-8, or -1.
func notUTF8(b []byte) int {
	if utf8.Valid(b) {
		return -1
	}
	for i := 0; ; {
		r, n := utf8.DecodeRune(b[i:])
		if r == utf8.RuneError && n <= 1 {
			return i
		}
		i += n
	}
}

var member = regexp.MustCompile(`"([A-Za-z_][A-Za-z0-9_]{0,63})"\s*:`)

// lastMember finds the name of the member in which a text breaks off.
func lastMember(b []byte) string {
	if len(b) > 4096 {
		b = b[len(b)-4096:]
	}
	all := member.FindAllSubmatch(b, -1)
	if len(all) == 0 {
		return ""
	}
	return string(all[len(all)-1][1])
}

// depth refuses nesting that a later recursive reader could not bear.
func depth(raw []byte) *errs.Error {
	level, inText, escaped := 0, false, false
	for _, b := range raw {
		switch {
		case escaped:
			escaped = false
		case inText && b == '\\':
			escaped = true
		case b == '"':
			inText = !inText
		case inText:
		case b == '{' || b == '[':
			if level++; level > Depth {
				return errs.Newf(errs.InvalidRequest, "the JSON is nested deeper than %d levels", Depth)
			}
		case b == '}' || b == ']':
			level--
		}
	}
	return nil
}

func join(field, member string) string {
	if field == "" {
		return errs.Clip(member)
	}
	return field + "." + errs.Clip(member)
}

func name(field string) string {
	if field == "" {
		return "the body"
	}
	return field
}
