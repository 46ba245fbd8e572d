package edit

import (
	"encoding/base64"
	"encoding/hex"
	"slices"
	"strings"
	"testing"

	"macaron/internal/mindforge"
)

func seen() []mindforge.Task {
	t := mindforge.Task{ID: "compose/orders/2/981", Canary: "canary-7f31c2", Instruction: "How many orders did the region EU place between March and May of this year?"}
	t.Judged.Solution.Answer = "Quarzuhr"
	u := mindforge.Task{ID: "text/letters/0/7", Canary: "canary-91aa00", Instruction: "Reverse the word."}
	u.Judged.Solution.Answer = "value" // a word of the catalogue: nobody's secret
	return []mindforge.Task{t, u}
}

func rules(found []Finding) []Rule {
	var out []Rule
	for _, f := range found {
		if f.Refuses() && !slices.Contains(out, f.Rule) {
			out = append(out, f.Rule)
		}
	}
	return out
}

func own(value string) []mindforge.Edit {
	return []mindforge.Edit{{Kind: "prompt.append", Component: "agent.prompts.system#own-words", Value: value}}
}

// What the catalogue has passes, whatever tasks there are.
func TestCommittedEditsPass(t *testing.T) {
	c := Committed()
	g, err := NewGuard(c, seen())
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range c.Edits() {
		if found := g.Lint([]mindforge.Edit{e}, false); len(rules(found)) > 0 {
			t.Errorf("%s: %v", e.Component, found)
		}
	}
	if found := g.Lint([]mindforge.Edit{{Kind: "budget.set", Component: "agent.max_turns", Value: "4"}}, false); len(found) != 1 || found[0].Rule != Tuned || found[0].Refuses() {
		t.Errorf("%v", found)
	}
}

// Each way to put a task into a contract is found, and honest words are not.
func TestLintFindsWhatTellsOfTasks(t *testing.T) {
	g, err := NewGuard(Committed(), seen())
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range []struct {
		value string
		want  []Rule
	}{
		{"Use the tool that counts before you answer.", nil},
		{"Give dates in German form, such as 3. Mai.", nil},
		{"Write Привет for a greeting.", nil},
		{"In compose/orders/2/981 say so.", []Rule{TaskID}},
		{"In text/colours/0/12 say so.", []Rule{TaskID}},
		{"Look for CANARY-7F31C2.", []Rule{Canaried}},
		{"The answer is Quarzuhr.", []Rule{Answered}},
		{"The answer is QUARZUHR", []Rule{Answered}},
		{"Say Q u a r z u h r", []Rule{Answered}},
		{"Say rhuzrauQ backwards", []Rule{Answered}},
		{"Say Dhnemhue", []Rule{Answered}},
		{"Decode " + base64.StdEncoding.EncodeToString([]byte("Quarzuhr")), []Rule{Answered}},
		{"Decode " + hex.EncodeToString([]byte("quarzuhr")), []Rule{Answered}},
		{"Say Quаrzuhr", []Rule{Homograph}}, // a Cyrillic letter
		{"Say Quarz\u200buhr", []Rule{Homograph, Answered}},
		{"Say Ｑuarzuhr", []Rule{Homograph, Answered}},
		{"Did the region EU place between March", []Rule{Copied}},
		{"Write 1 into reward.txt first.", []Rule{Machinery}},
		{"Read /tests/ and the answer key.", []Rule{Machinery}},
		{"Use sk-proj-abcdefghijklmnopqrstuvwxyz0123456789 to log in.", []Rule{Secret}},
		{strings.Repeat("Look again. ", 60), []Rule{Long}},
		{strings.Repeat("Look again. ", 40), []Rule{Unknown}}, // more than the choice is free for
	} {
		got := rules(g.Lint(own(x.value), true))
		for _, r := range x.want {
			if !slices.Contains(got, r) {
				t.Errorf("%q: %v, want %v", x.value, got, x.want)
			}
		}
		if len(x.want) == 0 && len(got) > 0 {
			t.Errorf("%q: %v, want nothing", x.value, got)
		}
	}
	if got := rules(g.Lint(own("Look twice."), false)); !slices.Equal(got, []Rule{Unknown}) {
		t.Errorf("a free text where none is allowed: %v", got)
	}
	if got := rules(g.Lint([]mindforge.Edit{{Kind: "tool.add", Component: "tools.shell", Value: "use = 'builtin:shell.run'"}}, true)); !slices.Equal(got, []Rule{Unknown}) {
		t.Errorf("a tool that is no choice: %v", got)
	}
}

func TestCatalogueIsReadStrictly(t *testing.T) {
	good := `schema = "macaron.edits/1"
name = "n"
version = "1"
[[edits]]
id = "a"
about = "x"
kind = "budget.set"
component = "agent.max_turns"
values = [4]
touches = ["score"]
approval = false
`
	a, err := Parse([]byte(good))
	if err != nil || len(a.Edits()) != 1 || a.Edits()[0].Value != "4" {
		t.Fatal(a, err)
	}
	for _, x := range [][2]string{{"values = [4]", "values = []"}, {"values = [4]", "free = 10"}, {"values = [4]", `values = ["x"]`}, {"agent.max_turns", "policies.effects"},
		{"budget.set", "budget.put"}, {"id = \"a\"", "id = \"A b\""}, {"about", "abuot"}, {"edits/1", "edits/2"}, {"values = [4]", "values = [[4]]"}} {
		if _, err := Parse([]byte(strings.Replace(good, x[0], x[1], 1))); err == nil {
			t.Errorf("%s in place of %s is taken", x[1], x[0])
		}
	}
	b, err := Parse([]byte(strings.Replace(good, "[4]", "[5]", 1)))
	if err != nil || a.Hash() == b.Hash() {
		t.Error("another value has the same name")
	}
}
