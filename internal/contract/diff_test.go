package contract

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestDiffSpeaksOfBehaviour(t *testing.T) {
	text := full(t)
	base := parse(t, text)
	for _, c := range []struct {
		old, new   string
		path, what string
		class      Class
		compatible bool
		bump       string
	}{
		{`version = "2.1.0-rc.1"`, `version = "2.1.0"`, "version", "2.1.0", Cosmetic, true, "patch"},
		{`title = "Chat"`, `title = "Talk"`, "adapters.L0.title", "Talk", Cosmetic, true, "patch"},
		{`summary = "In one sentence."`, `summary = "In two."`, "prompts.summary", "1 lines gone, 1 new of 1", Score, true, "minor"},
		{"max_turns = 12", "max_turns = 6", "agent.max_turns", "is lowered: 12 -> 6", Score, false, "major"},
		{"max_turns = 12", "max_turns = 20", "agent.max_turns", "is raised", Score, true, "minor"},
		{"max_cost_usd = 0.5", "", "agent.max_cost_usd", "0.5 -> nothing", Cost, true, "minor"},
		{"retries = 2", "retries = 3", "tools.weather.retries", "2 -> 3", Cost, true, "minor"},
		{`required = ["city"]`, ``, "tools.weather.parameters", "city may be left out", Score, true, "minor"},
		{`properties.city.type = "string"`, "properties.city.type = \"string\"\nproperties.day.type = \"string\"", "tools.weather.parameters", "day is new", Score, true, "minor"},
		{`properties.city.type = "string"`, "properties.town.type = \"string\"", "tools.weather.parameters", "city is gone; town is new", Score, false, "major"},
		{`properties.city.type = "string"`, "properties.city = {type = \"string\", description = \"x\"}", "tools.weather.parameters", "city is", Score, true, "minor"},
		{`properties.city.type = "string"`, "properties.city.type = \"integer\"", "tools.weather.parameters", "city is", Score, false, "major"},
		{`noai = ["/token"]`, `noai = ["/token", "/id"]`, "tools.weather.noai", "now /id", Score, false, "major"},
		{`effects = ["pure", "read", "write"]`, `effects = ["pure", "read"]`, "policies.effects", "no more write", Score, false, "major"},
		{`approve = ["write"]`, ``, "policies.approve", "no more write", Score, true, "minor"},
		{`visible = ["data/**"]`, ``, "workspace.visible", "no more data/**", Score, true, "minor"},
		{`name = "median"`, `name = "mean"`, "tools.mean", "tool mean is new", Score, true, "major"},
		{`mode = "hybrid"`, `mode = "repl"`, "agent.mode", `"hybrid" -> "repl"`, Score, false, "major"},
		{`base = "tiny"`, `base = "big"`, "model.base", `"tiny" -> "big"`, Score, false, "major"},
		{`call = "<call>"`, `call = "<c>"`, "tokens.call", "<c>", Score, false, "major"},
	} {
		if !strings.Contains(text, c.old) {
			t.Fatalf("the fixture has no %q", c.old)
		}
		changes, err := Diff(base, parse(t, strings.Replace(text, c.old, c.new, 1)))
		if err != nil {
			t.Fatal(err)
		}
		got, ok := find(changes, func(x Change) bool { return x.Path == c.path })
		if !ok || !strings.Contains(got.What, c.what) || got.Class != c.class || got.Compatible != c.compatible || Bump(changes) != c.bump {
			t.Errorf("%s: %+v, %s", c.new, changes, Bump(changes))
		}
	}
}

// Equal contracts differ in nothing; others in something, the same both ways round.
func TestDiffProperties(t *testing.T) {
	base := parse(t, full(t))
	rapid.Check(t, func(t *rapid.T) {
		a, b := drawn(t, base), drawn(t, base)
		there, err := Diff(a, b)
		if err != nil {
			t.Fatal(err)
		}
		back, err := Diff(b, a)
		if err != nil {
			t.Fatal(err)
		}
		if (len(there) == 0) != (a.Hash() == b.Hash()) || len(there) != len(back) {
			t.Fatalf("%d and %d changes", len(there), len(back))
		}
		for i, c := range there {
			if c.Path != back[i].Path || string(c.Was) != string(back[i].Now) || c.What == "" {
				t.Fatalf("%+v and %+v", c, back[i])
			}
		}
		if same, err := Diff(a, a); err != nil || len(same) != 0 {
			t.Fatalf("%+v %v", same, err)
		}
	})
}

// Every path that is compared in a way of its own is one that contracts have.
func TestKindsNameWhatExists(t *testing.T) {
	have := map[string]bool{}
	for _, text := range []string{full(t), fixture(t)} {
		m, err := flat(parse(t, text))
		if err != nil {
			t.Fatal(err)
		}
		for path := range m {
			have[generic(path)] = true
		}
	}
	for path := range kinds {
		if !have[path] && !strings.HasPrefix(path, "split.") && path != "adapters.*.owners" && path != "adapters.*.users" {
			t.Errorf("no contract has %s", path)
		}
	}
}

// A name with dots hides nothing, and cannot be taken for another entry's key.
func TestDiffSeesNamesWithDots(t *testing.T) {
	hook := func(name, on string) string {
		return "\n[[hooks]]\nname = \"" + name + "\"\non = \"" + on + "\"\ncheck = \"answer.present\"\n"
	}
	text := full(t) + hook("a", "stop")
	dotted := parse(t, text+hook("a.on", "stop"))
	for _, c := range []struct {
		was, now   *Contract
		path, what string
	}{
		{parse(t, text), dotted, `hooks."a.on"`, "hook a.on is new"},
		{dotted, parse(t, text), `hooks."a.on"`, "hook a.on is gone"},
		{dotted, parse(t, text+hook("a.on", "start")), `hooks."a.on".on`, `"stop" -> "start"`},
	} {
		changes, err := Diff(c.was, c.now)
		if err != nil || len(changes) == 0 || changes[0].Path != c.path && changes[len(changes)-1].Path != c.path {
			t.Fatalf("%s: %+v %v", c.path, changes, err)
		}
		if got, ok := find(changes, func(x Change) bool { return x.Path == c.path }); !ok || !strings.Contains(got.What, c.what) {
			t.Errorf("%s: %+v", c.path, changes)
		}
	}
}
