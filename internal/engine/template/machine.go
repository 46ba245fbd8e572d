package template

import (
	"time"

	"macaron/internal/errs"
)

// The budget of a rendering: a base, and an allowance for what the conversation
// holds. Of the published templates none takes more than 500 steps for a message
// or tool; the base alone is spent in a few milliseconds.
const (
	baseSteps       = 100_000
	stepsPerItem    = 2_000 // each message and each tool
	bytesPerStep    = 64    // scanning that many bytes is one step
	baseBytes       = 4 << 20
	bytesPerByte    = 64 // made for each byte of the conversation
	bytesPerItem    = 48 // taken by an element of a list or mapping
	maxDepth        = 1000
	messageTooMuch  = "it takes more work than any conversation of this size needs"
	messageTooLarge = "it makes more text than any conversation of this size needs"
	messageTooDeep  = "it calls itself, or nests values, without end"
)

// machine is one rendering.
type machine struct {
	scope *scope
	out   *builder
	line  int
	now   time.Time
	steps int64
	bytes int64
	depth int
}

// scope holds the variables of one block; names not in it are looked up outside.
type scope struct {
	vars   map[string]value
	parent *scope
}

// newMachine makes the budget for an input of that many bytes.
func newMachine(in Input, size int) *machine {
	items := int64(len(in.Messages) + len(in.Tools))
	m := &machine{now: in.Now}
	m.steps = baseSteps + stepsPerItem*items + int64(size)/8
	m.bytes = baseBytes + bytesPerByte*(int64(size)+64*items)
	m.out = m.builder()
	m.scope = &scope{vars: globals}
	return m
}

// spend pays for n steps.
func (m *machine) spend(n int) {
	if m.steps -= int64(n); m.steps < 0 {
		fail(messageTooMuch)
	}
}

// scan pays for looking at n bytes.
func (m *machine) scan(n int) { m.spend(n / bytesPerStep) }

// pay pays for making n bytes, before they are made.
func (m *machine) pay(n int) {
	m.scan(n)
	if m.bytes -= int64(n); m.bytes < 0 {
		fail(messageTooLarge)
	}
}

// payItems pays for making n elements.
func (m *machine) payItems(n int) {
	m.spend(n)
	if m.bytes -= bytesPerItem * int64(n); m.bytes < 0 {
		fail(messageTooLarge)
	}
}

// deeper counts nesting; the caller defers the function it returns.
func (m *machine) deeper() func() {
	if m.depth++; m.depth > maxDepth {
		fail(messageTooDeep)
	}
	return func() { m.depth-- }
}

// located adds the line at which a failure happened; it is deferred.
func (m *machine) located() {
	switch x := recover().(type) {
	case nil:
	case failure:
		x.line = m.line
		panic(x)
	default:
		panic(x)
	}
}

// refuse ends the rendering on the template's own wish.
func refuse(reason string) { panic(failure{code: errs.InvalidRequest, text: reason}) }

func (m *machine) eval(x expr) value {
	m.spend(1)
	if m.depth++; m.depth > maxDepth {
		fail(messageTooDeep)
	}
	v := x.eval(m)
	m.depth--
	return v
}

// run executes statements until one asks for a jump.
func (m *machine) run(body []stmt) signal {
	for _, s := range body {
		m.spend(1)
		if sig := s.exec(m); sig != goOn {
			return sig
		}
	}
	return goOn
}

// inside runs a body in its own scope.
func (m *machine) inside(vars map[string]value, body []stmt) signal {
	outer := m.scope
	m.scope = &scope{vars: vars, parent: outer}
	sig := m.run(body)
	m.scope = outer
	return sig
}

// capture runs a body in its own scope and returns what it writes.
func (m *machine) capture(vars map[string]value, body []stmt) text {
	outer := m.out
	m.out = m.builder()
	m.inside(vars, body)
	s := m.out.text()
	m.out = outer
	return s
}

func (m *machine) lookup(name string) value {
	for s := m.scope; s != nil; s = s.parent {
		if v, ok := s.vars[name]; ok {
			return v
		}
	}
	return undefined{name}
}

func (m *machine) set(name string, v value) {
	if m.scope.vars == nil {
		m.scope.vars = map[string]value{}
	}
	m.scope.vars[name] = v
}

// assign gives a loop's or set's target its value.
func (m *machine) assign(target expr, v value) {
	switch t := target.(type) {
	case *nameExpr:
		m.set(t.name, v)
	case *attrExpr:
		ns, ok := m.eval(t.x).(*space)
		if !ok {
			fail("only attributes of a namespace can be set")
		}
		mayStore(t.name)
		ns.vars[t.name] = v
	case *listExpr:
		items := m.items(v)
		if len(items) != len(t.items) {
			fail("%d values cannot be given to %d names", len(items), len(t.items))
		}
		for i, item := range items {
			m.assign(t.items[i], item)
		}
	}
}
