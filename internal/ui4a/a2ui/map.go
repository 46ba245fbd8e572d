package a2ui

import (
	"fmt"
	"maps"
	"slices"
	"sort"
	"strings"
)

// mapping makes components of nodes.
type mapping struct {
	surface    string
	data       map[string]any // the surface's data model
	components []map[string]any
	loss       []Loss
	inputs     int
	computed   map[string]string // texts that follow from inputs, with what they follow from
}

func (m *mapping) lose(kind, name, note string) {
	l := Loss{kind, name, note}
	if !slices.Contains(m.loss, l) {
		m.loss = append(m.loss, l)
	}
}

// follow notes the texts of the first frame that are not there any more.
func (m *mapping) follow(first, now *node, input *node) {
	there := map[string]bool{}
	now.each(func(n *node) { there[n.Text] = true })
	if m.computed == nil {
		m.computed = map[string]string{}
	}
	first.each(func(n *node) {
		if n.Kind == "text" && len(n.via) == 0 && !there[n.Text] && m.computed[n.Text] == "" {
			m.computed[n.Text] = input.title()
		}
	})
}

// export makes the messages.
func (m *mapping) export(d drawing) Export {
	children := []string{}
	if id := m.component(d.Root); id != "" {
		children = append(children, id)
	}
	root := map[string]any{"id": "root", "component": "Column", "children": children, "align": "stretch"}
	m.components = append([]map[string]any{root}, m.components...)
	if d.Styled > 0 {
		m.lose("style", fmt.Sprintf("%d elements", d.Styled), "colours, sizes and spaces are the host's")
	}
	for _, text := range slices.Sorted(maps.Keys(m.computed)) {
		m.lose("computed", text, "it stays as it is when "+m.computed[text]+" changes")
	}
	sort.SliceStable(m.loss, func(i, j int) bool { return m.loss[i].Kind < m.loss[j].Kind })
	if m.loss == nil {
		m.loss = []Loss{}
	}
	return Export{Messages: []map[string]any{
		{"version": Version, "createSurface": map[string]any{"surfaceId": m.surface, "catalogId": Catalog}},
		{"version": Version, "updateComponents": map[string]any{"surfaceId": m.surface, "components": m.components}},
		{"version": Version, "updateDataModel": map[string]any{"surfaceId": m.surface, "path": "/", "value": m.data}},
	}, Loss: m.loss}
}

// add gives a component an id.
func (m *mapping) add(kind string, fields map[string]any) string {
	id := fmt.Sprintf("c%d", len(m.components)+1)
	fields["id"], fields["component"] = id, kind
	m.components = append(m.components, fields)
	return id
}

// component makes what stands for a node; "" where nothing does.
func (m *mapping) component(n *node) string {
	if n.Loss != "" {
		m.lost(n)
	}
	switch n.Kind {
	case "column", "row", "list":
		return m.box(n)
	case "card":
		if child := m.component(n.Children[0]); child != "" {
			return m.add("Card", map[string]any{"child": child})
		}
	case "tabs":
		return m.tabs(n)
	case "text":
		return m.add("Text", map[string]any{"text": n.Text, "variant": n.Variant})
	case "rule":
		return m.add("Divider", map[string]any{})
	case "image":
		return m.image(n)
	case "button":
		return m.button(n)
	case "lost":
		if n.Loss == "formula" {
			return m.add("Text", map[string]any{"text": n.Name})
		}
	default:
		return m.input(n)
	}
	return ""
}

var lossNotes = map[string]string{
	"chart":      "it is left out",
	"formula":    "its characters stand in its place, in one line",
	"icon":       "it is left out",
	"disclosure": "what it opens is left out, and so is it",
	"private":    "it is left out: A2UI has nothing that keeps a value from a model",
	"control":    "it is left out: the catalogue has none of its kind",
	"table":      "its rows stand below each other, without columns",
}

func (m *mapping) lost(n *node) { m.lose(n.Loss, n.Name, lossNotes[n.Loss]) }

func (m *mapping) box(n *node) string {
	ids := []string{}
	for _, c := range n.Children {
		if id := m.component(c); id != "" {
			ids = append(ids, id)
		}
	}
	switch {
	case len(ids) == 0:
		return ""
	case len(ids) == 1 && n.Kind != "list":
		return ids[0]
	case n.Kind == "row":
		return m.add("Row", map[string]any{"children": ids, "align": "center"})
	case n.Kind == "list":
		return m.add("List", map[string]any{"children": ids})
	}
	return m.add("Column", map[string]any{"children": ids})
}

func (m *mapping) tabs(n *node) string {
	var all []map[string]any
	for i, part := range n.Children {
		child := m.component(part)
		if child == "" {
			child = m.add("Column", map[string]any{"children": []string{}})
		}
		all = append(all, map[string]any{"title": n.Titles[i], "child": child})
	}
	if len(all) == 0 {
		return ""
	}
	return m.add("Tabs", map[string]any{"tabs": all})
}

// image carries pictures that are in the card; others are the conversation's.
func (m *mapping) image(n *node) string {
	if !strings.HasPrefix(n.Source, "data:") {
		m.lose("picture", n.Name, "it is left out: it is a picture of the conversation")
		return ""
	}
	return m.add("Image", map[string]any{"url": n.Source, "description": n.Name})
}

// button carries a button that sends an event; the values that it reads come from the model.
func (m *mapping) button(n *node) string {
	if n.event == nil {
		m.lose("local", n.title(), "it is left out: it changes the card itself and sends nothing")
		return ""
	}
	name, context := n.event.Name, map[string]any{}
	if n.event.Kind == "message" {
		name, context["text"] = "message", n.event.Text
	}
	for key := range n.event.State {
		if _, open := m.data[key]; open {
			context[key] = map[string]any{"path": "/" + key}
		} else {
			m.lose("private", key, "the event "+name+" goes without it: A2UI has nothing that keeps a value from a model")
		}
	}
	if n.event.Asked {
		m.lose("confirmation", n.title(), "nobody is asked before it is sent")
	}
	if n.event.Number > 1 {
		m.lose("local", n.title(), "only the first of its Actions is sent")
	}
	label := m.add("Text", map[string]any{"text": n.title()})
	return m.add("Button", map[string]any{"child": label, "variant": n.Variant, "action": map[string]any{"event": map[string]any{"name": name, "context": context}}})
}
