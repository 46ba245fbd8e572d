package template

// loop is the variable "loop" inside a for block.
type loop struct {
	items   []value
	at      int
	changed value // of loop.changed
	seen    bool
}

func (s *textStmt) exec(m *machine) signal {
	m.out.add(s.s)
	return goOn
}

func (s *showStmt) exec(m *machine) signal {
	m.line = s.line
	m.out.add(m.str(m.eval(s.x)))
	return goOn
}

func (s *ifStmt) exec(m *machine) signal {
	m.line = s.line
	if truth(m.eval(s.cond)) {
		return m.run(s.then)
	}
	return m.run(s.alts)
}

func (s *forStmt) exec(m *machine) signal {
	m.line = s.line
	items := m.items(m.eval(s.over))
	if s.filter != nil {
		items = s.filtered(m, items)
	}
	if len(items) == 0 {
		return m.inside(nil, s.alts)
	}
	outer := m.scope
	defer func() { m.scope = outer }()
	l := &loop{items: items}
	for i, item := range items {
		m.spend(1)
		l.at = i
		m.scope = &scope{vars: map[string]value{"loop": l}, parent: outer}
		m.assign(s.target, item)
		if m.run(s.body) == breakLoop {
			break
		}
	}
	return goOn
}

func (s *forStmt) filtered(m *machine, items []value) []value {
	outer := m.scope
	defer func() { m.scope = outer }()
	m.payItems(len(items))
	var kept []value
	for _, item := range items {
		m.scope = &scope{parent: outer}
		m.assign(s.target, item)
		if truth(m.eval(s.filter)) {
			kept = append(kept, item)
		}
	}
	return kept
}

func (s *setStmt) exec(m *machine) signal {
	m.line = s.line
	m.assign(s.target, m.eval(s.x))
	return goOn
}

func (s *setBlock) exec(m *machine) signal {
	m.line = s.line
	m.assign(s.target, m.pipe(m.capture(nil, s.body), s.filters))
	return goOn
}

func (s *filterBlock) exec(m *machine) signal {
	m.line = s.line
	m.out.add(m.str(m.pipe(m.capture(nil, s.body), s.filters)))
	return goOn
}

// pipe sends a value through filters.
func (m *machine) pipe(v value, chain []*filterExpr) value {
	for _, f := range chain {
		v = f.apply(m, v)
	}
	return v
}

func (s *scopeStmt) exec(m *machine) signal {
	m.line = s.line
	vars := map[string]value{}
	for i, name := range s.names {
		vars[name] = m.eval(s.inits[i])
	}
	return m.inside(vars, s.body)
}

func (s *jumpStmt) exec(*machine) signal { return s.sig }

func (s *macroStmt) exec(m *machine) signal {
	m.line = s.line
	m.set(s.name, s.function(m.scope))
	return goOn
}

// function makes the macro callable; its body sees the scope it stands in.
func (s *macroStmt) function(home *scope) *function {
	return &function{name: s.name, call: func(m *machine, a args) value {
		defer m.deeper()()
		outer, line := m.scope, m.line
		m.scope = home
		vars := s.bind(m, a)
		out := m.capture(vars, s.body)
		m.scope, m.line = outer, line
		return out
	}}
}

// bind gives each parameter its argument, its default or undefined.
func (s *macroStmt) bind(m *machine, a args) map[string]value {
	if len(a.pos) > len(s.params) {
		fail("the macro %s takes %d arguments, %d are given", s.name, len(s.params), len(a.pos))
	}
	vars := map[string]value{}
	known := 0
	for i, name := range s.params {
		if v, ok := a.get(i, name); ok {
			vars[name] = v
		} else if d := i - (len(s.params) - len(s.defaults)); d >= 0 {
			outer := m.scope
			m.scope = &scope{vars: vars, parent: outer}
			vars[name] = m.eval(s.defaults[d])
			m.scope = outer
		} else {
			vars[name] = undefined{name}
		}
		if _, ok := a.named[name]; ok {
			known++
			if i < len(a.pos) {
				fail("the macro %s gets its argument %s twice", s.name, name)
			}
		}
	}
	if caller, ok := a.named["caller"]; ok && known < len(a.named) {
		vars["caller"] = caller
		known++
	}
	if known < len(a.named) {
		fail("the macro %s gets an argument that it does not have", s.name)
	}
	return vars
}

func (s *callBlock) exec(m *machine) signal {
	m.line = s.line
	a := s.call.arguments(m)
	if a.named == nil {
		a.named = map[string]value{}
	}
	a.named["caller"] = s.caller.function(m.scope)
	m.out.add(m.str(m.call(m.eval(s.call.fn), a)))
	return goOn
}
