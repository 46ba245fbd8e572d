package harness

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"macaron/internal/backend"
	"macaron/internal/chat"
	"macaron/internal/contract"
	"macaron/internal/harness/harnesstest"
	"macaron/internal/tool"
)

// change is a key of a contract and two texts that differ in it. What is seen of the runs
// differs too: the error, how it ended, what the model was asked, what is on record.
type change struct {
	key, one, other string
	answers         []say
	code            bool
}

const fileTool = "\n[[tools]]\nname = \"echo\"\nuse = \"builtin:files.read\"\n"

// changes has the keys of a run that the harness itself reads. Keys of tools, policies and
// sandbox that others read have their tests where those are.
var changes = []change{
	{key: "runtime.engines", one: "[runtime]\nengines = [\"scripted\"]", other: "[runtime]\nengines = [\"macaron\"]"},
	{key: "runtime.needs", one: "[runtime]\nneeds = [\"logprobs\"]", other: "[runtime]\nneeds = [\"reasoning\"]"},
	{key: "runtime.context", one: "", other: "[runtime]\ncontext = 4096"},
	{key: "runtime.base", one: "", other: "[runtime]\nbase = \"" + zeros + "\""},
	{key: "runtime.template", one: "", other: "[runtime]\ntemplate = \"" + zeros + "\""},
	{key: "runtime.tokenizer", one: "", other: "[runtime]\ntokenizer = \"" + zeros + "\""},
	{key: "agent.mode", one: "mode = \"functions\"", other: "mode = \"repl\"", answers: []say{"```python\n1\n```", "x"}},
	{key: "agent.max_turns", one: "max_turns = 1", other: "max_turns = 2", answers: []say{`echo {"n":1}`, "x"}},
	{key: "agent.max_tokens", one: "max_tokens = 11", other: "max_tokens = 1000", answers: []say{`echo {"n":1}`, "x"}},
	{key: "agent.step_tokens", one: "step_tokens = 5", other: "step_tokens = 6"},
	{key: "agent.max_tool_calls", one: "max_tool_calls = 1", other: "max_tool_calls = 2", answers: []say{`echo {"n":1}`, `echo {"n":1}`, "x"}},
	{key: "agent.max_cost_usd", one: "", other: "max_cost_usd = 1.0"},
	{key: "agent.result_chars", one: "result_chars = 64", other: "result_chars = 1000", answers: []say{`long {"n":1}`, "x"}},
	{key: "memory.max_items", one: "[memory]\nmax_items = 1" + keep, other: "[memory]\nmax_items = 3" + keep, answers: twice},
	{key: "memory.max_item_chars", one: "[memory]\nmax_items = 3\nmax_item_chars = 2" + keep, other: "[memory]\nmax_items = 3\nmax_item_chars = 20" + keep, answers: twice},
	{key: "memory.scope", one: "[memory]\nmax_items = 3\nscope = \"run\"" + keep, other: "[memory]\nmax_items = 3\nscope = \"owner\"" + keep, answers: twice},
	{key: "policies.effects", one: "[policies]\neffects = [\"pure\"]", other: "[policies]\neffects = [\"read\"]", answers: []say{`echo {"n":1}`, "x"}},
	{key: "policies.approve", one: "", other: "[policies]\napprove = [\"pure\"]", answers: []say{`echo {"n":1}`, "x"}},
	{key: "skills.name", one: skill, other: strings.Replace(skill, "tables", "lists", 1)},
	{key: "skills.description", one: skill, other: strings.Replace(skill, "how", "why", 1)},
	{key: "skills.text", one: skill, other: strings.Replace(skill, "pipes", "tabs", 1), answers: []say{`read_skill {"name":"tables"}`, "x"}},
	{key: "hooks.on", one: no, other: strings.Replace(no, "stop", "start", 1)},
	{key: "hooks.name", one: no, other: strings.Replace(no, "digits", "numbers", 1)},
	{key: "hooks.check", one: no, other: strings.Replace(no, "answer.matches", "answer.nothing", 1)},
	{key: "hooks.with", one: no, other: strings.Replace(no, "[0-9]+", ".*", 1)},
	{key: "hooks.max_rounds", one: no + "max_rounds = 1\n", other: no + "max_rounds = 2\n"},
	{key: "hooks.tools", one: before + "tools = [\"echo\"]\n", other: before + "tools = [\"long\"]\n", answers: []say{`echo {"n":1}`, "x"}},
	{key: "hooks.python", one: no, other: "\n[[hooks]]\nname = \"digits\"\non = \"stop\"\npython = \"True\"\n"},
	{key: "workspace.snapshots", one: "[workspace]\nsnapshots = \"none\"", other: "[workspace]\nsnapshots = \"end\"", answers: []say{`put {"n":1}`, "x"}},
	{key: "workspace.visible", one: "", other: "[workspace]\nvisible = [\"data/**\"]", answers: []say{`put {"n":1}`, "x"}},
	{key: "workspace.outputs", one: "", other: "[workspace]\noutputs = [\"*.txt\"]"},
	{key: "workspace.max_bytes", one: "", other: "[workspace]\nmax_bytes = 3"},
	{key: "workspace.max_files", one: "", other: "[workspace]\nmax_files = 1"},
	{key: "environment.names", one: "mode = \"repl\"\n[environment]\nnames = [\"GREETING\"]", other: "mode = \"repl\"\n[environment]\nnames = [\"PLACE\"]", code: true,
		answers: []say{"```python\nimport os; print(os.environ.get('GREETING'))\n```", "x"}},
	{key: "environment.secrets", one: "", other: "[environment]\nsecrets = [\"NOT_HERE\"]"},
	{key: "tokens.call", one: "", other: "[tokens]\ncall = \"<c>\"\ncall_end = \"</c>\"", answers: framed},
	{key: "tokens.call_end", one: "[tokens]\ncall = \"<c>\"\ncall_end = \"</c>\"", other: "[tokens]\ncall = \"<c>\"\ncall_end = \"</d>\"", answers: framed},
	{key: "tokens.result", one: "[tokens]\nresult = \"<r>\"\nresult_end = \"</r>\"", other: "[tokens]\nresult = \"<s>\"\nresult_end = \"</r>\"", answers: []say{`echo {"n":1}`, "x"}},
	{key: "tokens.result_end", one: "[tokens]\nresult = \"<r>\"\nresult_end = \"</r>\"", other: "[tokens]\nresult = \"<r>\"\nresult_end = \"</s>\"", answers: []say{`echo {"n":1}`, "x"}},
	{key: "sandbox.backend", one: "mode = \"repl\"", other: "mode = \"repl\"\n[sandbox]\nbackend = \"starlark\"", code: true},
	{key: "sandbox.output_bytes", one: "mode = \"repl\"\n[sandbox]\noutput_bytes = 100", other: "mode = \"repl\"\n[sandbox]\noutput_bytes = 1000", code: true, answers: []say{"```python\nprint('x' * 500)\n```", "x"}},
}

