package jsonscan

import (
	"encoding/json"
	"unicode/utf8"
)

// Quote appends a text as a JSON string. What is no UTF-8 becomes U+FFFD, as in encoding/json;
// the escapes that are for HTML only are left out.
func Quote(out []byte, s string) []byte {
	if !utf8.ValidString(s) {
		b, err := json.Marshal(s)
		if err != nil { // a string always encodes
			return append(out, `""`...)
		}
		return append(out, b...)
	}
	out = append(out, '"')
	from := len(out)
	out = append(out, s...)
	at := special(out, from)
	if at == len(out) {
		return append(out, '"')
	}
	rest := s[at-from:]
	out = out[:at]
	for i := 0; i < len(rest); {
		switch c := rest[i]; {
		case c == '"' || c == '\\':
			out = append(out, '\\', c)
		case c == '\n':
			out = append(out, '\\', 'n')
		case c == '\r':
			out = append(out, '\\', 'r')
		case c == '\t':
			out = append(out, '\\', 't')
		case c < ' ':
			const digits = "0123456789abcdef"
			out = append(out, '\\', 'u', '0', '0', digits[c>>4], digits[c&15])
		}
		plain := i + 1
		for plain < len(rest) && rest[plain] != '"' && rest[plain] != '\\' && rest[plain] >= ' ' {
			plain++
		}
		out = append(out, rest[i+1:plain]...)
		i = plain
	}
	return append(out, '"')
}
