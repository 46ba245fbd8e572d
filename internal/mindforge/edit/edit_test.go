package edit

import (
	"os"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"macaron/internal/contract"
	"macaron/internal/errs"
	"macaron/internal/mindforge"
)

func shipped(t testing.TB) *contract.Contract {
	t.Helper()
	text, err := os.ReadFile("../../../macaron.toml")
	if err != nil {
		t.Fatal(err)
	}
	c, err := contract.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func must(t interface{ Fatal(...any) }, c *contract.Contract, edits ...mindforge.Edit) *contract.Contract {
	now, err := Apply(c, edits...)
	if err != nil {
		t.Fatal(err)
	}
	return now
}

// more are edits of kinds that the committed catalogue has no choice of.
var more = []mindforge.Edit{
	{Kind: "tool.add", Component: "tools.glance", Value: "use = 'builtin:files.list'\ndescription = 'looks'"},
	{Kind: "tool.describe", Component: "tools.read_file.description", Value: "Reads a file."},
	{Kind: "tool.limit", Component: "tools.read_file.max_calls", Value: "3"},
	{Kind: "memory.set", Component: "memory.max_items", Value: "8"},
	{Kind: "prompt.append", Component: "adapters.L1.prompt#short", Value: "Be short."},
	{Kind: "hook.rounds", Component: "hooks.answered.max_rounds", Value: "5"},
	{Kind: "skill.add", Component: "skills.a", Value: "description = 'x'\ntext = 'y'"},
}

// Every committed edit gives a valid contract of the shipped one, changes its component
// alone, and touches what the catalogue says.
func TestEveryCommittedEditIsWhatItSays(t *testing.T) {
	base, c := shipped(t), Committed()
	for _, e := range c.Edits() {
		now, err := Apply(base, e)
		if err != nil {
			if e.Kind == "sampling.set" || e.Kind == "budget.set" {
				continue // the shipped contract has the value
			}
			t.Fatal(err)
		}
		x, _ := c.Choice(e)
		told, err := Touches(base, now)
		if err != nil {
			t.Fatal(err)
		}
		for name, is := range map[string]bool{"score": told.Score, "cost": told.Cost, "permission": told.Permission} {
			if slices.Contains(x.Touches, name) != is {
				t.Errorf("%s says that it touches %v; it touches %+v", x.ID, x.Touches, told)
			}
		}
		if x.Approval != told.Approval() {
			t.Errorf("%s: approval is %v, and it touches %+v", x.ID, x.Approval, told)
		}
	}
}

// drawn draws edits of one contract, each of which fits behind those before.
func drawn(t *rapid.T, base *contract.Contract, name string) ([]mindforge.Edit, *contract.Contract) {
	all := append(Committed().Edits(), more...)
	var out []mindforge.Edit
	now := base
	for range rapid.IntRange(1, 4).Draw(t, name) {
		e := rapid.SampledFrom(all).Draw(t, "edit")
		if slices.ContainsFunc(out, func(o mindforge.Edit) bool { return Meet(e, o) }) {
			continue
		}
		if next, err := Apply(now, e); err == nil {
			out, now = append(out, e), next
		}
	}
	return out, now
}

// An edit that is made and taken back leaves the contract that was there, also where others
// were made before and behind it.
func TestApplyThenAblate(t *testing.T) {
	base := shipped(t)
	rapid.Check(t, func(t *rapid.T) {
		edits, _ := drawn(t, base, "edits")
		if len(edits) == 0 {
			return
		}
		n := rapid.IntRange(0, len(edits)-1).Draw(t, "back")
		left, now, err := Ablate(base, edits, n)
		if err != nil {
			t.Fatal(err)
		}
		if want := must(t, base, slices.Delete(slices.Clone(edits), n, n+1)...); now.Hash() != want.Hash() || len(left) != len(edits)-1 {
			t.Fatalf("%v without %d", edits, n)
		}
		for len(left) > 0 {
			if left, now, err = Ablate(base, left, 0); err != nil {
				t.Fatal(err)
			}
		}
		if now.Hash() != base.Hash() {
			t.Fatalf("something is left of %v", edits)
		}
	})
}

// undo is the edit that takes an addition back.
func undo(e mindforge.Edit) (mindforge.Edit, bool) {
	of, what, _ := strings.Cut(e.Kind, ".")
	if what != "add" && what != "append" {
		return mindforge.Edit{}, false
	}
	return mindforge.Edit{Kind: of + ".remove", Component: e.Component}, true
}

// What is in words has an edit that takes it away; nothing else has.
func TestRemovalIsOfWordsAlone(t *testing.T) {
	base := shipped(t)
	for _, e := range Committed().Edits() {
		back, err := Removal(e.Component)
		if words := e.Kind == "prompt.append" || e.Kind == "skill.add"; (err == nil) != words {
			t.Errorf("%s: %v", e.Component, err)
		} else if words && must(t, base, e, back).Hash() != base.Hash() {
			t.Errorf("%s leaves something", e.Component)
		}
	}
}

// What was added can be removed by an edit, with the same name as before.
func TestRemoveUndoesAdd(t *testing.T) {
	base, n := shipped(t), 0
	for _, e := range append(Committed().Edits(), more...) {
		back, ok := undo(e)
		if !ok {
			continue
		}
		n++
		if now := must(t, base, e, back); now.Hash() != base.Hash() {
			t.Errorf("%s leaves something", e.Component)
		}
	}
	if n < 10 {
		t.Errorf("%d edits were tried", n)
	}
}

// Edits that touch different components come to one contract in either order, and merge to
// the same list.
func TestMergeCommutes(t *testing.T) {
	base := shipped(t)
	merged := 0
	rapid.Check(t, func(t *rapid.T) {
		a, first := drawn(t, base, "a")
		b, second := drawn(t, base, "b")
		ab, errAB := Merge(a, b)
		ba, errBA := Merge(b, a)
		if (errAB == nil) != (errBA == nil) {
			t.Fatalf("%v, %v", errAB, errBA)
		}
		if errAB != nil {
			return
		}
		if !slices.Equal(ab, ba) {
			t.Fatalf("%v\n%v", ab, ba)
		}
		behind := func(c *contract.Contract, have, more []mindforge.Edit) *contract.Contract {
			return must(t, c, slices.DeleteFunc(slices.Clone(more), func(e mindforge.Edit) bool { return slices.Contains(have, e) })...)
		}
		one, other := behind(first, a, b), behind(second, b, a)
		if must(t, base, ab...).Hash() != one.Hash() || one.Hash() != other.Hash() {
			t.Fatalf("%v and %v come to three contracts", a, b)
		}
		merged++
	})
	if merged == 0 {
		t.Error("nothing was merged")
	}
}

func TestWhatDoesNotFitIsRefused(t *testing.T) {
	base := shipped(t)
	for says, e := range map[string]mindforge.Edit{
		"there is no kind":               {Kind: "policy.set", Component: "policies.effects", Value: "x"},
		"is no component of budget.set":  {Kind: "budget.set", Component: "agent.max_cost_usd", Value: "1"},
		"is no component of prompt":      {Kind: "prompt.append", Component: "prompts.route#x", Value: "x"},
		"no whole number":                {Kind: "budget.set", Component: "agent.max_turns", Value: "1.5"},
		"not be valid":                   {Kind: "budget.set", Component: "agent.max_turns", Value: "0"},
		"nothing would be another":       {Kind: "budget.set", Component: "agent.max_turns", Value: "16"},
		"is there already":               {Kind: "tool.add", Component: "tools.read_file", Value: "use = 'builtin:files.read'"},
		"is not there":                   {Kind: "tool.remove", Component: "tools.none"},
		"0 are taken":                    {Kind: "tool.remove", Component: "tools.read_file", Value: "x"},
		"line break":                     {Kind: "prompt.append", Component: "agent.prompts.system#x", Value: "a\nb"},
		"runes; 600 are taken":           {Kind: "prompt.append", Component: "agent.prompts.system#x", Value: strings.Repeat("x", 601)},
		"among its keys":                 {Kind: "tool.add", Component: "tools.x", Value: "name = 'y'\nuse = 'builtin:files.read'"},
		"is no component of tool.add":    {Kind: "tool.add", Component: "tools.", Value: "use = 'builtin:files.read'"},
		"unknown key":                    {Kind: "tool.add", Component: "tools.x", Value: "use = 'builtin:files.read'\nfree = 1"},
		"the entry none is not there":    {Kind: "prompt.remove", Component: "agent.prompts.system#none"},
		"agent.prompts.repl is not the":  {Kind: "prompt.append", Component: "agent.prompts.repl2#x", Value: "x"},
		"the value is not TOML":          {Kind: "hook.add", Component: "hooks.x", Value: "= = ="},
		"adapters.nobody":                {Kind: "skill.text", Component: "adapters.nobody", Value: "x"},
		"it takes a value away":          {Kind: "memory.remove", Component: "memory", Value: "1"},
		"read_file2 is not there":        {Kind: "tool.describe", Component: "tools.read_file2.description", Value: "x"},
		"is no component of skill.add":   {Kind: "skill.add", Component: "skills.a.b", Value: "description = 'x'"},
		"is no component of sandbox.set": {Kind: "sandbox.set", Component: "sandbox.backend", Value: "1"},
	} {
		_, err := Apply(base, e)
		switch {
		case err == nil || errs.CodeOf(err) != errs.InvalidRequest:
			t.Errorf("%s: %v", says, err)
		case !strings.Contains(err.Error(), says) && !loose[says]:
			t.Errorf("%q lacks %q", err, says)
		}
	}
}

// What a person wrote beside the lines of a contract stands in the edited one too, also where a line was
// changed; what is about an entry that is gone does not.
func TestEditsKeepComments(t *testing.T) {
	text, err := os.ReadFile("../../../macaron.toml")
	if err != nil {
		t.Fatal(err)
	}
	said := strings.NewReplacer("temperature = 0.3", "temperature = 0.3 # calm", "[[hooks]]\n", "# It may not end with nothing.\n[[hooks]]\n").Replace(string(text))
	base, err := contract.Parse([]byte(said))
	if err != nil {
		t.Fatal(err)
	}
	edits := []mindforge.Edit{{Kind: "sampling.set", Component: "sampling.temperature", Value: "0.7"}, {Kind: "prompt.append", Component: "agent.prompts.system#short", Value: "Be short."}}
	now := must(t, base, edits...)
	if plain := must(t, shipped(t), edits...); plain.Hash() != now.Hash() {
		t.Error("comments are part of the name")
	}
	gone := must(t, now, mindforge.Edit{Kind: "hook.remove", Component: "hooks.answered"})
	for c, hooks := range map[*contract.Contract]bool{now: true, gone: false} {
		out, err := c.Text()
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(out), "# calm\ntemperature = 0.7") || !strings.Contains(string(out), "# No repetition penalty") || strings.Contains(string(out), "# It may not end with nothing.\n[[hooks]]") != hooks {
			t.Errorf("%s", out)
		}
	}
}

