package harness

import (
	"strings"
	"testing"

	"macaron/internal/record"
	"macaron/internal/tool"
)

// What begins like a call and cannot be read is never the answer, in the formats of models
// and in the contract's own; the model is told, and its turns are counted.
func TestACallThatIsNotReadIsNoAnswer(t *testing.T) {
	const tokens = "\n[tokens]\ncall = \"[[\"\ncall_end = \"]]\"\n"
	tools := []tool.Tool{number("double", tool.Pure, double)}
	for name, c := range map[string]struct{ agent, said, told string }{
		"arguments that are no JSON": {"", `<tool_call>{"name": "double", "arguments": None}</tool_call>`, "behind <tool_call> is not read"},
		"hybrid":                     {`mode = "hybrid"`, `Now: <tool_call>{"name": "double"`, "behind <tool_call> is not read"},
		"a tool that is not there":   {"", `<tool_call>{"name": "triple", "arguments": {}}</tool_call>`, "Call one of double "},
		"another format":             {"", `[TOOL_CALLS] double{"n": }`, "behind [TOOL_CALLS] is not read"},
		"the contract's own":         {tokens, `[[{"name": "double", "arguments": None}]]`, "The call is not read. Write [["},
	} {
		t.Run(name, func(t *testing.T) {
			agent := c.agent + "\n[[hooks]]\nname = \"present\"\non = \"stop\"\ncheck = \"answer.present\"\n"
			r := setup(t, t.TempDir(), agent, script(say(c.said), "eight"), strings.Contains(agent, "hybrid"), tools...)
			got := r.run(t, Options{})
			done(t, got, "eight")
			if shown := r.shown(t, got.RunID); len(shown) != 1 || !strings.Contains(shown[0], c.told) {
				t.Errorf("%q", shown)
			}
			r = setup(t, t.TempDir(), agent, script(say(c.said), say(c.said)), strings.Contains(agent, "hybrid"), tools...)
			if got := r.run(t, Options{Limits: record.RunLimits{Turns: 2}}); got.Status != record.RunTurns || got.Answer != "" {
				t.Errorf("%+v", got)
			}
		})
	}
}

// Marks that begin no call: other contracts' texts, code, and the argument of finish.
func TestMarksThatAreNoCalls(t *testing.T) {
	tools := []tool.Tool{number("double", tool.Pure, double)}
	for agent, answers := range map[string][]say{
		"\n[tokens]\ncall = \"[[\"\ncall_end = \"]]\"\n": {"a <tool_call> b"},
		"mode = \"repl\"": {"```python\n'<tool_call>'\n```", "a b"},
		"\n[[tools]]\nname = \"finish\"\nuse = \"builtin:run.finish\"\n": {`finish {"answer":"a <tool_call> b"}`},
	} {
		r := setup(t, t.TempDir(), agent, script(answers...), strings.Contains(agent, "repl"), tools...)
		got := r.run(t, Options{})
		if got.Status != record.RunDone || got.Totals.Turns != len(answers) || !strings.HasPrefix(got.Answer, "a ") {
			t.Errorf("%s: %+v", agent, got)
		}
	}
	r := setup(t, t.TempDir(), "", script("a <tool_call> b"), false)
	done(t, r.run(t, Options{}), "a <tool_call> b") // no tools are offered
}
