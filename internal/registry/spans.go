package registry

import (
	"bytes"

	"github.com/pelletier/go-toml/v2/unstable"

	"macaron/internal/errs"
)

// span is a range of bytes of a TOML text.
type span struct{ from, to int }

// block is one [[adapters]] table of a contract.
type block struct {
	span
	name   string
	values map[string]span // key -> its value, quotes included
}

// layout is where the parts of a contract stand that can be edited.
type layout struct {
	blocks []block
	order  []item // of router.order
}

// item is one string of an array.
type item struct {
	span
	text string
}

// scan finds the parts of a contract's text, which contract.Parse has accepted.
func scan(text []byte) (layout, error) {
	var l layout
	var p unstable.Parser
	p.Reset(text)
	table, inside := "", -1 // inside: number of the block that we are in
	for p.NextExpression() {
		e := p.Expression()
		switch e.Kind {
		case unstable.Table, unstable.ArrayTable:
			key := keyOf(e.Key())
			start := lineStart(text, int(firstKey(e).Raw.Offset))
			if inside >= 0 {
				l.blocks[inside].to = contentEnd(text, l.blocks[inside].from, start)
			}
			table, inside = key, -1
			if e.Kind == unstable.ArrayTable && key == "adapters" {
				l.blocks = append(l.blocks, block{span: span{start, len(text)}, values: map[string]span{}})
				inside = len(l.blocks) - 1
			}
		case unstable.KeyValue:
			l.take(table, inside, e)
		}
	}
	if err := p.Error(); err != nil {
		return l, errs.Wrap(errs.FormatInvalid, err, "the contract is not valid TOML", "docs/formats/hcp.md shows the format")
	}
	if inside >= 0 {
		l.blocks[inside].to = contentEnd(text, l.blocks[inside].from, len(text))
	}
	return l, nil
}

func (l *layout) take(table string, inside int, e *unstable.Node) {
	key, v := keyOf(e.Key()), e.Value()
	if inside >= 0 {
		b := &l.blocks[inside]
		b.values[key] = rangeOf(v)
		if key == "name" {
			b.name = string(v.Data)
		}
	}
	if v.Kind == unstable.Array && (table == "router" && key == "order" || table == "" && key == "router.order") {
		for it := v.Children(); it.Next(); {
			if n := it.Node(); n.Kind == unstable.String {
				l.order = append(l.order, item{rangeOf(n), string(n.Data)})
			}
		}
	}
}

func firstKey(e *unstable.Node) *unstable.Node {
	it := e.Key()
	it.Next()
	return it.Node()
}

func rangeOf(n *unstable.Node) span {
	return span{int(n.Raw.Offset), int(n.Raw.Offset + n.Raw.Length)}
}

func keyOf(it unstable.Iterator) string {
	var parts [][]byte
	for it.Next() {
		parts = append(parts, it.Node().Data)
	}
	return string(bytes.Join(parts, []byte(".")))
}

func lineStart(text []byte, at int) int { return bytes.LastIndexByte(text[:at], '\n') + 1 }

// contentEnd is the end of the last line in a range that is neither blank nor a
// comment: what stands behind it belongs to what follows.
func contentEnd(text []byte, from, to int) int {
	for to > from {
		start := lineStart(text, to-1)
		line := bytes.TrimSpace(text[start:to])
		if len(line) > 0 && line[0] != '#' {
			return to
		}
		to = start
	}
	return to
}
