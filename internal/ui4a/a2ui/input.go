package a2ui

import "fmt"

// input carries a control that holds a value: bound to the key of the card's state that it
// sets, or to a place of its own.
func (m *mapping) input(n *node) string {
	if n.secret {
		m.lose("private", n.title(), lossNotes["private"])
		return ""
	}
	path := "/" + n.bound
	if n.bound == "" {
		m.inputs++
		path = fmt.Sprintf("/_inputs/%d", m.inputs)
		m.put(fmt.Sprint(m.inputs), n.Value)
		m.lose("unbound", n.title(), "it can be used, and no event reads it")
	}
	fields := map[string]any{"label": n.title(), "value": map[string]any{"path": path}}
	switch n.Kind {
	case "check":
		return m.add("CheckBox", fields)
	case "slider":
		fields["min"], fields["max"] = n.Min, n.Max
		return m.add("Slider", fields)
	case "date":
		fields["enableDate"], fields["enableTime"] = n.Variant != "time", n.Variant != "date"
		return m.add("DateTimeInput", fields)
	case "choice":
		return m.choice(n, fields)
	}
	fields["variant"] = n.Variant
	return m.add("TextField", fields)
}

// choice carries a choice, whose value is a list in A2UI also where one is chosen.
func (m *mapping) choice(n *node, fields map[string]any) string {
	if one, ok := m.data[n.bound].(string); ok {
		m.data[n.bound] = []any{one}
		m.lose("choice", n.title(), "events have its value as a list of one")
	}
	fields["options"], fields["variant"] = n.Options, "mutuallyExclusive"
	if n.Many {
		fields["variant"] = "multipleSelection"
	}
	return m.add("ChoicePicker", fields)
}

// put keeps the value of an input that no key of the state has.
func (m *mapping) put(name string, value any) {
	all, ok := m.data["_inputs"].(map[string]any)
	if !ok {
		all = map[string]any{}
		m.data["_inputs"] = all
	}
	all[name] = value
}
