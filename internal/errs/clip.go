package errs

import "strings"

// clipped is how many bytes of a text a message quotes: more than any valid name has.
const clipped = 64

// Clip shortens a text from outside that a message quotes back, at a rune boundary.
func Clip(s string) string {
	if len(s) <= clipped {
		return s
	}
	return strings.ToValidUTF8(s[:clipped], "") + "..."
}
