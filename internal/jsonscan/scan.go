// Package jsonscan reads and writes well-formed JSON texts fast, for the texts of requests
// and of streams, which are long or many. It never explains: of a text that is malformed, or
// that it leaves to encoding/json (deep nesting, escapes of surrogates), it says only that it
// could not read it, and the caller asks encoding/json, whose errors tell the place. Pure.
package jsonscan

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"unicode/utf8"
)

// deepest is how deep arrays and objects may nest here.
const deepest = 32

// Member is a member of an object. Value is a part of the text, without the space around it.
type Member struct {
	Key   string
	Value []byte
}

// Object splits an object into its members, in order, names given twice among them.
func Object(text []byte) (members []Member, ok bool) {
	w := Walk{Text: text}
	for w.Next() {
		key, ok := String(w.Key) // of an item of an array: none
		if !ok {
			return nil, false
		}
		members = append(members, Member{key, w.Value})
	}
	return members, w.Whole && w.closing == '}'
}

// Walk goes through the members of an object, or the items of an array, without keeping them.
// Whole tells, after Next was false, whether all of the text was read.
type Walk struct {
	Text  []byte
	Key   []byte // of a member: a JSON string
	Value []byte // a part of Text, without the space around it
	Whole bool

	at      int
	closing byte
	over    bool
}

// Next moves on to the next member or item.
func (w *Walk) Next() bool {
	if w.over {
		return false
	}
	w.over = true // unless there is one
	i := space(w.Text, w.at)
	if i == len(w.Text) {
		return false
	}
	first := w.closing == 0
	switch c := w.Text[i]; {
	case first && c == '{':
		w.closing = '}'
	case first && c == '[':
		w.closing = ']'
	case !first && c == w.closing:
		w.Whole = space(w.Text, i+1) == len(w.Text)
		return false
	case first || c != ',':
		return false
	}
	i = space(w.Text, i+1)
	if first && i < len(w.Text) && w.Text[i] == w.closing {
		w.Whole = space(w.Text, i+1) == len(w.Text)
		return false
	}
	return w.read(i)
}

// read reads the member or item that begins at i.
func (w *Walk) read(i int) bool {
	if w.closing == '}' {
		end, ok := str(w.Text, i)
		if !ok {
			return false
		}
		w.Key = w.Text[i:end:end]
		if i = space(w.Text, end); i == len(w.Text) || w.Text[i] != ':' {
			return false
		}
		i = space(w.Text, i+1)
	}
	end, ok := value(w.Text, i, 1)
	if !ok {
		return false
	}
	w.Value, w.at, w.over = w.Text[i:end:end], end, false
	return true
}

// Array splits an array into its items.
func Array(text []byte) (items [][]byte, ok bool) {
	w := Walk{Text: text}
	for w.Next() {
		items = append(items, w.Value)
	}
	return items, w.Whole && w.closing == ']'
}

// value gives the end of the value that begins at i.
func value(text []byte, i, depth int) (end int, ok bool) {
	if i == len(text) || depth > deepest {
		return 0, false
	}
	switch c := text[i]; {
	case c == '"':
		return str(text, i)
	case c == '{' || c == '[':
		return nested(text, i, depth+1)
	case c == '-' || c >= '0' && c <= '9':
		return number(text, i)
	}
	for _, word := range [...]string{"null", "true", "false"} {
		if bytes.HasPrefix(text[i:], []byte(word)) {
			return i + len(word), true
		}
	}
	return 0, false
}

// nested gives the end of the object or array that begins at i.
func nested(text []byte, i, depth int) (end int, ok bool) {
	object := text[i] == '{'
	closing := byte(']')
	if object {
		closing = '}'
	}
	i = space(text, i+1)
	if i < len(text) && text[i] == closing {
		return i + 1, true
	}
	for {
		if object {
			if i, ok = str(text, i); !ok {
				return 0, false
			}
			if i = space(text, i); i == len(text) || text[i] != ':' {
				return 0, false
			}
			i = space(text, i+1)
		}
		if i, ok = value(text, i, depth); !ok {
			return 0, false
		}
		if i = space(text, i); i == len(text) {
			return 0, false
		}
		switch text[i] {
		case closing:
			return i + 1, true
		case ',':
			i = space(text, i+1)
		default:
			return 0, false
		}
	}
}

