package transcript

import "strings"

// Code gives the Python of the first fenced block of a text that is marked as python or
// not marked at all. A block that the answer's end cuts off is none: half of a program is
// not to be run.
func Code(text string) (string, bool) {
	for rest := text; ; {
		_, after, found := strings.Cut(rest, "```")
		if !found {
			return "", false
		}
		mark, body, found := strings.Cut(after, "\n")
		if !found {
			return "", false
		}
		code, behind, closed := strings.Cut(body, "```")
		if !closed {
			return "", false
		}
		switch strings.ToLower(strings.TrimSpace(mark)) {
		case "python", "py", "python3", "":
			return code, strings.TrimSpace(code) != ""
		}
		rest = behind
	}
}
