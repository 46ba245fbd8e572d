package auto

// Expr is a regular expression. Its zero value matches the empty text.
type Expr struct {
	op   op
	set  Set
	subs []Expr
	min  int
	max  int // -1 without bound
}

type op uint8

const (
	opEmpty op = iota
	opSet
	opCat
	opAlt
	opRepeat
	opBegin // between the beginning and the first rune
	opEnd
)

// One matches one rune of a set.
func One(s Set) Expr { return Expr{op: opSet, set: s} }

// Text matches exactly s.
func Text(s string) Expr {
	var subs []Expr
	for _, r := range s {
		subs = append(subs, One(Of(r)))
	}
	return Cat(subs...)
}

// Cat matches one after the other.
func Cat(subs ...Expr) Expr {
	if len(subs) == 1 {
		return subs[0]
	}
	if len(subs) == 0 {
		return Expr{}
	}
	return Expr{op: opCat, subs: subs}
}

// Alt matches any of some; without any it matches nothing.
func Alt(subs ...Expr) Expr {
	if len(subs) == 1 {
		return subs[0]
	}
	if len(subs) == 0 {
		return One(nil)
	}
	return Expr{op: opAlt, subs: subs}
}

// Repeat matches e min to max times, without bound if max is -1.
func Repeat(e Expr, min, max int) Expr {
	return Expr{op: opRepeat, subs: []Expr{e}, min: min, max: max}
}

// Optional matches e or nothing.
func Optional(e Expr) Expr { return Repeat(e, 0, 1) }

// Star matches e any number of times.
func Star(e Expr) Expr { return Repeat(e, 0, -1) }

// Search matches every text in which e is found somewhere.
func Search(e Expr) Expr { return Cat(Star(One(Any)), e, Star(One(Any))) }

// Visitor receives an expression's structure; see Walk.
type Visitor interface {
	Edge(from int32, s Set, to int32)
	Empty(from, to int32)
	Assert(from int32, begin bool, to int32)
	Node() int32
	Full() bool
}

// Walk builds the automaton of Thompson (1968) from one node to another. It stops early
// when v is Full.
func (e Expr) Walk(v Visitor, from, to int32) {
	if v.Full() {
		return
	}
	switch e.op {
	case opEmpty:
		v.Empty(from, to)
	case opSet:
		v.Edge(from, e.set, to)
	case opBegin, opEnd:
		v.Assert(from, e.op == opBegin, to)
	case opCat:
		for i, s := range e.subs {
			next := to
			if i < len(e.subs)-1 {
				next = v.Node()
			}
			s.Walk(v, from, next)
			from = next
		}
	case opAlt:
		for _, s := range e.subs {
			s.Walk(v, from, to)
		}
	case opRepeat:
		e.walkRepeat(v, from, to)
	}
}

func (e Expr) walkRepeat(v Visitor, from, to int32) {
	for range e.min {
		if v.Full() {
			return
		}
		next := v.Node()
		e.subs[0].Walk(v, from, next)
		from = next
	}
	if e.max < 0 {
		loop, body := v.Node(), v.Node()
		v.Empty(from, loop)
		v.Empty(loop, body)
		e.subs[0].Walk(v, body, loop)
		v.Empty(loop, to)
		return
	}
	for range e.max - e.min {
		if v.Full() {
			return
		}
		v.Empty(from, to)
		next := v.Node()
		e.subs[0].Walk(v, from, next)
		from = next
	}
	v.Empty(from, to)
}

// asserts tells whether an expression has ^ or $ in it.
func (e Expr) asserts() bool {
	if e.op == opBegin || e.op == opEnd {
		return true
	}
	for _, s := range e.subs {
		if s.asserts() {
			return true
		}
	}
	return false
}

// Whole reads an expression that is matched as a whole anyway: ^ at its beginning and $
// at its end say nothing and are dropped. ok is false if others are left.
func (e Expr) Whole() (_ Expr, ok bool) {
	if e.op == opBegin || e.op == opEnd {
		return Expr{}, true
	}
	if e.op == opCat {
		subs := e.subs
		for len(subs) > 0 && subs[0].op == opBegin {
			subs = subs[1:]
		}
		for len(subs) > 0 && subs[len(subs)-1].op == opEnd {
			subs = subs[:len(subs)-1]
		}
		e = Cat(subs...)
	}
	return e, !e.asserts()
}
