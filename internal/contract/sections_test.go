package contract

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"macaron/internal/errs"
)

// full is the fixture with every section of schema 2.
func full(t testing.TB) string {
	t.Helper()
	more, err := os.ReadFile("testdata/full.toml")
	if err != nil {
		t.Fatal(err)
	}
	return string(more)
}

// The bytes of a contract with every section are golden too.
func TestGoldenOfEverySection(t *testing.T) {
	c := parse(t, full(t))
	const golden = "sha256:7a48e50295eba1c9bf763fa74bfbb0aa1bef48939b463d97c35a5dedb1be5388"
	if c.Hash() != golden {
		t.Errorf("hash %s", c.Hash())
	}
	want, err := os.ReadFile("testdata/full.json")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.TrimSpace(string(want)), string(c.Canonical())); diff != "" {
		t.Error(diff)
	}
	var m map[string]json.RawMessage
	if err := json.Unmarshal(c.Canonical(), &m); err != nil {
		t.Fatal(err)
	}
	for _, s := range sections2 {
		if _, ok := m[s]; !ok {
			t.Errorf("the fixture has no %s", s)
		}
	}
}

func TestSectionsAreRefused(t *testing.T) {
	good := full(t)
	for _, c := range []struct{ old, new, want string }{
		{"macaron.hcp/2", "macaron.hcp/1", `parents needs schema = "macaron.hcp/2"`},
		{`version = "2.1.0-rc.1"`, `version = "2.1"`, `version is "2.1"; use a semantic version`},
		{`parents = ["sha256:`, `parents = ["sha1:`, "parents[0] is \"sha1:"},
		{`needs = ["token_ids"]`, `needs = ["tokens"]`, "runtime.needs[0] is \"tokens\"; it is one of adapters,"},
		{`needs = ["token_ids"]`, `needs = []`, "runtime.needs has 0 entries"},
		{`mode = "hybrid"`, `mode = "code"`, "agent.mode is \"code\""},
		{`adapter = "L1"`, `adapter = "L9"`, "agent.adapter is \"L9\""},
		{"max_turns = 12", "max_turns = -1", "agent.max_turns is -1"},
		{"max_turns = 12", "Max_Turns = 12", `unknown key "agent.Max_Turns"`},
		{"max_cost_usd = 0.5", "max_cost_usd = nan", "agent.max_cost_usd must be"},
		{"{{stubs}}", "stubs", "agent.prompts.repl must contain {{stubs}}"},
		{"hybrid = ", "# ", "agent.prompts.hybrid is missing; agent.mode needs it"},
		{"gate = ", "# ", "agent.prompts.gate is missing; a stop hook needs it"},
		{`scope = "run"`, `scope = "all"`, "memory.scope is \"all\""},
		{"max_items = 20", "", "memory.max_items is missing"},
		{"cpus = 2.0", "cpus = -2.0", "resources.cpus"},
		{`name = "weather"`, `name = "weather-now"`, "tools[1].name is \"weather-now\""},
		{`name = "weather"`, `name = "lambda"`, "a word that Python keeps for itself"},
		{`name = "weather"`, `name = "read_file"`, "two tools are named"},
		{`use = "builtin:files.read"`, `use = "builtin:../x"`, "tools[0].use is"},
		{`use = "mcp:tickets/open"`, `use = "mcp:other/open"`, "which no [[mcp]] lists"},
		{`use = "mcp:tickets/open"`, `use = "mcp:tickets/"`, "tools[2].use is"},
		{`use = "shed:sha256:`, `use = "shed:`, "tools[3].use is"},
		{`effect = "read"`, `effect = "reads"`, "tools[1].effect is \"reads\""},
		{`type = "object" # of weather`, `type = "array"`, "tools[1].parameters must be a JSON Schema with type"},
		{`noai = ["/token"]`, `noai = ["token"]`, "a JSON pointer begins with /"},
		{`method = "GET"`, `method = "get"`, "tools[1].http.method"},
		{`url = "https://`, `url = "file://`, "tools[1].http.url is"},
		{`url = "https://api.example.com`, `url = "https://{{city}}.example.com`, "parameters in path and query only"},
		{`url = "https://api`, `url = "https://me:pw@api`, "without user"},
		{`{{secret:WEATHER_KEY}}`, `{{secret:OTHER_KEY}}`, "which environment.secrets does not list"},
		{`method = "GET"`, `methods = "GET"`, `unknown key "tools[1].http.methods"`},
		{`use = "builtin:files.read"`, "use = \"builtin:files.read\"\nhttp = {method = \"GET\", url = \"http://a/\"}", "is for use = \"http\""},
		{`effects = ["pure", "read", "write"]`, `effects = ["all"]`, "policies.effects[0] is \"all\""},
		{`description = "how tables are written"`, `description = ""`, "skills[0].description is missing"},
		{`text = "Use pipes."`, `text = " "`, "skills[0] needs text"},
		{`text = "Use pipes."`, `file = "tables.md"`, "skills[0].file names a file"},
		{`on = "stop"`, `on = "end"`, "hooks[0].on is \"end\""},
		{`python = "assert answer"`, "python = \"assert answer\"\ncheck = \"answer.present\"", "hooks[0] needs either check or python"},
		{`tools = ["weather"]`, `tools = ["wether"]`, "which no [[tools]] has"},
		{`on = "after_tool"`, `on = "start"`, "hooks[1].tools is for hooks on tools"},
		{"max_rounds = 2", "max_rounds = 1000", "hooks[0].max_rounds is 1000"},
		{`snapshots = "turn"`, `snapshots = "always"`, "workspace.snapshots"},
		{`visible = ["data/**"]`, `visible = ["../**"]`, "workspace.visible[0] is"},
		{`visible = ["data/**"]`, `visible = ["a[**"]`, "workspace.visible[0] is"},
		{`secrets = ["WEATHER_KEY"]`, `secrets = ["WEATHER_KEY", "TOKEN=abc"]`, "environment.secrets[1] is no name"},
		{`call_end = "</call>"`, ``, "tokens come in pairs"},
		{`backend = "bubblewrap"`, `backend = "/bin/sh"`, "sandbox.backend is"},
		{"memory_mb = 256", "memory_mb = -1", "sandbox.memory_mb is -1"},
	} {
		if !strings.Contains(good, c.old) {
			t.Fatalf("the fixture has no %q", c.old)
		}
		_, err := Parse([]byte(strings.Replace(good, c.old, c.new, 1)))
		if e := errs.As(err); err == nil || e.Code != errs.FormatInvalid || !strings.Contains(e.Message, c.want) || e.Next == "" {
			t.Errorf("%s: %v", c.new, err)
		}
		if err != nil && strings.Contains(err.Error(), "TOKEN=") {
			t.Errorf("a secret is quoted back: %v", err)
		}
	}
}

