package local

// arguments follows a JSON object that comes in pieces to its end. That it is well-formed
// is the grammar's to see to.
type arguments struct {
	depth  int
	quoted bool // within a string
	escape bool // behind a backslash
	begun  bool
}

// take gives how many of the bytes belong to the object.
func (a *arguments) take(text string) int {
	for i := range len(text) {
		if a.whole() {
			return i
		}
		a.step(text[i])
	}
	return len(text)
}

func (a *arguments) step(c byte) {
	switch {
	case a.escape:
		a.escape = false
	case a.quoted:
		a.escape, a.quoted = c == '\\', c != '"'
	case c == '"':
		a.quoted = true
	case c == '{' || c == '[':
		a.begun = true
		a.depth++
	case c == '}' || c == ']':
		a.depth--
	}
}

// whole reports whether the object has ended.
func (a *arguments) whole() bool { return a.begun && a.depth == 0 }
