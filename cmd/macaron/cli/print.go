package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"text/tabwriter"

	"macaron/internal/disk"
	"macaron/internal/errs"
)

// PrintJSON prints one indented JSON value. All control characters are escaped, also those that
// JSON may have as they are.
func (e *Env) PrintJSON(v any) error {
	var raw bytes.Buffer
	enc := json.NewEncoder(&raw)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	if err == nil {
		_, err = e.Out.Write(escaped(raw.Bytes()))
	}
	return errs.Wrap(errs.StorageFailed, err, "the output cannot be written", "")
}

// escaped is JSON with the control characters escaped that are left.
func escaped(raw []byte) []byte {
	if !bytes.ContainsFunc(raw, control) {
		return raw
	}
	var out bytes.Buffer
	for _, r := range string(raw) {
		if control(r) {
			fmt.Fprintf(&out, "\\u%04x", r)
			continue
		}
		out.WriteRune(r)
	}
	return out.Bytes()
}

// Table prints rows in columns; the first row is the heading. A cell is one line, whatever is in it.
func (e *Env) Table(rows ...[]string) error {
	w := tabwriter.NewWriter(e.Out, 0, 0, 2, ' ', 0)
	for _, r := range rows {
		cells := make([]string, len(r))
		for i, text := range r {
			cells[i] = Cell(text)
		}
		fmt.Fprintln(w, strings.TrimRight(strings.Join(cells, "\t"), "\t"))
	}
	return errs.Wrap(errs.StorageFailed, w.Flush(), "the output cannot be written", "")
}

// Thousands groups the digits of a number: 1,234,567.
func Thousands(n int64) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// OrDash is a text, or a dash for none.
func OrDash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

// YesNo is a bool in words.
func YesNo(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}

// Lines prints JSON lines.
func (e *Env) Lines(n int, line func(int) (any, error)) error {
	enc := json.NewEncoder(e.Out)
	enc.SetEscapeHTML(false)
	for i := range n {
		v, err := line(i)
		if err == nil {
			err = enc.Encode(v)
		}
		if err != nil {
			return disk.Error(err, "the output cannot be written")
		}
	}
	return nil
}

// Wrote tells of a file that was written, with more fields for JSON.
func (e *Env) Wrote(path string, more map[string]any) error {
	if !e.JSON {
		fmt.Fprintln(e.Out, "wrote "+path)
		return nil
	}
	v := map[string]any{"output": path}
	for k, x := range more {
		v[k] = x
	}
	return e.PrintJSON(v)
}
