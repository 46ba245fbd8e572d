package ui4a

import (
	"fmt"
	"strings"
)

// The lines of a patch around what is looked for and what takes its place.
const (
	patchOld  = "<<<<<<<"
	patchMid  = "======="
	patchNew  = ">>>>>>>"
	maxHunks  = 64
	patchForm = "write <<<<<<< SEARCH, lines of the card as they stand, =======, the lines instead, >>>>>>> REPLACE"
)

// hunk is one change of a patch: lines that stand in the card once, and those that take
// their place.
type hunk struct {
	line     int // where it begins in the patch, from 1
	old, now []string
}

// Patch applies a patch to a card's source. All of it is applied, or nothing and the
// findings say why, with lines of the patch. Lines are compared without the white space at
// their ends. open says that the patch is still being written: then its whole hunks count.
func Patch(source, patch string, open bool) (string, []Diagnostic) {
	hunks, wrong := hunksOf(patch, open)
	if wrong != nil {
		return source, []Diagnostic{*wrong}
	}
	lines := strings.Split(source, "\n")
	var found []Diagnostic
	for _, h := range hunks {
		at, n := find(lines, h.old)
		if n != 1 {
			found = append(found, unplaced(h, n))
			continue
		}
		lines = append(lines[:at:at], append(h.now, lines[at+len(h.old):]...)...)
	}
	if len(found) > 0 {
		return source, found
	}
	return strings.Join(lines, "\n"), nil
}

func unplaced(h hunk, n int) Diagnostic {
	d := Diagnostic{Code: "patch-not-found", Severity: Error, Line: h.line, Column: 1, Message: "the card has no such lines", Fix: "copy the lines from the card as it stands now"}
	if n > 1 {
		d.Code, d.Message, d.Fix = "patch-ambiguous", fmt.Sprintf("the card has these lines %d times", n), "add the line before or behind"
	}
	return d
}

// find gives the first place of some lines, and how many there are.
func find(lines, wanted []string) (first, n int) {
	for at := 0; at+len(wanted) <= len(lines); at++ {
		if same(lines[at:at+len(wanted)], wanted) {
			if n++; n == 1 {
				first = at
			}
		}
	}
	return first, n
}

func same(a, b []string) bool {
	for i := range a {
		if strings.TrimRight(a[i], " \t\r") != strings.TrimRight(b[i], " \t\r") {
			return false
		}
	}
	return true
}

// hunksOf reads a patch. Empty lines between hunks are allowed, other words are not.
func hunksOf(patch string, open bool) ([]hunk, *Diagnostic) {
	bad := func(line int, message string) ([]hunk, *Diagnostic) {
		return nil, &Diagnostic{Code: "patch-syntax", Severity: Error, Line: line, Column: 1, Message: message, Fix: patchForm}
	}
	var all []hunk
	var h hunk
	var in *[]string // the part that is being read
	lines := strings.Split(strings.TrimSuffix(patch, "\n"), "\n")
	for i, line := range lines {
		switch {
		case in == nil && strings.HasPrefix(line, patchOld):
			h = hunk{line: i + 1}
			in = &h.old
		case in == nil && strings.TrimSpace(line) == "":
		case in == nil && open:
			return all, nil
		case in == nil:
			return bad(i+1, "a hunk begins with "+patchOld)
		case in == &h.old && strings.HasPrefix(line, patchMid):
			in = &h.now
		case in == &h.now && strings.HasPrefix(line, patchNew):
			if len(h.old) == 0 {
				return bad(h.line, "a hunk looks for nothing")
			}
			all, in = append(all, h), nil
		default:
			*in = append(*in, line)
		}
	}
	switch {
	case open:
		return all, nil
	case in != nil:
		return bad(h.line, "a hunk has no end")
	case len(all) == 0 || len(all) > maxHunks:
		return bad(1, fmt.Sprintf("a patch has 1 to %d hunks, not %d", maxHunks, len(all)))
	}
	return all, nil
}
