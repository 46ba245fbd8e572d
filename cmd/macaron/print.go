package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"text/tabwriter"

	"macaron/internal/errs"
)

// printJSON prints one indented JSON value.
func (e *env) printJSON(v any) error {
	enc := json.NewEncoder(e.out)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	return errs.Wrap(errs.StorageFailed, enc.Encode(v), "the output cannot be written", "")
}

// table prints rows in columns; the first row is the heading.
func (e *env) table(rows ...[]string) error {
	w := tabwriter.NewWriter(e.out, 0, 0, 2, ' ', 0)
	for _, r := range rows {
		fmt.Fprintln(w, strings.TrimRight(strings.Join(r, "\t"), "\t"))
	}
	return errs.Wrap(errs.StorageFailed, w.Flush(), "the output cannot be written", "")
}

// thousands groups the digits of a number: 1,234,567.
func thousands(n int64) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
