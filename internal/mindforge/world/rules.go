package world

import (
	"regexp"
	"slices"
	"strconv"

	"macaron/internal/errs"
	"macaron/internal/tool"
)

// Rules are what a world is made of. S is what its functions work on, made anew for each run.
type Rules[S any] struct {
	Name      string
	Functions []Function[S]
	Families  []Family[S]
	Tails     []Tail[S]
	Formats   map[string]string // by the kind of an answer: one line that says what it looks like
	Serial    bool              // each call works on what the one before has left
	Begin     func(salt string, scale int) S
	Copy      func(S) S
	// Files are the files of a state; nil: the world has none, and its state is in memory.
	Files func(S) map[string]string
	// Free is the state of a task that somebody wrote.
	Free func(f Free) (S, error)
	// At is a state in the workspace of a run that has the files of another one.
	At func(workspace string, was S) S
}

// Family is a template of tasks, the unit of splits: two families differ in the tools of
// their solutions or in how data flows between these.
type Family[S any] struct {
	Name  string
	Build func(d *Draft[S])
}

// Tail is something that can be asked of an answer of a kind, so that a task goes on.
type Tail[S any] struct {
	From string
	Then func(d *Draft[S], v Value, key string)
}

// Function is a tool of a world.
type Function[S any] struct {
	Name, About string
	Params      []Param[S]
	Effect      tool.Effect
	Do          func(s S, a map[string]string) (string, error)
}

// Param is an argument: one of a list, a whole number, or a short text.
type Param[S any] struct {
	Name   string
	Enum   func(s S) []string // nil: anything
	Number bool
}

// The bounds of one argument and of one result.
const (
	maxArgument = 2000
	maxResult   = 20000
)

var whole = regexp.MustCompile(`^-?(0|[1-9][0-9]{0,15})$`)

// call checks the arguments and calls.
func (f Function[S]) call(s S, a map[string]string) (string, error) {
	if len(a) != len(f.Params) {
		return "", bad(f.Name+" takes other arguments", "")
	}
	for _, p := range f.Params {
		v, ok := a[p.Name]
		switch {
		case !ok || len(v) > maxArgument:
			return "", bad("the argument "+p.Name+" is missing or too long", "")
		case p.Number && !whole.MatchString(v):
			return "", bad("the argument "+p.Name+" is no whole number", "")
		case p.Enum != nil && !slices.Contains(p.Enum(s), v):
			return "", notFound("there is no such "+p.Name+": ", v)
		}
	}
	out, err := f.Do(s, a)
	if err == nil && len(out) > maxResult {
		err = errs.New(errs.TooLarge, "the result is too long", "")
	}
	return out, err
}

// Whole reads a number that call has checked.
func Whole(s string) int {
	n, _ := strconv.Atoi(s) // at most 16 digits
	return n
}

func bad(message, next string) error { return errs.New(errs.InvalidRequest, message, next) }

func notFound(message, name string) error {
	return errs.New(errs.NotFound, message+errs.Clip(name), "")
}