// Every value that is refused is told with its place, deep in arrays of tables too.
func TestPlacesOfValues(t *testing.T) {
	text := full(t)
	for _, key := range []string{"retries = 2", "timeout_ms = 5000", `scope = "run"`, "output_bytes = 8192"} {
		bad := strings.Replace(text, key, strings.Split(key, " = ")[0]+" = -7", 1)
		if strings.HasPrefix(key, "scope") {
			bad = strings.Replace(text, key, `scope = "x"`, 1)
		}
		line := strings.Count(text[:strings.Index(text, key)], "\n") + 1
		_, err := Parse([]byte(bad))
		if err == nil || !strings.Contains(err.Error(), "line "+itoa(line)+", column 1: ") {
			t.Errorf("%s (line %d): %v", key, line, err)
		}
	}
}

func itoa(n int) string { b, _ := json.Marshal(n); return string(b) }

func TestEveryUnknownKeyIsTold(t *testing.T) {
	text := strings.NewReplacer("[[tools]]\n", "[[tools]]\nzip = 1\n", "[sandbox]\n", "[sandbox]\nx.y = 1\nx.z = 2\n", "headers = {", "head = {a = {b = 1}}\nheaders = {").Replace(full(t))
	_, err := Parse([]byte(text))
	e := errs.As(err)
	for _, want := range []string{`"tools[0].zip"`, `"tools[1].zip"`, `"tools[3].zip"`, `"sandbox.x"`, `"tools[1].http.head"`} {
		if err == nil || !strings.Contains(e.Message, "unknown key "+want) {
			t.Errorf("%s is not told: %v", want, err)
		}
	}
	if err != nil && (strings.Count(e.Message, "unknown key") != 7 || !strings.Contains(e.Next, "description, effect, http")) {
		t.Errorf("%v; %s", err, e.Next)
	}
	deep := "x = " + strings.Repeat("[", MaxDepth+2) + strings.Repeat("]", MaxDepth+2)
	if _, err := Parse([]byte(deep)); errs.CodeOf(err) != errs.TooLarge {
		t.Errorf("deep: %v", err)
	}
}

// A schema can be a table or a string of JSON, which has null.
func TestObjectsInBothForms(t *testing.T) {
	table := parse(t, full(t))
	w, _ := table.Tool("weather")
	text := full(t)
	from := strings.Index(text, "[tools.parameters]")
	to := strings.Index(text, "[tools.http]")
	written := strings.Replace(text[:from]+text[to:], `effect = "read"`, "effect = \"read\"\nparameters = '"+string(w.Parameters.JSON())+"'", 1)
	if c := parse(t, written); c.Hash() != table.Hash() {
		t.Errorf("%s\n%s", c.Canonical(), table.Canonical())
	}
	nulls := strings.Replace(written, `"type":"string"`, `"default":null,"type":"string"`, 1)
	if c := parse(t, nulls); !strings.Contains(string(c.Canonical()), `"default":null`) {
		t.Errorf("%s", c.Canonical())
	}
	for _, bad := range []string{`[]`, `{"a":1,"a":2}`, `{`, `"x"`} {
		if _, err := Parse([]byte(strings.Replace(written, string(w.Parameters.JSON()), bad, 1))); errs.CodeOf(err) != errs.FormatInvalid {
			t.Errorf("%s: %v", bad, err)
		}
	}
}
