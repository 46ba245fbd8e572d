package template

// selecting is select, reject, selectattr and rejectattr.
func selecting(keep, byAttr bool) filter {
	return func(m *machine, v value, a args) value {
		rest := a.pos
		var path value
		if byAttr {
			if len(rest) == 0 {
				fail("selectattr needs the name of an attribute")
			}
			path, rest = rest[0], rest[1:]
		}
		check := func(v value) bool { return truth(v) }
		if len(rest) > 0 {
			name, _ := rest[0].(text)
			t, ok := tests[name.s]
			if !ok {
				fail("the test %q is not built in", name.s)
			}
			more := args{pos: rest[1:]}
			check = func(v value) bool { return truth(t(m, v, more)) }
		}
		out := &list{}
		if !truth(v) { // also none
			return out
		}
		for _, item := range m.items(v) {
			m.payItems(1)
			x := item
			if byAttr {
				x = m.attribute(item, path)
			}
			if check(x) == keep {
				out.items = append(out.items, item)
			}
		}
		return out
	}
}

func mapFilter(m *machine, v value, a args) value {
	out := &list{}
	if !truth(v) { // also none
		return out
	}
	path, byAttr := a.named["attribute"]
	def, hasDef := a.named["default"]
	for _, item := range m.items(v) {
		m.payItems(1)
		if byAttr {
			item = m.attribute(item, path)
			if _, missing := item.(undefined); missing && hasDef {
				item = def
			}
		} else {
			item = m.mapped(item, a)
		}
		out.items = append(out.items, item)
	}
	return out
}

// mapped applies the filter that map names to one item.
func (m *machine) mapped(item value, a args) value {
	if len(a.pos) == 0 {
		fail("map needs a filter or an attribute")
	}
	name, _ := a.pos[0].(text)
	f := m.filter(name.s)
	defer m.deeper()()
	return f(m, item, args{pos: a.pos[1:], named: a.named})
}
