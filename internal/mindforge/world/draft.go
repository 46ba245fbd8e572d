package world

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"macaron/internal/mindforge"
)

// Value is what a call gave, or a constant.
type Value struct {
	Text string
	ref  int // the call's number and one; 0: a constant
}

// slot is a word of the request that can be said otherwise.
type slot struct {
	noun, value string
	others      []string // that it could have been
}

// Draft is a task while its family builds it. The calls that a family makes are carried out
// at once, on the draft's state, and are the reference solution.
type Draft[S any] struct {
	Scale int // how large: 0 is the smallest
	State S   // what a run begins with; a family may lay things into it before its first call

	rules *Rules[S]
	salt  string
	fixed map[string]string // slots that are said to be so
	slots []slot

	begun   bool
	begin   S
	calls   []mindforge.Call
	values  []string
	request []string // sentences
	data    string   // quoted in the request: what is to be worked on
	answer  Value
	kind    string
	asked   bool // whether the answer is judged; else the state alone is
}

// reject stops a draft whose draws make no good task; another one is drawn.
type reject struct{ why string }

// Reject gives up these draws.
func (d *Draft[S]) Reject(why string) { panic(reject{why}) }

// Int draws a number.
func (d *Draft[S]) Int(key string, low, high int) int { return Draw(d.salt, key, low, high) }

// Pick draws one of a list.
func (d *Draft[S]) Pick(key string, from []string) string { return Pick(d.salt, key, from) }

// Shuffle draws an order.
func (d *Draft[S]) Shuffle(key string, from []string) []string { return Shuffle(d.salt, key, from) }

// Slot draws what a noun of the request stands for, other than all slots before it.
func (d *Draft[S]) Slot(noun string, from []string) string {
	free := slices.DeleteFunc(slices.Clone(from), func(v string) bool {
		return slices.ContainsFunc(d.slots, func(s slot) bool { return s.value == v })
	})
	if len(free) < 2 {
		d.Reject("there is no choice of a " + noun)
	}
	v, ok := d.fixed[noun]
	if !ok {
		v = Pick(d.salt, "slot "+noun, free)
	}
	d.slots = append(d.slots, slot{noun, v, slices.DeleteFunc(free, func(o string) bool { return o == v })})
	return v
}

// Call calls a function with arguments in pairs of name and value (a text, a number, or what
// another call gave).
func (d *Draft[S]) Call(name string, args ...any) Value {
	if !d.begun {
		d.begun, d.begin = true, d.rules.Copy(d.State)
	}
	c := mindforge.Call{Tool: name, Args: map[string]string{}}
	given := map[string]string{}
	for i := 0; i+1 < len(args); i += 2 {
		key := args[i].(string)
		switch v := args[i+1].(type) {
		case Value:
			given[key], c.Args[key] = v.Text, v.written()
		case int:
			given[key], c.Args[key] = strconv.Itoa(v), strconv.Itoa(v)
		case string:
			given[key], c.Args[key] = v, Value{Text: v}.written()
		}
	}
	out, err := d.rules.function(name).call(d.State, given)
	if err != nil {
		d.Reject(name + ": " + err.Error())
	}
	d.calls, d.values = append(d.calls, c), append(d.values, out)
	return Value{out, len(d.calls)}
}

// written is a value as an argument of a solution.
func (v Value) written() string {
	if v.ref > 0 {
		return "$" + strconv.Itoa(v.ref-1)
	}
	return v.Text
}

// Ask adds a sentence to the request.
func (d *Draft[S]) Ask(format string, args ...any) {
	d.request = append(d.request, fmt.Sprintf(format, args...))
}

// Data is what the request quotes for the task to work on.
func (d *Draft[S]) Data(text string) { d.data = text }

// Answer says what the answer is, and of which kind: what can be chained to it.
func (d *Draft[S]) Answer(v Value, kind string) { d.answer, d.kind, d.asked = v, kind, true }

// Leave says that what is asked for is the state; v is what can be gone on with.
func (d *Draft[S]) Leave(v Value, kind string) { d.answer, d.kind, d.asked = v, kind, false }

// Const is a value that no call gave.
func Const(text string) Value { return Value{Text: text} }

func (r *Rules[S]) function(name string) Function[S] {
	for _, f := range r.Functions {
		if f.Name == name {
			return f
		}
	}
	panic("world " + r.Name + ": there is no function " + name)
}

func (d *Draft[S]) text() string { return strings.Join(d.request, " ") }

// solution is what the calls so far come to.
func (d *Draft[S]) solution(what, answer string) mindforge.Solution {
	return mindforge.Solution{What: what, Calls: slices.Clone(d.calls), Answer: answer}
}

// shape measures the calls.
func (d *Draft[S]) shape() mindforge.Shape {
	tools, depth, most := map[string]bool{}, make([]int, len(d.calls)), 0
	for i, c := range d.calls {
		tools[c.Tool] = true
		if d.rules.Serial && i > 0 {
			depth[i] = depth[i-1]
		}
		for _, v := range c.Args {
			if at, ok := Ref(v); ok {
				depth[i] = max(depth[i], depth[at])
			}
		}
		depth[i]++
		most = max(most, depth[i])
	}
	return mindforge.Shape{Calls: len(d.calls), Tools: len(tools), Depth: most}
}

// Ref reads an argument that is the value of an earlier call.
func Ref(arg string) (call int, ok bool) {
	digits, ok := strings.CutPrefix(arg, "$")
	if !ok || len(digits) > 4 {
		return 0, false
	}
	n, err := strconv.Atoi(digits)
	return n, err == nil && n >= 0 && strconv.Itoa(n) == digits
}
