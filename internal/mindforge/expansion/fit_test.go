package expansion_test

import (
	"os"
	"strings"
	"testing"

	"macaron/internal/contract"
	"macaron/internal/mindforge"
	"macaron/internal/mindforge/edit"
	"macaron/internal/mindforge/expansion"
	"macaron/internal/mindforge/scripted"
)

// traps is a catalogue of which the base below takes six edits: a gate and a skill need prompts that
// it does not have. The last two are valid alone and not together.
const traps = `schema = "macaron.edits/1"
name = "traps"
version = "1.0.0"
[[edits]]
id = "gate"
kind = "hook.add"
component = "hooks.present"
values = [{on = "stop", check = "answer.present"}]
[[edits]]
id = "skill"
kind = "skill.add"
component = "skills.plan"
values = [{description = "d", text = "t"}]
[[edits]]
id = "one"
kind = "prompt.append"
component = "agent.prompts.system#one"
values = ["Do one step.", "Do one thing."]
[[edits]]
id = "two"
kind = "prompt.append"
component = "agent.prompts.system#two"
values = ["Do it twice."]
[[edits]]
id = "turns"
kind = "budget.set"
component = "agent.max_turns"
values = [4, 6]
[[edits]]
id = "gone"
kind = "tool.remove"
component = "tools.peek"
[[edits]]
id = "guard"
kind = "hook.add"
component = "hooks.guard"
values = [{on = "before_tool", check = "answer.present", tools = ["peek"]}]
`

// trapped is a planted problem with the catalogue of traps.
func trapped(t *testing.T, attempts int) *expansion.Search {
	t.Helper()
	_, s := problem(t, 3, attempts)
	text, err := os.ReadFile("../scripted/base.toml")
	if err != nil {
		t.Fatal(err)
	}
	short, _, found := strings.Cut(string(text), "gate = ")
	s.Base.Contract, err = contract.Parse([]byte(short + "[[tools]]\nname = \"peek\"\nuse = \"world:peek\"\n"))
	if err != nil || !found {
		t.Fatal(err)
	}
	if s.Catalogue, err = edit.Parse([]byte(traps)); err != nil {
		t.Fatal(err)
	}
	if fit := s.Catalogue.Fitting(s.Base.Contract); len(fit) != 6 {
		t.Fatalf("the base takes %v", fit)
	}
	return s
}

// No step is lost to an edit that the contract cannot take: whoever proposes, and whatever the
// parent has, a contract that is proposed is valid. Nothing is left out either.
func TestEveryDraftCanBeMade(t *testing.T) {
	for _, c := range []struct {
		rates expansion.Rates
		by    expansion.Proposer
	}{
		{expansion.Rates{Reflect: 1}, expansion.Uniform{}}, {expansion.Rates{Reflect: 1}, scripted.Reflective{Skill: 1}},
		{expansion.Rates{Mutate: 1}, expansion.Uniform{}}, {expansion.Rates{Mutate: 1, Restart: 4}, expansion.Uniform{}},
	} {
		s := trapped(t, 600)
		s.Rates, s.Proposer = c.rates, c.by
		r, err := s.Run(ctx)
		if err != nil {
			t.Fatal(err)
		}
		tried := map[mindforge.Edit]bool{}
		for _, step := range r.Steps {
			if strings.HasPrefix(step.Stopped, "proposal: ") {
				t.Errorf("%+v by %s: step %d, %s: %s", c.rates, c.by.Name(), step.N, step.Candidate.Operator, step.Stopped)
			}
			for _, e := range step.Candidate.Edits {
				tried[e] = true
			}
		}
		if len(tried) != 6 {
			t.Errorf("%+v by %s: of 6 edits %d were tried", c.rates, c.by.Name(), len(tried))
		}
	}
}

// The controls draw from what can be made, and a catalogue of few contracts comes to an end before
// its attempts are spent.
func TestControlsEndOnAFewContracts(t *testing.T) {
	s := trapped(t, 100_000)
	if _, err := s.RandomSearch(ctx); err != nil {
		t.Fatal(err)
	}
	c := &expansion.Coverage{Seed: 1, Rounds: 2, Actor: s.Actor, Catalogue: s.Catalogue, Base: s.Base, Items: s.Train[:10], Train: s.Valid[:2], Variety: 6}
	for name, arm := range map[string]func() (expansion.Harvest, error){
		"random": func() (expansion.Harvest, error) { return c.Random(ctx) }, "portfolio": func() (expansion.Harvest, error) { return c.Portfolio(ctx) },
		"adaptive": func() (expansion.Harvest, error) { return c.Adaptive(ctx, expansion.Uniform{}) },
	} {
		h, err := arm()
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		with := 0
		for _, x := range h.Tries {
			if len(x.Edits) > 0 {
				with++
			}
		}
		if with == 0 {
			t.Errorf("%s: no contract of the catalogue was tried", name)
		}
	}
}
