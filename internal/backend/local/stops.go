package local

import "strings"

// stopFilter ends a text at the first of several strings to be complete, wherever tokens part them.
// Of those that are complete at once the longest counts. A longer one that began before is not
// waited for: it would take tokens that nobody is shown, and only to know that it never comes.
type stopFilter struct {
	stops []string
	held  string // an end of the text so far that may begin a stop
	met   string // the stop that ended the text
}

// push takes more text and gives what is certain, and whether a stop was met; the stop
// itself and what follows it is not given.
func (f *stopFilter) push(text string) (out string, stopped bool) {
	if len(f.stops) == 0 {
		return text, false
	}
	f.held += text
	first, end := -1, 0
	for _, s := range f.stops {
		at := strings.Index(f.held, s)
		if over := at + len(s); at >= 0 && (first < 0 || over < end || over == end && at < first) {
			first, end, f.met = at, over, s
		}
	}
	if first >= 0 {
		out, f.held = f.held[:first], ""
		return out, true
	}
	keep := 0
	for _, s := range f.stops {
		keep = max(keep, overlap(f.held, s))
	}
	out, f.held = f.held[:len(f.held)-keep], f.held[len(f.held)-keep:]
	return out, false
}

// flush gives what was held at the end of the answer.
func (f *stopFilter) flush() string {
	out := f.held
	f.held = ""
	return out
}
