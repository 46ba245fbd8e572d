package jsonschema

import (
	"macaron/internal/engine/grammar/rtn"
	"macaron/internal/errs"
)

// objects writes the objects of a shape.
func (c *compiler) objects(s *shape, from, to rtn.Node) error {
	if s.maxProperties >= 0 && s.minProperties > s.maxProperties {
		return nil
	}
	if len(s.objects) == 0 && len(s.required) == 0 && s.minProperties == 0 && s.maxProperties < 0 {
		c.w.b.Call(from, c.w.anyObject(), to)
		return nil
	}
	patterns, err := c.patternsOf(s)
	if err != nil {
		return err
	}
	fields, err := c.fields(s, patterns)
	if err != nil {
		return err
	}
	rest, err := c.unnamed(s, fields, patterns)
	if err != nil {
		return err
	}
	if err := s.countable(rest); err != nil {
		return err
	}
	begin, end := c.w.text(from, "{"), c.w.b.Node()
	c.w.b.Text(c.w.space(end), "}", to)
	o := &object{c: c, fields: fields, rest: rest, min: s.minProperties, max: s.maxProperties, end: end, at: map[place]rtn.Node{}}
	for i, f := range fields {
		if f.required {
			o.last = i + 1
		}
	}
	if o.mayEnd(place{}) {
		c.w.b.Text(begin, "}", to)
	}
	c.w.b.Eps(c.w.space(begin), o.before(place{}))
	return o.write()
}

// countable refuses a number of members that names chosen freely would have to make up:
// two of them could be equal, and then the object has fewer.
func (s *shape) countable(rest []others) error {
	names := map[string]bool{}
	for _, n := range s.required {
		names[n] = true
	}
	if s.minProperties <= 1 || len(rest) == 0 || s.minProperties <= len(names) {
		return nil
	}
	return errs.New(errs.Unsupported, "schema: minProperties above 1 where names are free is not supported: equal names count once",
		"name the members in properties and close the object with additionalProperties: false")
}

// object writes the members of an object as a chain over its fields.
type object struct {
	c        *compiler
	fields   []field
	rest     []others
	min, max int
	end      rtn.Node // behind the last member
	at       map[place]rtn.Node
	todo     []place
	last     int // fields up to this one must be passed before the object can end
}

// place is before the fields from next on, behind a number of members. Without bounds
// on their number, count stays 0.
type place struct{ next, count int }

// before is the node where the member of a place or a later one can begin.
func (o *object) before(p place) rtn.Node {
	n, ok := o.at[p]
	if !ok {
		n = o.c.w.b.Node()
		o.at[p] = n
		o.todo = append(o.todo, p)
	}
	return n
}

// counted is the number of members with one more.
func (o *object) counted(n int) int {
	most := max(o.min, o.max, 0)
	return min(n+1, most)
}

func (o *object) write() error {
	for len(o.todo) > 0 {
		if err := o.c.w.b.Err(); err != nil {
			return err
		}
		p := o.todo[len(o.todo)-1]
		o.todo = o.todo[:len(o.todo)-1]
		o.members(p)
	}
	return nil
}

// members writes what can begin at a place.
func (o *object) members(p place) {
	at, w := o.at[p], o.c.w
	if o.max >= 0 && p.count >= o.max {
		return
	}
	if p.next < len(o.fields) {
		f := o.fields[p.next]
		o.behind(w.call(w.colon(w.text(at, Quote(f.name))), f.value), place{p.next + 1, o.counted(p.count)})
		if !f.required {
			w.b.Eps(at, o.before(place{p.next + 1, p.count}))
		}
		return
	}
	for _, r := range o.rest {
		o.behind(w.call(at, r.member), place{p.next, o.counted(p.count)})
	}
}

// behind goes on from a member: to the end of the object, or over a comma to a place.
func (o *object) behind(at rtn.Node, p place) {
	if o.mayEnd(p) {
		o.c.w.b.Eps(at, o.end)
	}
	w := o.c.w
	w.b.Eps(w.space(w.text(at, ",")), o.before(p))
}

// mayEnd tells whether nothing has to follow at a place.
func (o *object) mayEnd(p place) bool {
	return p.next >= o.last && p.count >= o.min
}