// elsewhere are the keys whose effect another test shows.
var elsewhere = map[string]string{
	"agent.adapter": "contract: the adapter is the run's revision (acting)", "agent.max_wall_ms": "TestBudgets", "agent.prompts.*": "TestEveryPromptIsShown",
	"agent.prompts": "its members", "resources.concurrency": "TestAContractBoundsItsRuns",
	"resources.cpus": "told by diff and audits", "resources.memory_mb": "told by diff and audits", "resources.wall_ms": "told by diff and audits",
	"tools.*": "internal/tool/kit", "mcp.*": "internal/contract", "policies.hosts": "internal/tool/kit",
	"skills.file": "internal/contract", "hooks.file": "internal/contract",
	"sandbox.memory_mb": "internal/repl", "sandbox.pids": "internal/repl", "sandbox.cpu_seconds": "internal/repl", "sandbox.disk_mb": "internal/repl", "sandbox.wall_ms": "internal/repl",
}

const (
	zeros  = "sha256:0000000000000000000000000000000000000000000000000000000000000000"
	no     = "\n[[hooks]]\nname = \"digits\"\non = \"stop\"\ncheck = \"answer.matches\"\nwith = {pattern = \"[0-9]+\"}\n"
	before = fileTool + "[[tools]]\nname = \"long\"\nuse = \"builtin:files.read\"\n[[hooks]]\nname = \"never\"\non = \"before_tool\"\ncheck = \"tools.called\"\nwith = {tools = [\"long\"]}\n"
	skill  = "\n[[skills]]\nname = \"tables\"\ndescription = \"how\"\ntext = \"pipes\"\n"
	keep   = "\n[[tools]]\nname = \"keep\"\nuse = \"builtin:memory.add\"\n"
)

var (
	twice  = []say{`keep {"text":"first"}`, `keep {"text":"second"}`, "x"}
	framed = []say{`<c>{"name":"echo","arguments":{"n":1}}</c>`, "x"}
)

// Every key that a run has in schema 2 changes something that can be seen.
func TestEveryKeyMatters(t *testing.T) {
	covered := map[string]bool{}
	for _, c := range changes {
		covered[c.key] = true
		t.Run(c.key, func(t *testing.T) {
			if one, other := trace(t, c.one, c), trace(t, c.other, c); one == other {
				t.Errorf("nothing differs:\n%s", one)
			}
		})
	}
	for section, of := range map[string]reflect.Type{"runtime": reflect.TypeFor[contract.Runtime](), "agent": reflect.TypeFor[contract.Agent](), "agent.prompts": reflect.TypeFor[contract.AgentPrompts](),
		"memory": reflect.TypeFor[contract.Memory](), "resources": reflect.TypeFor[contract.Resources](), "tools": reflect.TypeFor[contract.Tool](), "mcp": reflect.TypeFor[contract.Server](),
		"policies": reflect.TypeFor[contract.Policies](), "skills": reflect.TypeFor[contract.Skill](), "hooks": reflect.TypeFor[contract.Hook](), "workspace": reflect.TypeFor[contract.Workspace](),
		"environment": reflect.TypeFor[contract.Environment](), "tokens": reflect.TypeFor[contract.Tokens](), "sandbox": reflect.TypeFor[contract.Sandbox]()} {
		for i := range of.NumField() {
			key := section + "." + of.Field(i).Tag.Get("toml")
			if !covered[key] && elsewhere[key] == "" && elsewhere[section+".*"] == "" {
				t.Errorf("nothing shows what %s does", key)
			}
		}
	}
}

