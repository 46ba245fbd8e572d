package contract

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"
)

// comments are what people wrote into a contract's text, by the path of the key or table that they
// stand above or behind: lines, each from its #. An entry of a list goes by its name, so that it keeps
// its comments where it stands elsewhere. What stands above everything has the path "".
type comments map[string][]string

// spot is an expression of a TOML text: a key with its value, or the head of a table.
type spot struct {
	path   string
	offset int // of its key
	said   []string
}

// commentsOf reads the comments of a text. Those inside of values are not among them.
func commentsOf(text []byte) comments {
	c := comments{}
	for _, s := range spots(text) {
		if len(s.said) > 0 {
			c[s.path] = append(c[s.path], s.said...)
		}
	}
	return c
}

// onto lays comments over a text that has none, each above what it is about. What is about something
// that is not there falls away.
func (c comments) onto(text []byte) []byte {
	var out bytes.Buffer
	write := func(path string) {
		for _, line := range c[path] {
			out.WriteString(line + "\n")
		}
	}
	write("")
	from := 0
	for _, s := range spots(text) {
		if s.path == "" {
			continue
		}
		line := bytes.LastIndexByte(text[:s.offset], '\n') + 1
		out.Write(text[from:line])
		write(s.path)
		from = line
	}
	out.Write(text[from:])
	return out.Bytes()
}

// spots lists the expressions of a text, with what is said of each. What stands above the first is
// about the whole: its path is "".
func spots(text []byte) (all []spot) {
	l := counted{names: namesOf(text), count: map[string]int{}}
	var p unstable.Parser
	p.KeepComments = true
	p.Reset(text)
	var said []string
	table := ""
	for p.NextExpression() {
		e := p.Expression()
		if e.Kind == unstable.Comment {
			said = append(said, string(e.Data))
			continue
		}
		if len(all) == 0 {
			all, said = append(all, spot{said: said}), nil
		}
		s := spot{said: said}
		switch e.Kind {
		case unstable.Table, unstable.ArrayTable:
			s.path, s.offset = l.path("", e.Key(), e.Kind == unstable.ArrayTable)
			table = s.path
		default:
			s.path, s.offset = l.path(table, e.Key(), false)
		}
		if next := e.Next(); next != nil && next.Kind == unstable.Comment {
			s.said = append(s.said, string(next.Data))
		}
		all, said = append(all, s), nil
	}
	return all
}

// counted are the arrays of tables of a text: the names of their entries, and how many were seen.
type counted struct {
	names map[string][]string
	count map[string]int
}

// path follows a key below a table and gives where its first name stands.
func (l counted) path(at string, names unstable.Iterator, element bool) (path string, offset int) {
	offset = -1
	for names.Next() {
		n := names.Node()
		if offset < 0 {
			offset = int(n.Raw.Offset)
		}
		at = join(at, string(n.Data))
		if names.IsLast() && element {
			l.count[at]++
		}
		if i := l.count[at]; i > 0 {
			at = fmt.Sprintf("%s[%s]", at, l.name(at, i-1))
		}
	}
	return at, offset
}

func (l counted) name(path string, i int) string {
	if all := l.names[path]; i < len(all) && all[i] != "" {
		return all[i]
	}
	return fmt.Sprint(i)
}

// namesOf lists the names of the entries of each list of named tables.
func namesOf(text []byte) map[string][]string {
	var tree map[string]any
	names := map[string][]string{}
	if toml.Unmarshal(text, &tree) != nil {
		return names
	}
	for section, v := range tree {
		list, _ := v.([]any)
		for _, e := range list {
			t, _ := e.(map[string]any)
			name, _ := t["name"].(string)
			names[section] = append(names[section], strings.ToValidUTF8(name, ""))
		}
	}
	return names
}

// TakeComments gives the contract the comments of another one, of which it was made. They are no part
// of what it is: its name stays.
func (c *Contract) TakeComments(of *Contract) { c.said = of.said }
