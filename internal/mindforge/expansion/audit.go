package expansion

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"macaron/internal/contract"
	"macaron/internal/mindforge"
	"macaron/internal/transcript"
)

// Play plays a solution against a fresh copy of a task, and says whether it passes.
type Play func(t mindforge.Task, s mindforge.Solution) (bool, error)

// Audit says why a success is not believed; nothing: it is. A run may use what its contract
// gives it and nothing else, must not have looked at what judges it, and is played again from its
// recorded calls on a fresh copy of the task. Where the answer is judged, it must come out of the
// results of its calls or stand in the request.
func Audit(a Attempt, play Play) (Finding, error) {
	for _, look := range []func(Attempt) []string{looks, strays, idle} {
		if why := look(a); len(why) > 0 {
			return Finding{mindforge.Cheat, clip(why)}, nil
		}
	}
	s := solutionOf(a, false)
	passes, err := play(a.Task, s)
	if err == nil && !passes && len(a.Run.Cells()) > 0 { // code can have done more than its calls
		s = solutionOf(a, true)
		passes, err = play(a.Task, s)
	}
	if err != nil {
		return Finding{}, err
	}
	if passes {
		return answered(a, s, play)
	}
	reference, err := play(a.Task, a.Task.Judged.Solution)
	if err != nil {
		return Finding{}, err
	}
	if !reference {
		return Finding{mindforge.FlawedTask, []string{"neither the recorded calls nor the task's own solution pass when they are played again"}}, nil
	}
	return Finding{mindforge.Cheat, []string{"the recorded calls do not pass when they are played again"}}, nil
}

// answered does not believe an answer that came from nowhere. Where the same calls pass without
// it, what they have left is judged alone, and what was said of it beside is free.
func answered(a Attempt, s mindforge.Solution, play Play) (Finding, error) {
	why := unsupported(a)
	if why == "" {
		return Finding{}, nil
	}
	s.Answer = ""
	passes, err := play(a.Task, s)
	if err != nil || passes {
		return Finding{}, err
	}
	return Finding{mindforge.Cheat, []string{why}}, nil
}

// idle: the task needs tools, and no call and no code has given anything.
func idle(a Attempt) []string {
	if j := a.Task.Judged; j.Stated || len(j.Solution.Calls) == 0 || len(a.Run.Cells()) > 0 || slices.ContainsFunc(a.Run.Calls(), gave) {
		return nil
	}
	return []string{"the task needs tools, and the answer came without a call that gave anything"}
}

// gave: the call has come to its end, and has not failed.
func gave(c *transcript.Call) bool {
	return c.Called != nil && c.Returned != nil && c.Returned.Error == nil
}

// Python is the tool by which code is played again. Calls that it made are its own.
const Python = "python.run"

// solutionOf is what a run did to the task, as the world plays it: its calls and, where code is to
// run again, cells in the place of the calls that they made.
func solutionOf(a Attempt, code bool) mindforge.Solution {
	s := mindforge.Solution{What: "recorded", Answer: mindforge.Literal(a.Answer)}
	for _, t := range a.Run.Turns {
		for _, act := range t.Acts {
			if code && act.Cell != nil && act.Cell.Ran != nil {
				s.Calls = append(s.Calls, mindforge.Call{Tool: Python, Args: map[string]string{"code": mindforge.Literal(act.Cell.Ran.Code)}})
				continue
			}
			for _, c := range act.Made() {
				if gave(c) && a.works(c.Called.Name) {
					s.Calls = append(s.Calls, a.call(c))
				}
			}
		}
	}
	return s
}

// call is a recorded call of the task's tools.
func (a Attempt) call(c *transcript.Call) mindforge.Call {
	out := mindforge.Call{Tool: a.tool(c.Called.Name), Args: map[string]string{}}
	for k, v := range arguments(c) {
		out.Args[k] = literal(v)
	}
	return out
}

// arguments are those of a call, numbers digit by digit.
func arguments(c *transcript.Call) (args map[string]any) {
	dec := json.NewDecoder(bytes.NewReader(c.Called.Arguments))
	dec.UseNumber()
	if dec.Decode(&args) != nil {
		return nil
	}
	return args
}

// works reports whether a tool works on a task: those of its world, files and commands do. Others
// reach nothing that is judged (skills, memory), or would change twice what lies outside (requests,
// servers); they are not called again, and what they gave is on record.
func (a Attempt) works(name string) bool {
	return slices.ContainsFunc(a.Contract.Tools, func(t contract.Tool) bool {
		return t.Name == name && (strings.HasPrefix(t.Use, contract.UseWorld) || Replayed(t.Use))
	})
}

// Replayed reports whether a tool of the program, as tools.use names it, is called again when a
// success is played again: it works on the files of the run and on nothing else.
func Replayed(use string) bool {
	return strings.HasPrefix(use, contract.UseBuiltin+"files.") || use == contract.UseBuiltin+"shell"
}

// tool is the name of a tool as tasks have it: what the contract uses under a name of its own.
func (a Attempt) tool(name string) string {
	if a.Contract == nil {
		return name
	}
	for _, t := range a.Contract.Tools {
		for _, of := range []string{contract.UseWorld, contract.UseBuiltin} {
			if used, ok := strings.CutPrefix(t.Use, of); ok && t.Name == name {
				return used
			}
		}
	}
	return name
}

// literal is an argument as a solution has it.
func literal(v any) string {
	if s, text := v.(string); text {
		return mindforge.Literal(s)
	}
	b, err := json.Marshal(v)
	if err != nil {
		return ""
	}
	return string(b)
}
