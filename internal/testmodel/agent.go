package testmodel

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Talk is the contract of the repository that lies at root, without its agent and without
// chance; its adapters are found from anywhere.
func Talk(t testing.TB, root string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, "macaron.toml"))
	if err != nil {
		t.Fatal(err)
	}
	adapters, err := filepath.Abs(filepath.Join(root, "adapters"))
	if err != nil {
		t.Fatal(err)
	}
	before, _, _ := strings.Cut(string(text), "[agent]")
	before = strings.Replace(before, "temperature = 0.3", "temperature = 0.0", 1)
	return strings.ReplaceAll(before, `"adapters/`, `"`+adapters+`/`)
}

// Agent is how the default model acts, behind Talk: every answer is a call that its engine
// holds to the schemas, and a gate wants the tool must to have been called. tools are the
// tables of the tools beside finish, their arguments as enums: that much this model can do.
func Agent(tools, must string) string {
	return `
[agent]
mode = "functions"
adapter = "L1"
max_turns = 6
step_tokens = 96
[agent.prompts]
system = """
{{specialist}}
Do the task with the tools. When you know the answer, call finish."""
gate = "You are not finished: {{reason}}."
` + tools + `
[[tools]]
name = "finish"
use = "builtin:run.finish"
[[hooks]]
name = "looked"
on = "stop"
check = "tools.called"
with = {tools = ["` + must + `"]}
max_rounds = 5
`
}
