// Package lower writes languages over code points into networks over bytes, as UTF-8
// or as the inside of JSON strings.
package lower

import (
	"macaron/internal/engine/grammar/auto"
	"macaron/internal/engine/grammar/rtn"
)

// Writer adds to one network. It makes each class of runes once.
type Writer struct {
	B      *rtn.Builder
	quoted bool // within a JSON string
	rules  map[string]rtn.Rule
}

// Text writes UTF-8.
func Text(b *rtn.Builder) *Writer { return &Writer{B: b, rules: map[string]rtn.Rule{}} }

// Quoted writes the inside of JSON strings. A rune that JSON lets stand for itself does;
// the others are written with the short escape, or by number if there is none.
func Quoted(b *rtn.Builder) *Writer {
	return &Writer{B: b, quoted: true, rules: map[string]rtn.Rule{}}
}

// Expr writes a regular expression, which must have no ^ and $ in it.
func (w *Writer) Expr(from rtn.Node, e auto.Expr, to rtn.Node) { e.Walk(w, from, to) }

// Edge adds a step that reads one rune of s. It lets an expression be walked, with Empty,
// Assert, Node and Full.
func (w *Writer) Edge(from int32, s auto.Set, to int32) { w.Set(from, s, to) }

// Empty adds a step that takes nothing.
func (w *Writer) Empty(from, to int32) { w.B.Eps(from, to) }

// Assert is for expressions that Compile reads; here it leads nowhere.
func (w *Writer) Assert(from int32, begin bool, to int32) {}

// Node adds a node.
func (w *Writer) Node() int32 { return w.B.Node() }

// Full tells whether the network is at its bound.
func (w *Writer) Full() bool { return w.B.Full() }

// DFA writes an automaton.
func (w *Writer) DFA(from rtn.Node, d *auto.DFA, to rtn.Node) {
	nodes := make([]rtn.Node, len(d.States))
	for i := range nodes {
		nodes[i] = w.B.Node()
	}
	w.B.Eps(from, nodes[0])
	for i, s := range d.States {
		if w.B.Full() {
			return
		}
		if s.Accept {
			w.B.Eps(nodes[i], to)
		}
		sets := map[int32]auto.Set{}
		var order []int32
		for _, e := range s.Edges {
			if sets[e.To] == nil {
				order = append(order, e.To)
			}
			sets[e.To] = append(sets[e.To], auto.Range{Lo: e.Lo, Hi: e.Hi})
		}
		for _, t := range order {
			w.Set(nodes[i], sets[t], nodes[t])
		}
	}
}

// Set writes one rune of a set.
func (w *Writer) Set(from rtn.Node, s auto.Set, to rtn.Node) {
	if w.quoted {
		s = w.escapes(from, s, to)
	}
	w.ascii(from, s.And(auto.Between(0, 0x7F)), to)
	if s = s.And(auto.Between(0x80, 0x10FFFF)); len(s) > 0 {
		w.B.Call(from, w.class(s), to)
	}
}

func (w *Writer) ascii(from rtn.Node, s auto.Set, to rtn.Node) {
	for _, r := range s {
		w.B.Bytes(from, byte(r.Lo), byte(r.Hi), to)
	}
}

var short = map[rune]byte{'"': '"', '\\': '\\', '\b': 'b', '\f': 'f', '\n': 'n', '\r': 'r', '\t': 't'}

// escapes writes the runes of a set that cannot stand for themselves, and gives the rest.
func (w *Writer) escapes(from rtn.Node, s auto.Set, to rtn.Node) auto.Set {
	special := auto.Between(0, 0x1F).Or(auto.Of('"', '\\'))
	some := s.And(special)
	if len(some) == 0 {
		return s
	}
	back := w.B.Node()
	w.B.Bytes(from, '\\', '\\', back)
	for _, r := range some {
		for c := r.Lo; c <= r.Hi; c++ {
			if b, ok := short[c]; ok {
				w.B.Bytes(back, b, b, to)
			} else {
				w.number(back, c, to)
			}
		}
	}
	return s.And(special.Not())
}

// number writes u and four hex digits in either case; c is below 0x20.
func (w *Writer) number(from rtn.Node, c rune, to rtn.Node) {
	const hex = "0123456789abcdef"
	last := w.B.Node()
	w.B.Text(from, "u00"+string('0'+c>>4), last)
	d := hex[c&15]
	w.B.Bytes(last, d, d, to)
	if d >= 'a' {
		w.B.Bytes(last, d-'a'+'A', d-'a'+'A', to)
	}
}
