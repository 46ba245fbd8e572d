package act

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"macaron/internal/backend"
	"macaron/internal/chat"
	"macaron/internal/harness/harnesstest"
	"macaron/internal/mindforge"
	"macaron/internal/mindforge/edit"
)

// examples are tasks of one and more calls whose answer is judged.
func examples(t testing.TB) []mindforge.Task {
	t.Helper()
	var out []mindforge.Task
	for _, name := range []string{"item_price", "item_room", "item_town", "lead_hours", "guard_team"} {
		task, err := worlds[0].Make(name, 0, 7)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, task)
	}
	return out
}

// scene is how an attempt goes wrong, and what is wrong with it, by construction.
type scene struct {
	name    string
	label   mindforge.Failure
	lines   string   // of the contract
	without []string // tools that it lacks; "last" is that of the solution's last call
	model   func(mindforge.Task) policy
	unclear bool // a reader of the record alone could say something else
}

func ends(answer string) func(string) []chat.Event {
	return func(string) []chat.Event { return finish(answer) }
}

func says(format string) func(mindforge.Task) policy {
	return func(t mindforge.Task) policy {
		return solve(t, func(a string) []chat.Event { return finish(strings.ReplaceAll(format, "@", a)) })
	}
}

// first calls something first, and then ends.
func first(e func(t mindforge.Task) chat.Event, answer string) func(mindforge.Task) policy {
	return func(t mindforge.Task) policy {
		return func(_ backend.Request, said int, _ []string) []chat.Event {
			if said == 0 {
				return []chat.Event{e(t)}
			}
			return finish(answer)
		}
	}
}

// again calls the solution's first tool for ever.
func again(t mindforge.Task) policy {
	return func(r backend.Request, _ int, results []string) []chat.Event {
		return []chat.Event{resolve(r, t.Judged.Solution.Calls[0], results)}
	}
}

func gate(name, check, with string) string {
	return fmt.Sprintf("\n[[hooks]]\nname = %q\non = \"stop\"\ncheck = %q\nmax_rounds = 2\n%s\n", name, check, with)
}

func nothing(t mindforge.Task) policy {
	return func(backend.Request, int, []string) []chat.Event { return nil }
}

func at(n int) func(string) []chat.Event {
	return func(string) []chat.Event { return finish(fmt.Sprint("zebra", n)) }
}

// scenes are what goes wrong with runs of the harness, each class in several ways.
var scenes = []scene{
	{name: "wrong answer", label: mindforge.Capability, model: says("zebra")},
	{name: "no call at all", label: mindforge.Capability, model: func(mindforge.Task) policy {
		return func(backend.Request, int, []string) []chat.Event { return finish("zebra") }
	}},
	{name: "answers in words without the value", label: mindforge.Capability, model: func(t mindforge.Task) policy {
		return solve(t, func(string) []chat.Event { return finish("I am not sure about that.") })
	}},
	{name: "stops halfway", label: mindforge.Capability, model: func(t mindforge.Task) policy {
		t.Judged.Solution.Calls = t.Judged.Solution.Calls[:len(t.Judged.Solution.Calls)-1]
		return solve(t, ends("zebra"))
	}},
	{name: "guesses among several", label: mindforge.Capability, model: says("@ or zebra or 99"), unclear: true},
	{name: "tool not declared", label: mindforge.MissingTool, without: []string{"last"}, model: func(t mindforge.Task) policy {
		t.Judged.Solution.Calls = t.Judged.Solution.Calls[:len(t.Judged.Solution.Calls)-1]
		return solve(t, ends("zebra"))
	}},
	{name: "calls what is not declared", label: mindforge.MissingTool, without: []string{"last"}, model: func(t mindforge.Task) policy { return solve(t, ends("zebra")) }},
	{name: "calls what does not exist", label: mindforge.MissingTool, model: first(func(mindforge.Task) chat.Event { return harnesstest.Call(0, "web_search", map[string]string{"q": "x"}) }, "zebra"), unclear: true},
	{name: "writes a call of what it has not", label: mindforge.MissingTool, without: []string{"last"}, model: func(t mindforge.Task) policy {
		return func(_ backend.Request, said int, _ []string) []chat.Event {
			if said == 0 {
				return []chat.Event{{Text: `{"name": "price_of", "arguments": {"item": "x"}}`}}
			}
			return finish("zebra")
		}
	}},
	{name: "out of turns", label: mindforge.Budget, lines: "max_turns = 1", model: says("@")},
	{name: "out of tool calls", label: mindforge.Budget, lines: "max_tool_calls = 1", model: again},
	{name: "out of tokens", label: mindforge.Budget, lines: "max_tokens = 15", model: again},
	{name: "calls for ever", label: mindforge.Capability, lines: "max_turns = 6", model: again, unclear: true},
	{name: "wordy answer", label: mindforge.Format, model: says("The answer is @.")},
	{name: "marked answer", label: mindforge.Format, model: says("**@**")},
	{name: "answer with a unit", label: mindforge.Format, model: says("@ (as asked)")},
	{name: "gate of form", label: mindforge.Format, lines: gate("form", "answer.matches", `with = {pattern = '<[a-z0-9]+>'}`), model: says("@")},
	{name: "gate of json", label: mindforge.Format, lines: gate("form", "answer.json", ""), model: says("it is @")},
	{name: "gate wants a tool that is not there", label: mindforge.Contradiction, lines: gate("looked", "tools.called", `with = {tools = ["file_with"]}`), model: says("@")},
	{name: "gates at odds", label: mindforge.Contradiction, lines: gate("letters", "answer.matches", `with = {pattern = '[a-z]+'}`) + gate("digits", "answer.matches", `with = {pattern = '[0-9]+'}`), model: func(t mindforge.Task) policy {
		return solve2(t, "zebra", "123")
	}},
	{name: "a hook refuses the tool", label: mindforge.Contradiction, lines: "\n[[hooks]]\nname = \"no\"\non = \"before_tool\"\ncheck = \"answer.present\"\n", model: says("zebra")},
	{name: "the policy refuses the tool", label: mindforge.Contradiction, lines: "\n[policies]\neffects = [\"pure\"]\n", model: says("zebra")},
	{name: "a hook does not let it begin", label: mindforge.Contradiction, lines: "\n[[hooks]]\nname = \"no\"\non = \"start\"\ncheck = \"answer.present\"\n", model: says("@")},
	{name: "the engine fails", label: mindforge.Infrastructure, model: nothing},
}