// Of several edits the one is named by which the contract breaks, wherever it stands; one that is not
// valid alone and is behind another is at no fault.
func TestTheEditThatBreaksIsNamed(t *testing.T) {
	base := shipped(t)
	say := func(id string) mindforge.Edit {
		return mindforge.Edit{Kind: "prompt.append", Component: "agent.prompts.system#" + id, Value: "Say " + id + "."}
	}
	bad := mindforge.Edit{Kind: "budget.set", Component: "agent.max_turns", Value: "0"}
	gone := mindforge.Edit{Kind: "tool.remove", Component: "tools.none"}
	good := mindforge.Edit{Kind: "budget.set", Component: "agent.max_turns", Value: "9"}
	for i, c := range []struct {
		edits []mindforge.Edit
		at    int
		says  string
	}{
		{[]mindforge.Edit{say("a"), say("b"), say("c")}, -1, ""},
		{[]mindforge.Edit{bad, say("a"), say("b")}, 0, "budget.set of agent.max_turns: the contract would not be valid"},
		{[]mindforge.Edit{say("a"), bad, say("b")}, 1, "budget.set of agent.max_turns: the contract would not be valid"},
		{[]mindforge.Edit{say("a"), say("b"), bad}, 2, "budget.set of agent.max_turns: the contract would not be valid"},
		{[]mindforge.Edit{say("a"), gone, say("b")}, 1, "tool.remove of tools.none: none is not there"},
		{[]mindforge.Edit{bad, say("a"), good}, -1, ""},
		{[]mindforge.Edit{bad, good, say("a"), bad, say("b")}, 3, "budget.set of agent.max_turns: the contract would not be valid"},
		{nil, -1, ""},
	} {
		_, err := Apply(base, c.edits...)
		if at := Breaks(base, c.edits...); at != c.at || (err == nil) != (c.at < 0) || err != nil && !strings.Contains(err.Error(), c.says) {
			t.Errorf("%d: the edit %d breaks: %v", i, at, err)
		}
	}
}

