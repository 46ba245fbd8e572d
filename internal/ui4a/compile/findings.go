package compile

import (
	"fmt"
	"slices"
	"sort"
	"strings"
	"unicode/utf8"

	"macaron/internal/ui4a"
)

func longestLine(s string) int {
	longest := 0
	for line := range strings.Lines(s) {
		longest = max(longest, len(line))
	}
	return longest
}

func lineStarts(s string) []int {
	starts := []int{0}
	for i := range len(s) {
		if s[i] == '\n' {
			starts = append(starts, i+1)
		}
	}
	return starts
}

// place gives line and column of a byte.
func (c *card) place(at int) (line, column int) {
	line = sort.SearchInts(c.lines, at+1)
	return line, 1 + utf8.RuneCountInString(c.Text[c.lines[line-1]:at])
}

// at is where a token begins; the end of the source behind the last one.
func (c *card) at(token int) int {
	if token < 0 || token >= len(c.Tokens) {
		return len(c.Text)
	}
	return c.Tokens[token].Start
}

// whole tells of an error of the card as a whole, with which nothing can be made of it.
func (c *card) whole(code, message, fix string, args ...any) {
	c.fatal = true
	c.list = append(c.list, ui4a.Diagnostic{Code: code, Severity: ui4a.Error, Message: fmt.Sprintf(message, args...), Fix: fix})
}

// fail tells of an error at a token with which the card cannot run.
func (c *card) fail(token int, code, message, fix string, args ...any) {
	c.fatal = true
	c.wrong(token, code, message, fix, args...)
}

// wrong tells of an error at a token with which the card still runs. The arguments are
// those of the message and then of the fix.
func (c *card) wrong(token int, code, message, fix string, args ...any) {
	c.tell(ui4a.Error, c.at(token), code, message, fix, args...)
}

// warn tells of something that is probably not meant.
func (c *card) warn(token int, code, message, fix string, args ...any) {
	c.tell(ui4a.Warning, c.at(token), code, message, fix, args...)
}

func (c *card) tell(s ui4a.Severity, at int, code, message, fix string, args ...any) {
	n := min(strings.Count(message, "%")-2*strings.Count(message, "%%"), len(args))
	line, column := c.place(at)
	c.list = append(c.list, ui4a.Diagnostic{Code: code, Severity: s, Line: line, Column: column,
		Message: fmt.Sprintf(message, args[:n]...), Fix: fmt.Sprintf(fix, args[n:]...)})
}

// enough says that far more was found than is told: what is costly to explain is left out.
func (c *card) enough() bool { return len(c.list) > 4*ui4a.MaxDiagnostics }

// findings are sorted by place, without repetitions; errors are never crowded out.
func (c *card) findings() []ui4a.Diagnostic {
	key := func(d ui4a.Diagnostic) string { return fmt.Sprintf("%07d %07d %s", d.Line, d.Column, d.Code) }
	byPlace := func(a, b ui4a.Diagnostic) int { return strings.Compare(key(a), key(b)) }
	slices.SortStableFunc(c.list, byPlace)
	c.list = slices.CompactFunc(c.list, func(a, b ui4a.Diagnostic) bool { return key(a) == key(b) })
	if len(c.list) > ui4a.MaxDiagnostics {
		slices.SortStableFunc(c.list, func(a, b ui4a.Diagnostic) int { return strings.Compare(string(a.Severity), string(b.Severity)) })
		c.list = c.list[:ui4a.MaxDiagnostics]
		slices.SortStableFunc(c.list, byPlace)
	}
	return c.list
}
