package jsonschema

import (
	"macaron/internal/engine/grammar/auto"
	"macaron/internal/engine/grammar/lower"
	"macaron/internal/engine/grammar/rtn"
)

// writer writes the parts that all documents share, each once.
type writer struct {
	b      *rtn.Builder
	quoted *lower.Writer
	raw    *lower.Writer
	spaced bool
	made   map[string]rtn.Rule
}

func newWriter(b *rtn.Builder, spaced bool) *writer {
	return &writer{b: b, quoted: lower.Quoted(b), raw: lower.Text(b), spaced: spaced, made: map[string]rtn.Rule{}}
}

// Indent is the most white space behind a line break.
const Indent = 40

// once finds or writes a shared rule. It can call itself.
func (w *writer) once(name string, body func(from, to rtn.Node)) rtn.Rule {
	r, ok := w.made[name]
	if !ok {
		r = w.b.Rule()
		w.made[name] = r
		body(w.b.Start(r), w.b.End(r))
	}
	return r
}

// text takes a text and gives the node behind it.
func (w *writer) text(from rtn.Node, s string) rtn.Node {
	to := w.b.Node()
	w.b.Text(from, s, to)
	return to
}

// call takes a rule and gives the node behind it.
func (w *writer) call(from rtn.Node, r rtn.Rule) rtn.Node {
	to := w.b.Node()
	w.b.Call(from, r, to)
	return to
}

// space takes optional white space and gives the node behind it: nothing, one space, or
// a line break and up to Indent spaces or tabs.
func (w *writer) space(from rtn.Node) rtn.Node {
	if !w.spaced {
		return from
	}
	return w.call(from, w.once("space", func(from, to rtn.Node) {
		blank := func(s string) auto.Expr { return auto.Repeat(auto.Text(s), 0, Indent) }
		w.raw.Expr(from, auto.Optional(auto.Alt(auto.Text(" "), auto.Cat(auto.Text("\n"), auto.Alt(blank(" "), blank("\t"))))), to)
	}))
}

// char is one character within a string, written in any way that JSON has.
func (w *writer) char() rtn.Rule {
	return w.once("char", func(from, to rtn.Node) { w.charBetween(from, to) })
}

func (w *writer) charBetween(from, to rtn.Node) {
	w.raw.Set(from, auto.Between(0, 0x1F).Or(auto.Of('"', '\\')).Not(), to)
	hex := auto.Digit.Or(auto.Between('a', 'f')).Or(auto.Between('A', 'F'))
	d := auto.One(auto.Of('d', 'D'))
	number := auto.Alt(
		auto.Cat(auto.One(hex.And(auto.Of('d', 'D').Not())), auto.Repeat(auto.One(hex), 3, 3)),
		auto.Cat(d, auto.One(auto.Between('0', '7')), auto.Repeat(auto.One(hex), 2, 2)),
		auto.Cat(d, auto.One(auto.Of('8', '9', 'a', 'b', 'A', 'B')), auto.Repeat(auto.One(hex), 2, 2), auto.Text(`\u`),
			d, auto.One(auto.Between('c', 'f').Or(auto.Between('C', 'F'))), auto.Repeat(auto.One(hex), 2, 2)))
	w.raw.Expr(from, auto.Cat(auto.Text(`\`), auto.Alt(auto.One(auto.Of('"', '\\', '/', 'b', 'f', 'n', 'r', 't')), auto.Cat(auto.Text("u"), number))), to)
}

// str is any string.
func (w *writer) str() rtn.Rule {
	return w.once("string", func(from, to rtn.Node) {
		loop := w.text(from, `"`)
		w.charBetween(loop, loop)
		w.b.Text(loop, `"`, to)
	})
}

// The forms of numbers.
var (
	wholeForm = auto.Alt(auto.Text("0"), auto.Cat(auto.One(auto.Between('1', '9')), auto.Star(auto.One(auto.Digit))))
	sign      = auto.Optional(auto.Text("-"))
	some      = auto.Repeat(auto.One(auto.Digit), 1, -1)
	fraction  = auto.Optional(auto.Cat(auto.Text("."), some))
	exponent  = auto.Optional(auto.Cat(auto.One(auto.Of('e', 'E')), auto.Optional(auto.One(auto.Of('+', '-'))), auto.Repeat(auto.One(auto.Digit), 1, 3)))
)

func (w *writer) number() rtn.Rule {
	return w.once("number", func(from, to rtn.Node) { w.raw.Expr(from, auto.Cat(sign, wholeForm, fraction, exponent), to) })
}

func (w *writer) integer() rtn.Rule {
	return w.once("integer", func(from, to rtn.Node) { w.raw.Expr(from, auto.Cat(sign, wholeForm), to) })
}

// any is any value.
func (w *writer) any() rtn.Rule {
	return w.once("any", func(from, to rtn.Node) {
		for _, s := range []string{"null", "true", "false"} {
			w.b.Text(from, s, to)
		}
		for _, r := range []rtn.Rule{w.str(), w.number(), w.anyArray(), w.anyObject()} {
			w.b.Call(from, r, to)
		}
	})
}

func (w *writer) anyArray() rtn.Rule {
	return w.once("array", func(from, to rtn.Node) {
		w.list(from, to, "[", "]", func(from rtn.Node) rtn.Node { return w.call(from, w.any()) })
	})
}

func (w *writer) anyObject() rtn.Rule {
	return w.once("object", func(from, to rtn.Node) {
		w.list(from, to, "{", "}", func(from rtn.Node) rtn.Node { return w.call(from, w.anyMember()) })
	})
}

func (w *writer) anyMember() rtn.Rule {
	return w.once("member", func(from, to rtn.Node) { w.b.Call(w.colon(w.call(from, w.str())), w.any(), to) })
}

// colon takes what is between a name and its value.
func (w *writer) colon(from rtn.Node) rtn.Node { return w.space(w.text(from, ":")) }

// list takes any number of things.
func (w *writer) list(from, to rtn.Node, open, shut string, one func(from rtn.Node) rtn.Node) {
	begin := w.space(w.text(from, open))
	w.b.Text(begin, shut, to)
	item := w.b.Node()
	w.b.Eps(begin, item)
	behind := one(item)
	w.b.Eps(w.space(w.text(behind, ",")), item)
	w.b.Text(w.space(behind), shut, to)
}