// loose are cases whose words are those of another check, which comes first.
var loose = map[string]bool{"agent.prompts.repl is not the": true, "adapters.nobody": true, "it takes a value away": true, "unknown key": true}

// A person says yes wherever more may be called, changed or left unchecked.
func TestWhoMustBeAsked(t *testing.T) {
	base := shipped(t)
	for _, x := range []struct {
		e    mindforge.Edit
		asks bool
	}{
		{mindforge.Edit{Kind: "tool.add", Component: "tools.glance", Value: "use = 'builtin:files.list'"}, true},
		{mindforge.Edit{Kind: "tool.remove", Component: "tools.read_file"}, true},
		{mindforge.Edit{Kind: "tool.limit", Component: "tools.read_file.max_calls", Value: "3"}, true},
		{mindforge.Edit{Kind: "tool.describe", Component: "tools.read_file.description", Value: "Reads."}, false},
		{mindforge.Edit{Kind: "hook.remove", Component: "hooks.answered"}, true},
		{mindforge.Edit{Kind: "hook.add", Component: "hooks.x", Value: "on = 'stop'\npython = 'True'"}, true},
		{mindforge.Edit{Kind: "hook.add", Component: "hooks.x", Value: "on = 'before_tool'\ncheck = 'answer.present'"}, true},
		{mindforge.Edit{Kind: "hook.add", Component: "hooks.x", Value: "on = 'stop'\ncheck = 'answer.present'"}, false},
		{mindforge.Edit{Kind: "sandbox.set", Component: "sandbox.memory_mb", Value: "1024"}, true},
		{mindforge.Edit{Kind: "mode.set", Component: "agent.mode", Value: "hybrid"}, true},
		{mindforge.Edit{Kind: "memory.remove", Component: "memory"}, false},
		{mindforge.Edit{Kind: "budget.set", Component: "agent.max_turns", Value: "99"}, false},
	} {
		told, err := Touches(base, must(t, base, x.e))
		if err != nil || told.Approval() != x.asks {
			t.Errorf("%s of %s: %+v, %v", x.e.Kind, x.e.Component, told, err)
		}
	}
}