// names are those of a run, which differ each time.
var names = regexp.MustCompile(`(run|ses|rec|hop|call)_[0-9A-Za-z]+|sha256:[0-9a-f]{64}|"(time|at)":"[^"]*"|/tmp/[^ "]*|[0-9.]+ ?(ms|s)\b`)

func trace(t *testing.T, lines string, c change) string {
	answers := c.answers
	if answers == nil {
		answers = []say{"x"}
	}
	policy := script(answers...)
	var r *rig
	put := number("put", tool.Read, func(int) (any, error) {
		dir := ""
		if list, _ := r.List(ctx, "o", "", 1); len(list) > 0 {
			dir = r.workspace(list[0].Run)
		}
		there := tree(t, dir)
		return there, os.WriteFile(filepath.Join(dir, "new.txt"), []byte("new"), 0o600)
	})
	r = setup(t, t.TempDir(), "\n"+lines, policy, c.code, number("echo", tool.Pure, double), put,
		number("long", tool.Pure, func(int) (any, error) { return strings.Repeat("y", 500), nil }))
	r.Variable = func(name string) (string, bool) { return "value of " + name, true }
	got, err := r.Run(ctx, "o", Task{Instruction: "do it", Files: map[string][]byte{"a.txt": []byte("abcdef"), "data/b": []byte("b")}}, Options{})
	seen := fmt.Sprintln(err, got.Status, got.Reason, got.Answer, got.Outputs)
	for _, q := range policy.Seen() {
		seen += fmt.Sprintln(text(t, q.Messages), text(t, q.Tools), q.MaxTokens)
	}
	if got.RunID != "" {
		run, err := r.Transcript(ctx, "o", got.RunID)
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range run.Notes {
			seen += fmt.Sprintln(n.Note, n.RunNote.Name, n.Text, len(n.Files))
		}
	}
	seen = names.ReplaceAllString(seen, "$1")
	items, err := r.log.Memory(ctx, "o", "test", 9)
	return seen + fmt.Sprintln(len(items), err)
}

// tree lists the files below a directory.
func tree(t *testing.T, dir string) (out []string) {
	if err := fs.WalkDir(os.DirFS(dir), ".", func(name string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			out = append(out, name)
		}
		return err
	}); err != nil {
		t.Error(err)
	}
	return out
}

func text(t *testing.T, v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// resources.concurrency: of three runs that are begun at once, one goes on at a time.
func TestAContractBoundsItsRuns(t *testing.T) {
	policy := script("x")
	together, most := make(chan struct{}, 9), 0
	say := policy.On
	policy.On = func(ctx context.Context, q backend.Request, emit func(chat.Event) bool) (bool, error) {
		together <- struct{}{}
		most = max(most, len(together)) // the runs take turns: no two are here
		defer func() { <-together }()
		for range 1000 {
			runtime.Gosched()
		}
		return say(ctx, q, emit)
	}
	r := setup(t, t.TempDir(), "\n[resources]\nconcurrency = 1", policy, false)
	ended := make(chan error, 3)
	for range 3 {
		go func() {
			_, err := r.Run(ctx, "o", Task{Instruction: "do it"}, Options{})
			ended <- err
		}()
	}
	for range 3 {
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
	if most != 1 || len(policy.Seen()) != 3 {
		t.Errorf("%d runs at once, %d model calls", most, len(policy.Seen()))
	}
}

// Every text of agent.prompts reaches the model where what it is for is there.
func TestEveryPromptIsShown(t *testing.T) {
	c, err := contract.Parse([]byte(harnesstest.Text(harnesstest.Prompt, "mode = \"hybrid\"\n[memory]\nmax_items = 3"+skill+no)))
	if err != nil {
		t.Fatal(err)
	}
	told := c.AgentSystem("A", contract.Acting{Mode: contract.Hybrid, Code: true, Stubs: []string{"echo(n)"}, Items: []string{"item"}}) + c.GateMessage("reason")
	for _, want := range []string{"You act. Do it.", "Python has:\necho(n)", "Look before you change.", "Known:\n- item", "Skills:\n- tables: how", "Not yet: reason"} {
		if !strings.Contains(told, want) {
			t.Errorf("%q is not in %q", want, told)
		}
	}
}