func space(text []byte, i int) int {
	for i < len(text) && (text[i] == ' ' || text[i] == '\n' || text[i] == '\r' || text[i] == '\t') {
		i++
	}
	return i
}

// str gives the end of the string that begins at i.
func str(text []byte, i int) (end int, ok bool) {
	if i >= len(text) || text[i] != '"' {
		return 0, false
	}
	for i = special(text, i+1); i < len(text); i = special(text, i) {
		switch {
		case text[i] == '"':
			return i + 1, true
		case text[i] != '\\' || i+1 == len(text): // a control character
			return 0, false
		case text[i+1] == 'u':
			if i+6 > len(text) || !hex(text[i+2:i+6]) {
				return 0, false
			}
			i += 6
		case bytes.IndexByte([]byte(`"\/bfnrt`), text[i+1]) >= 0:
			i += 2
		default:
			return 0, false
		}
	}
	return 0, false
}

func hex(b []byte) bool {
	for _, c := range b {
		if (c < '0' || c > '9') && (c < 'a' || c > 'f') && (c < 'A' || c > 'F') {
			return false
		}
	}
	return true
}

const ones, highs = 0x0101010101010101, 0x8080808080808080

// special gives the next quote, backslash or control character from i on, or the end. It
// looks at eight bytes at a time: x-n without x has the high bit of the first byte below n.
func special(text []byte, i int) int {
	for ; i+8 <= len(text); i += 8 {
		x := binary.LittleEndian.Uint64(text[i:])
		quote, slash := x^ones*'"', x^ones*'\\'
		if m := ((x-ones*' ')&^x | (quote-ones)&^quote | (slash-ones)&^slash) & highs; m != 0 {
			return i + bits.TrailingZeros64(m)/8
		}
	}
	for i < len(text) && text[i] != '"' && text[i] != '\\' && text[i] >= ' ' {
		i++
	}
	return i
}

// number gives the end of the number that begins at i.
func number(text []byte, i int) (end int, ok bool) {
	digits := func() bool {
		from := i
		for i < len(text) && text[i] >= '0' && text[i] <= '9' {
			i++
		}
		return i > from
	}
	if text[i] == '-' {
		i++
	}
	if i < len(text) && text[i] == '0' {
		i++
	} else if !digits() {
		return 0, false
	}
	if i < len(text) && text[i] == '.' {
		if i++; !digits() {
			return 0, false
		}
	}
	if i < len(text) && (text[i] == 'e' || text[i] == 'E') {
		if i++; i < len(text) && (text[i] == '+' || text[i] == '-') {
			i++
		}
		if !digits() {
			return 0, false
		}
	}
	return i, true
}

// String reads a string.
func String(text []byte) (string, bool) {
	end, ok := str(text, 0)
	if !ok || end != len(text) {
		return "", false
	}
	text = text[1 : end-1]
	if !utf8.Valid(text) {
		return "", false
	}
	if bytes.IndexByte(text, '\\') < 0 {
		return string(text), true
	}
	return unescape(text)
}

// unescape leaves \u to encoding/json.
func unescape(text []byte) (string, bool) {
	out := make([]byte, 0, len(text))
	for {
		i := bytes.IndexByte(text, '\\')
		if i < 0 {
			return string(append(out, text...)), true
		}
		out = append(out, text[:i]...)
		at := bytes.IndexByte([]byte(`"\/bfnrt`), text[i+1])
		if at < 0 {
			return "", false
		}
		out = append(out, "\"\\/\b\f\n\r\t"[at])
		text = text[i+2:]
	}
}