func TestEntriesOfAPrompt(t *testing.T) {
	c := must(t, shipped(t), mindforge.Edit{Kind: "prompt.append", Component: "agent.prompts.system#b", Value: "second"},
		mindforge.Edit{Kind: "prompt.append", Component: "agent.prompts.system#a", Value: "first"},
		mindforge.Edit{Kind: "prompt.replace", Component: "agent.prompts.system#b", Value: "2nd"})
	ids, texts := Entries(c.Agent.Prompts.System)
	if !slices.Equal(ids, []string{"a", "b"}) || !slices.Equal(texts, []string{"first", "2nd"}) {
		t.Errorf("%v %v", ids, texts)
	}
	if !Shrinks(c, must(t, c, mindforge.Edit{Kind: "prompt.remove", Component: "agent.prompts.system#a"})) == Shrinks(c, c) {
		t.Error("one line less is a collapse")
	}
	small := *c
	small.Agent.Prompts = contract.AgentPrompts{System: "Do it."}
	if small.Tools = nil; !Shrinks(c, &small) {
		t.Error("nearly all is gone, and there is no alarm")
	}
	if !Tuning([]mindforge.Edit{{Kind: "budget.set"}, {Kind: "sampling.set"}}) || Tuning([]mindforge.Edit{{Kind: "budget.set"}, {Kind: "tool.add"}}) || Tuning(nil) {
		t.Error("tuning is what changes numbers and nothing else")
	}
}
