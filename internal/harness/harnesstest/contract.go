// Package harnesstest is what tests of runs have in common: a contract of one specialist, a model
// that says what a test wants it to, and a log. It does not know the harness, whose own tests use it.
package harnesstest

import (
	"strconv"
	"strings"
	"testing"

	"macaron/internal/adapter"
	"macaron/internal/contract"
	"macaron/internal/ids"
)

// Adapter is the one specialist of the contracts, as it is served.
var Adapter = adapter.Revision{Name: "A", Hash: ids.DigestOf([]byte("A"))}

// Prompt is what the specialist is told if a test does not care.
const Prompt = "You act."

// Finish is the table of the tool that ends a run.
const Finish = "\n[[tools]]\nname = \"finish\"\nuse = \"builtin:run.finish\"\n"

// NoSnapshots is a table that leaves workspaces as they are.
const NoSnapshots = "\n[workspace]\nsnapshots = \"none\"\n"

// Text is a contract. agent are lines of its table [agent], and tables behind them; the mode is
// that of functions if they name none.
func Text(prompt, agent string) string {
	own, tables, _ := strings.Cut("\n"+agent, "\n[")
	if tables != "" {
		tables = "\n[" + tables
	}
	if !strings.Contains(own, "mode") {
		own += "\nmode = \"functions\""
	}
	return strings.Replace(head, strconv.Quote(Prompt), strconv.Quote(prompt), 1) + "[agent]" + own + tables
}

// Contract is Text, parsed.
func Contract(t testing.TB, prompt, agent string) *contract.Contract {
	t.Helper()
	c, err := contract.Parse([]byte(Text(prompt, agent)))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

const head = `
schema = "macaron.hcp/2"
name = "test"
version = "1.0.0"
model = {base = "b"}
[prompts]
system = "{{specialist}}"
route = "{{adapters}}"
summary = "sum"
foreign = "{{summary}}"
tools = "Tools: {{tools}}"
[router]
adapter = "A"
default = "A"
request_chars = 100
[budgets]
route_tokens = 1
summary_tokens = 1
answer_tokens = 200
[[adapters]]
name = "A"
title = "A"
source = "a"
description = "d"
prompt = "You act."
[agent.prompts]
system = "{{specialist}} Do it."
repl = "Python has:\n{{stubs}}"
hybrid = "Look before you change."
gate = "Not yet: {{reason}}"
memory = "Known:\n{{items}}"
skills = "Skills:\n{{skills}}"
`
