package registry

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"macaron/internal/adapter"
	"macaron/internal/canonical"
	"macaron/internal/contract"
	"macaron/internal/errs"
)

// Addition is an adapter to register. Before, if not empty, names the label that the
// new one goes before in router.order.
type Addition struct {
	contract.Adapter
	Before  string
	Replace bool // an adapter of that name gives way; what is left empty stays as it is
}

// Parser reads a contract's own file, with all that it imports.
type Parser func(text []byte) (*contract.Contract, error)

// Insert gives the text of a contract's own file with one more adapter. Every other byte stays.
func Insert(text []byte, add Addition, parse Parser) ([]byte, error) {
	if err := adapter.CheckName(add.Name); err != nil {
		return nil, err
	}
	old, err := parse(text)
	if err != nil {
		return nil, err
	}
	l, err := scan(text)
	if err != nil {
		return nil, err
	}
	_, exists := old.Adapter(add.Name)
	var edits []edit
	switch at := slices.IndexFunc(l.blocks, func(b block) bool { return b.name == add.Name }); {
	case exists && !add.Replace:
		return nil, errs.New(errs.InvalidRequest, "the contract has an adapter "+add.Name, "choose another --name, or give --replace to put a new revision in its place")
	case exists && at < 0:
		return nil, elsewhere(add.Name)
	case exists:
		edits = change(text, l.blocks[at], add.Adapter)
	default:
		edits = []edit{{span{len(text), len(text)}, appended(text, add.Adapter)}}
	}
	if add.Before != "" {
		before, err := l.orderBefore(add.Before, add.Name)
		if err != nil {
			return nil, err
		}
		edits = append(edits, before)
	}
	return apply(text, edits, old, add.Name, parse)
}

// Delete gives the text of a contract's own file without an adapter.
func Delete(text []byte, name string, parse Parser) ([]byte, error) {
	old, err := parse(text)
	if err != nil {
		return nil, err
	}
	if _, ok := old.Adapter(name); !ok {
		return nil, errs.New(errs.AdapterNotFound, fmt.Sprintf("the contract has no adapter %.80q", name), "macaron adapter ls lists them")
	}
	if old.Router.Adapter == name || old.Router.Default == name {
		return nil, errs.New(errs.InvalidRequest, name+" runs the routing or is its default", "give router.adapter and router.default to another adapter first")
	}
	l, err := scan(text)
	if err != nil {
		return nil, err
	}
	at := slices.IndexFunc(l.blocks, func(b block) bool { return b.name == name })
	if at < 0 {
		return nil, elsewhere(name)
	}
	edits := []edit{{l.blocks[at].withBlankBefore(text), ""}}
	for i, it := range l.order {
		if it.text == name {
			edits = append(edits, edit{l.orderItem(i), ""})
		}
	}
	out, err := apply(text, edits, old, name, parse)
	if err != nil {
		return nil, err
	}
	if now, err := parse(out); err != nil || slices.Contains(now.Labels(), name) {
		return nil, elsewhere(name)
	}
	return out, nil
}

// elsewhere refuses to edit what other files or other forms hold.
func elsewhere(name string) error {
	return errs.New(errs.Unsupported, name+" does not stand as an [[adapters]] table in the contract's own file alone", "edit by hand the file that has it: one that the contract imports, or a list that is written in one piece")
}

func inline() error {
	return errs.New(errs.Unsupported, "the contract writes its adapters in a form that cannot be edited by line", "write each as an [[adapters]] table, or edit the file by hand")
}

// edit puts a text in the place of a range.
type edit struct {
	span
	with string
}

// apply makes the edits and proves that only the named adapter has changed.
func apply(text []byte, edits []edit, old *contract.Contract, name string, parse Parser) ([]byte, error) {
	slices.SortFunc(edits, func(a, b edit) int { return b.from - a.from })
	out := bytes.Clone(text)
	for _, e := range edits {
		out = slices.Replace(out, e.from, e.to, []byte(e.with)...)
	}
	now, err := parse(out)
	if err != nil {
		e := *errs.As(err)
		e.Message = "the contract would not be valid any more: " + e.Message
		return nil, &e
	}
	before, err := others(old, name)
	if err != nil {
		return nil, err
	}
	if after, err := others(now, name); err != nil || !bytes.Equal(before, after) {
		return nil, inline()
	}
	return out, nil
}

// others is the canonical form of everything in a contract but one adapter.
func others(k *contract.Contract, name string) ([]byte, error) {
	o := *k
	o.Router.Order = slices.DeleteFunc(slices.Clone(k.Router.Order), func(s string) bool { return s == name })
	o.Adapters = slices.DeleteFunc(slices.Clone(k.Adapters), func(a contract.Adapter) bool { return a.Name == name })
	return canonical.Bytes(o)
}

func appended(text []byte, a contract.Adapter) string {
	var b strings.Builder
	if len(text) > 0 && text[len(text)-1] != '\n' {
		b.WriteByte('\n')
	}
	b.WriteString("\n[[adapters]]\n")
	for _, kv := range keys(a) {
		if kv.value != "" || kv.always {
			fmt.Fprintf(&b, "%s = %s\n", kv.key, quote(kv.value))
		}
	}
	return b.String()
}

type keyValue struct {
	key, value string
	always     bool
}

func keys(a contract.Adapter) []keyValue {
	return []keyValue{{"name", a.Name, true}, {"title", a.Title, false}, {"source", a.Source, true}, {"description", a.Description, true}, {"prompt", a.Prompt, false}}
}

// change sets the given values of a block; a key that it lacks goes behind its last line.
func change(text []byte, b block, a contract.Adapter) []edit {
	var edits []edit
	more := ""
	for _, kv := range keys(a)[1:] {
		if kv.value == "" {
			continue
		}
		if at, ok := b.values[kv.key]; ok {
			edits = append(edits, edit{at, quote(kv.value)})
		} else {
			more += kv.key + " = " + quote(kv.value) + "\n"
		}
	}
	if more != "" {
		if text[b.to-1] != '\n' {
			more = "\n" + more
		}
		edits = append(edits, edit{span{b.to, b.to}, more})
	}
	return edits
}

// withBlankBefore is the block and one blank line before it, if there is one.
func (b block) withBlankBefore(text []byte) span {
	s := b.span
	if s.from > 0 {
		if prev := lineStart(text, s.from-1); len(bytes.TrimSpace(text[prev:s.from])) == 0 {
			s.from = prev
		}
	}
	return s
}

func (l layout) orderBefore(label, name string) (edit, error) {
	for i, it := range l.order {
		if it.text == name {
			return edit{}, errs.New(errs.InvalidRequest, name+" is in router.order already", "leave --before out, or edit the order by hand")
		}
		if it.text == label {
			at := l.order[i].from
			return edit{span{at, at}, quote(name) + ", "}, nil
		}
	}
	return edit{}, errs.New(errs.InvalidRequest, fmt.Sprintf("router.order has no %.80q to put %s before", label, name), "name a label that is in it")
}

// orderItem is an item of the order with the separator on one side of it.
func (l layout) orderItem(i int) span {
	switch {
	case i+1 < len(l.order):
		return span{l.order[i].from, l.order[i+1].from}
	case i > 0:
		return span{l.order[i-1].to, l.order[i].to}
	}
	return l.order[i].span
}

// quote writes a TOML basic string. JSON's escapes are all TOML's, which asks for
// one more.
func quote(s string) string {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(s); err != nil {
		panic(err) // a string can always be written
	}
	return strings.ReplaceAll(strings.TrimSuffix(b.String(), "\n"), "\x7f", `\u007f`)
}
