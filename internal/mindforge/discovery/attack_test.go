package discovery_test

import (
	"encoding/json"
	"strings"
	"testing"

	"macaron/internal/mindforge"
	"macaron/internal/mindforge/discovery"
	"macaron/internal/mindforge/world"
)

// written is a good task that a model could write, with something changed.
func written(t *testing.T, change func(f *world.Free)) []byte {
	t.Helper()
	call := func(tool string, args map[string]string) mindforge.Call {
		return mindforge.Call{Tool: tool, Args: args}
	}
	f := world.Free{
		World: "text", Instruction: "Sort the words of the text down, then give the initials of what there is.", Answer: "Answer with the resulting text alone.", Text: "stone river cloud",
		Goal:     world.Goal{Asked: true, Answer: "src"},
		Solution: mindforge.Solution{What: "the solution", Calls: []mindforge.Call{call("sort_words", map[string]string{"way": "down"}), call("initials", nil)}, Answer: "$1"},
		Failing:  []mindforge.Solution{{What: "empty answer"}, {What: "constant answer", Answer: "0"}, {What: "up", Answer: "crs"}},
	}
	f.Solution.Calls[1].Args = map[string]string{}
	if change != nil {
		change(&f)
	}
	raw, err := json.Marshal(f)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// write gives the reason for which a written task is refused.
func write(t *testing.T, d *discovery.Discoverer, raw []byte) discovery.Reason {
	t.Helper()
	c, no := d.Write(worlds, raw, "scripted")
	if no != nil {
		return no.Reason
	}
	return consider(t, d, *c)
}

func TestATaskThatAModelWroteIsKept(t *testing.T) {
	d := open(t, solves(2), nil)
	if got := write(t, d, written(t, nil)); got != "" {
		t.Fatal(got, d.Report())
	}
	r := d.Kept()[0]
	if r.Source.Kind != discovery.Written || !strings.HasPrefix(r.Task.Family, world.FreeFamily) || r.Task.Shape.Calls != 2 || r.Task.Shape.Depth != 2 {
		t.Errorf("%+v", r)
	}
	if got := write(t, d, written(t, nil)); got != discovery.Alike {
		t.Errorf("the same again: %q", got)
	}
	renamed := written(t, func(f *world.Free) {
		f.Instruction, f.Text, f.Goal.Answer, f.Failing[2].Answer = "Put everything into falling order and tell me only how each begins.", "lemon tiger piano", "tpl", "lpt"
	})
	if got := write(t, d, renamed); got != discovery.Repeated {
		t.Errorf("the same problem with other constants: %q", got)
	}
}

// Tasks that would teach the wrong thing.
func TestAttacks(t *testing.T) {
	for _, a := range []struct {
		what   string
		change func(f *world.Free)
		want   discovery.Reason
	}{
		{"a verifier that judges nothing", func(f *world.Free) { f.Goal = world.Goal{} }, discovery.Malformed},
		{"a verifier that passes a failing solution", func(f *world.Free) { f.Failing[2].Answer = "src" }, discovery.Insecure},
		{"a verifier that the constant passes", func(f *world.Free) { f.Goal.Answer, f.Failing[1].Answer = "src", "src\n" }, discovery.Insecure},
		{"a verifier that never passes", func(f *world.Free) { f.Goal.Answer = "unreachable" }, discovery.Unsolvable},
		{"a file that nobody makes", func(f *world.Free) { f.Goal.Files = map[string]string{"reward.txt": "1"} }, discovery.Unsolvable},
		{"the answer in the request", func(f *world.Free) { f.Instruction += " (It is: src)" }, discovery.Leak},
		{"the answer in the answer's form", func(f *world.Free) { f.Answer = "Answer with \"SRC\"." }, discovery.Leak},
		{"too long a request", func(f *world.Free) { f.Instruction += strings.Repeat(" And again.", 120) }, discovery.TooLong},
		{"a request without bound", func(f *world.Free) { f.Instruction = strings.Repeat("x", 3000) }, discovery.Malformed},
		{"two failing solutions", func(f *world.Free) { f.Failing = f.Failing[:2] }, discovery.Malformed},
		{"no empty answer among them", func(f *world.Free) { f.Failing[0].Answer = "x" }, discovery.NoFailing},
		{"a tool that there is not", func(f *world.Free) { f.Solution.Calls[0].Tool = "write_reward" }, discovery.Unknown},
		{"a value of the future", func(f *world.Free) { f.Solution.Calls[0].Args = map[string]string{"way": "$1"} }, discovery.Malformed},
		{"a world that there is not", func(f *world.Free) { f.World = "evaluator" }, discovery.Unknown},
		{"a path that leads out", func(f *world.Free) { f.World, f.Files = "terminal", map[string]string{"../x": "y"} }, discovery.Malformed},
		{"a sealed canary", func(f *world.Free) { f.Text += " " + strings.ToUpper(sealedCanary(t)) }, discovery.Tainted},
		{"sealed words", func(f *world.Free) { f.Instruction = task(t, worlds[0], "item_price", 0, 9001).Instruction }, discovery.Tainted},
	} {
		d := open(t, solves(2), nil)
		if got := write(t, d, written(t, a.change)); got != a.want {
			t.Errorf("%s: %q, want %q", a.what, got, a.want)
		}
		if told := d.Report(); told.Refused[a.want] != 1 || told.Kept != 0 {
			t.Errorf("%s: %+v", a.what, told)
		}
	}
}

func sealedCanary(t *testing.T) string { return task(t, worlds[0], "item_price", 0, 9001).Canary }

// Proposals that are no JSON, or not that of a task.
func TestHostileProposals(t *testing.T) {
	good := string(written(t, nil))
	for what, raw := range map[string]string{
		"nothing": "", "words": "Sure! Here is a task.", "a list": "[]", "two": good + good, "an unknown field": strings.Replace(good, `"world"`, `"verify":"return True","world"`, 1),
		"a deep value": strings.Repeat(`{"goal":`, 20000), "a number": strings.Replace(good, `"text"`, `7`, 1), "large": `{"instruction":"` + strings.Repeat("x", 1<<19) + `"}`,
	} {
		d := open(t, solves(2), nil)
		if got := write(t, d, []byte(raw)); got != discovery.Malformed {
			t.Errorf("%s: %q", what, got)
		}
	}
}

// A typed choice says no more than the catalogue allows.
func TestChoices(t *testing.T) {
	d := open(t, solves(2), nil)
	schema, err := d.ChoiceSchema(worlds)
	if err != nil || strings.Contains(string(schema), "item_price") || !strings.Contains(string(schema), "text/slug") {
		t.Fatalf("%s %v", schema, err)
	}
	for raw, want := range map[string]discovery.Reason{
		`{"family":"text/slug","level":1,"ways":["chain","prefer"]}`:                        "",
		`{"family":"terminal/find","level":0,"ways":[]}`:                                    "",
		`{"family":"compose/item_price","level":0,"ways":[]}`:                               discovery.Unknown, // it is sealed
		`{"family":"compose/none","level":0,"ways":[]}`:                                     discovery.Unknown,
		`{"family":"text/slug","level":99,"ways":[]}`:                                       discovery.Malformed,
		`{"family":"text/slug","level":-1,"ways":[]}`:                                       discovery.Malformed,
		`{"family":"text/slug","level":0,"ways":["chain","chain","chain","chain","chain"]}`: discovery.Malformed,
		`{"family":"text/slug","level":0,"ways":["bribe"]}`:                                 discovery.Unknown,
		`{"family":"text/slug","level":0,"ways":[],"seed":9001}`:                            discovery.Malformed,
		`{"family":"text/slug","level":0,"ways":[]} {"family":"text/slug"}`:                 discovery.Malformed,
		`{"family":"text/slug` + strings.Repeat("g", 5000) + `","level":0,"ways":[]}`:       discovery.Malformed,
		`{"family":"text/free-0123","level":0,"ways":[]}`:                                   discovery.Unknown,
	} {
		c, no := d.Choose(worlds, []byte(raw), "scripted", 1)
		var got discovery.Reason
		if no != nil {
			got = no.Reason
		} else {
			got = consider(t, d, *c)
		}
		if got != want {
			t.Errorf("%.80s: %q, want %q", raw, got, want)
		}
	}
}

// A verifier that is a coin, and a task that claims to be another one.
func TestFlakyAndForgedTasks(t *testing.T) {
	n := 0
	good := task(t, worlds[0], "item_room", 0, 1)
	if got := consider(t, open(t, solves(2), nil), of(flips{worlds[0], &n}, good)); got != discovery.Flaky {
		t.Errorf("a coin: %q", got)
	}
	forged := good
	forged.Instruction = "Say anything at all about the old mill."
	if got := consider(t, open(t, solves(2), nil), of(worlds[0], forged)); got != discovery.Flaky {
		t.Errorf("another request under the name: %q", got)
	}
	forged = good
	forged.Judged.Failing = append(forged.Judged.Failing[:2:2], mindforge.Solution{What: "made up", Answer: "x"})
	if got := consider(t, open(t, solves(2), nil), of(worlds[0], forged)); got != discovery.Flaky {
		t.Errorf("other failing solutions: %q", got)
	}
}

// The sealed split answers yes for its family, its window, its canaries and its words.
func TestTheSealedSplit(t *testing.T) {
	sealed := task(t, worlds[0], "item_price", 0, 7)
	g, err := discovery.NewGuard(t.Context(), []mindforge.Task{sealed})
	if err != nil {
		t.Fatal(err)
	}
	for what, c := range map[string]struct {
		q    discovery.Question
		want bool
	}{
		"another task": {discovery.Question{World: "text", Family: "case", Seed: 8, Texts: []string{"Change the case of the text to upper."}}, false},
		"its family":   {discovery.Question{World: "compose", Family: "item_price", Seed: 8}, true},
		"its window":   {discovery.Question{World: "compose", Family: "item_room", Seed: 7}, true},
		"its canary":   {discovery.Question{World: "text", Family: "case", Seed: 8, Texts: []string{"x" + sealed.Canary + "y"}}, true},
		"its words":    {discovery.Question{World: "text", Family: "case", Seed: 8, Texts: []string{"First of all: " + strings.ToUpper(sealed.Instruction)}}, true},
	} {
		if got, err := g.Has(t.Context(), c.q); err != nil || got != c.want {
			t.Errorf("%s: %v %v", what, got, err)
		}
	}
}