// solve2 does the task and gives one answer after the other.
func solve2(t mindforge.Task, answers ...string) policy {
	s := t.Judged.Solution
	return func(r backend.Request, said int, results []string) []chat.Event {
		if said < len(s.Calls) {
			return []chat.Event{resolve(r, s.Calls[said], results)}
		}
		return finish(answers[(said-len(s.Calls))%len(answers)])
	}
}

// Failures of real runs are put into the class that they were made to be of. Those that are
// not clear count too: the share that is right is what the classes are worth.
func TestFailuresAreClassified(t *testing.T) {
	right, all, clear, clearRight := 0, 0, 0, 0
	var wrong []string
	for _, s := range scenes {
		for i, task := range examples(t) {
			without := slices.Clone(s.without)
			if len(without) > 0 {
				without[0] = task.Judged.Solution.Calls[len(task.Judged.Solution.Calls)-1].Tool
			}
			c := declared(t, task.Judged.Solution.Calls, s.lines, without...)
			out, err := rig(t, s.model(task)).Try(ctx, mindforge.Pair{Contract: c}, task, uint64(i))
			if err != nil {
				t.Fatalf("%s: %v", s.name, err)
			}
			if out.Pass || len(out.Evidence) == 0 {
				t.Errorf("%s at %s: %+v", s.name, task.ID, out)
			}
			all++
			if !s.unclear {
				clear++
			}
			if out.Failure != s.label {
				wrong = append(wrong, fmt.Sprintf("%s at %s: %s, %q", s.name, task.Family, out.Failure, out.Evidence))
				continue
			}
			right++
			if !s.unclear {
				clearRight++
			}
		}
	}
	t.Logf("right: %d of %d, of the clear ones %d of %d", right, all, clearRight, clear)
	if clearRight < clear*95/100 || right < all*85/100 {
		t.Errorf("right: %d of %d, of the clear ones %d of %d\n%s", right, all, clearRight, clear, strings.Join(wrong, "\n"))
	}
}

// A success that is one passes; what nobody did is not believed.
func TestSuccessesAreAudited(t *testing.T) {
	for _, task := range examples(t) {
		c := declared(t, task.Judged.Solution.Calls, "")
		out, err := rig(t, says("@")(task)).Try(ctx, mindforge.Pair{Contract: c}, task, 1)
		if err != nil || !out.Pass || out.Points != 1 || out.Run == "" || out.Cost.Turns != len(task.Judged.Solution.Calls)+1 {
			t.Errorf("%s: %+v %v", task.ID, out, err)
		}
		out, err = rig(t, solveNothing(task)).Try(ctx, mindforge.Pair{Contract: c}, task, 1)
		if err != nil || out.Pass || out.Failure != mindforge.Cheat {
			t.Errorf("%s without a call: %+v %v", task.ID, out, err)
		}
	}
}

// solveNothing knows the answer.
func solveNothing(t mindforge.Task) policy {
	return func(backend.Request, int, []string) []chat.Event { return finish(t.Judged.Solution.Answer) }
}

// Every tool of a world is a choice of the catalogue, and every such choice is a tool.
func TestCatalogueHasTheWorldsTools(t *testing.T) {
	have, want := map[string]bool{}, map[string]bool{}
	for _, e := range edit.Committed().Edits() {
		if strings.Contains(e.Value, "world:") {
			have[strings.TrimPrefix(e.Component, "tools.")] = true
		}
	}
	for _, w := range worlds {
		for _, d := range w.Tools() {
			if want[d.Name] = true; !have[d.Name] {
				t.Errorf("the catalogue lacks %s of %s", d.Name, w.Name())
			}
		}
	}
	for name := range have {
		if !want[name] {
			t.Errorf("no world has %s", name)
		}
	}
}
