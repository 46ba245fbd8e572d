package mindforge

import (
	"encoding/json"

	"macaron/internal/canonical"
	"macaron/internal/ids"
)

// Task is an instruction with everything that decides whether it was done. What only the judge
// may know (Spec, Solution, Failing) never reaches a model: World.Make gives it again.
type Task struct {
	ID          string   `json:"id"` // world/family/level/seed, with +way for each variant
	World       string   `json:"world"`
	Family      string   `json:"family"` // of templates: tasks of one family are not independent
	Level       int      `json:"level"`
	Seed        uint64   `json:"seed"`
	Ways        []Step   `json:"ways,omitempty"` // how it was made harder, in order
	Instruction string   `json:"instruction"`
	Answer      string   `json:"answer_format"` // one line: what the answer looks like
	Shape       Shape    `json:"shape"`
	Canary      string   `json:"canary"` // a string that is in no other task: where it turns up, the task was seen
	Judged      Judgment `json:"-"`
}

// Step is one variant: its way and the seed that it was made with.
type Step struct {
	Way  Way    `json:"way"`
	Seed uint64 `json:"seed"`
}

// Judgment is the half of a task that no model sees.
type Judgment struct {
	Spec     json.RawMessage // what the world opens and verifies the task with
	Solution Solution        // passes
	Failing  []Solution      // each fails: the empty answer, a constant, a plausible mistake
	Unplayed bool            // what was not done is judged too, so that a success is not played again
	Stated   bool            // all that the answer follows from stands in the request, so that it may be given without a call
}

// Solution is what somebody could do: calls of the task's tools, in order, and an answer. The
// world plays it against a fresh copy of the task.
type Solution struct {
	What   string `json:"what"` // for people: "empty answer"
	Calls  []Call `json:"calls,omitempty"`
	Answer string `json:"answer"`
}

// Call is one call of a tool. An argument "$3" is the value that call 3 (from 0) gave; one that
// begins with "$$" is the text from the second "$" on.
type Call struct {
	Tool string            `json:"tool"`
	Args map[string]string `json:"args"`
}

// Literal is a text as an argument or the answer of a solution, whatever it begins with.
func Literal(text string) string {
	if len(text) > 1 && text[0] == '$' && (text[1] == '$' || '0' <= text[1] && text[1] <= '9') {
		return "$" + text
	}
	return text
}

// Shape measures what a task asks, by its solution.
type Shape struct {
	Calls int `json:"calls"`
	Tools int `json:"tools"` // different ones
	Depth int `json:"depth"` // of the flow of data between calls
}

// Form is the structure of a solution without its constants: equal forms are one problem with
// other numbers, however different their texts are.
func (s Solution) Form() (ids.Digest, error) {
	type call struct {
		Tool string            `json:"tool"`
		Args map[string]string `json:"args"`
	}
	form := make([]call, len(s.Calls))
	for i, c := range s.Calls {
		form[i] = call{c.Tool, map[string]string{}}
		for name, value := range c.Args {
			if len(value) > 0 && value[0] == '$' {
				form[i].Args[name] = value
			} else {
				form[i].Args[name] = "constant"
			}
		}
	}
	return canonical.Hash(form)
}
