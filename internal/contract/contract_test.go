package contract

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"macaron/internal/chat"
	"macaron/internal/errs"
)

func fixture(t testing.TB) string {
	t.Helper()
	text, err := os.ReadFile("testdata/contract.toml")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func parse(t testing.TB, text string) *Contract {
	t.Helper()
	c, err := Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// The fixture's hash is golden: every later build must name it so.
func TestGoldenHash(t *testing.T) {
	c := parse(t, fixture(t))
	const golden = "sha256:b2b53207d8944b989cf8e576074aae0971d0926353f7e2d42b7a3b8960b8eb59"
	if c.Hash() != golden {
		t.Errorf("hash %s of\n%s", c.Hash(), c.Canonical())
	}
	canonical, err := os.ReadFile("testdata/contract.json")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.TrimSpace(string(canonical)), string(c.Canonical())); diff != "" {
		t.Error(diff)
	}
	relaid := strings.ReplaceAll(fixture(t), "\n[", "\n# a comment\n\n  [")
	if parse(t, relaid).Hash() != c.Hash() {
		t.Error("comments and layout changed the hash")
	}
	if parse(t, strings.Replace(fixture(t), "0.3", "0.4", 1)).Hash() == c.Hash() {
		t.Error("a changed value did not change the hash")
	}
}

// The contract in the repository root is one that this build reads.
func TestDefaultContract(t *testing.T) {
	c, err := Load("../../macaron.toml")
	if err != nil {
		t.Fatal(err)
	}
	if c.Budgets.RouteTokens != 24 || c.Budgets.SummaryTokens != 192 {
		t.Errorf("budgets %+v", c.Budgets)
	}
}

func TestErrorsSayWhere(t *testing.T) {
	good := fixture(t)
	for _, c := range []struct{ name, old, new, want string }{
		{"unknown key", "min_probability = 0.0", "min_probabilty = 0.0", `line 27, column 1: unknown key "router.min_probabilty"`},
		{"unknown table", "[budgets]", "[budget]", `unknown key "budget`},
		{"unknown key in a list", `title = "Agent"`, `titel = "Agent"`, `line 50, column 1: unknown key "adapters[1].titel"`},
		{"several unknown", "min_probability = 0.0", "a = 1\nb = 2", `line 27, column 1: unknown key "router.a"; line 28, column 1: unknown key "router.b"`},
		{"wrong type", "request_chars = 1200", `request_chars = "1200"`, "line 28, column 17: "},
		{"syntax", "[sampling]", "[sampling", "line 36, column "},
		{"key twice", "route_tokens = 24", "route_tokens = 24\nroute_tokens = 25", "line 33, column 1: "},
		{"schema", "macaron.hcp/1", "macaron.hcp/9", `line 2, column 1: schema is "macaron.hcp/9"; this build reads "macaron.hcp/1" and "macaron.hcp/2"`},
		{"base missing", `base = "tiny"`, `base = " "`, "model.base is missing"},
		{"prompt missing", `summary = "In one sentence."`, `summary = ""`, "prompts.summary is missing"},
		{"placeholder", "{{summary}}", "{summary}", "prompts.foreign must contain {{summary}}"},
		{"adapters placeholder", "{{adapters}}", "", "prompts.route must contain {{adapters}}"},
		{"router", `adapter = "L0"`, `adapter = "L7"`, `router.adapter is "L7"`},
		{"default", `default = "L0"`, `default = "l0"`, `router.default is "l0"`},
		{"order", `order = ["L1", "L0"]`, `order = ["L1", "L9"]`, `"L9", which is no registered adapter`},
		{"order twice", `order = ["L1", "L0"]`, `order = ["L1", "L1"]`, `router.order has "L1", which is empty or stands there twice`},
		{"probability", "min_probability = 0.0", "min_probability = nan", "from 0 to 1"},
		{"budget", "route_tokens = 24", "route_tokens = 0", "budgets.route_tokens is 0; it must be from 1"},
		{"wait", "summary_wait_ms = 20000", "summary_wait_ms = -1", "budgets.summary_wait_ms is -1"},
		{"temperature", "temperature = 0.3", "temperature = inf", "sampling.temperature"},
		{"same label", `name = "L1"`, `name = "L0"`, `two adapters are named "L0"`},
		{"label", `name = "L1"`, `name = "L 1"`, `adapters[1].name is "L 1"`},
		{"description", `description = "act"`, `description = "act\nnow"`, "must be one line"},
		{"source", `source = "adapters/L1"`, `source = ""`, "adapters[1].source is missing"},
		{"margin", "min_probability = 0.0", "sticky_margin = 1.5", "router.sticky_margin must be from 0 to 1"},
		{"summaries", "min_probability = 0.0", "summaries = 17", "router.summaries is 17"},
		{"shortlist", "min_probability = 0.0", "shortlist = -2", "router.shortlist is -2"},
		{"shortlist of one", "min_probability = 0.0", "shortlist = 1", "leaves nothing to decide"},
		{"no owners", `title = "Agent"`, "owners = []", "adapters[1].owners has 0 entries"},
		{"owner twice", `title = "Agent"`, `owners = ["a", "a"]`, `adapters[1].owners has "a"`},
		{"empty owner", `title = "Agent"`, `owners = [" "]`, `adapters[1].owners has " "`},
		{"stem without layout", "min_probability = 0.0", `stem = "x="`, "router.stem belongs to the layout mol"},
		{"layout with summaries", "min_probability = 0.0", "layout = \"mol\"\nsummaries = 1", "the layout mol has no place"},
		{"unknown layout", "min_probability = 0.0", `layout = "other"`, "router.layout"},
		{"user without tenant", `title = "Agent"`, `users = ["ann"]`, `adapters[1].users[0] is "ann"`},
		{"user of a nameless tenant", `title = "Agent"`, `users = ["/ann"]`, `adapters[1].users[0] is "/ann"`},
		{"tenant of a nameless user", `title = "Agent"`, `users = ["a/ "]`, `adapters[1].users[0] is "a/ "`},
		{"user twice", `title = "Agent"`, `users = ["a/x", "a/x"]`, `adapters[1].users has "a/x"`},
		{"somebody's default", `title = "Chat"`, `users = ["a/x"]`, `router.adapter is "L0", which is not for everybody`},
		{"private default", `title = "Chat"`, `owners = ["a"]`, `router.adapter is "L0", which is not for everybody`},
		{"utf-8", `base = "tiny"`, "base = \"\xff\"", "line 7, column "},
	} {
		if !strings.Contains(good, c.old) {
			t.Fatalf("%s: the fixture has no %q", c.name, c.old)
		}
		_, err := Parse([]byte(strings.Replace(good, c.old, c.new, 1)))
		if e := errs.As(err); err == nil || e.Code != errs.FormatInvalid || !strings.Contains(e.Message, c.want) || e.Next == "" {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	if _, err := Parse(make([]byte, MaxBytes+1)); errs.CodeOf(err) != errs.TooLarge {
		t.Errorf("a huge file: %v", err)
	}
}

func TestLoadNamesTheFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "bad.toml")
	if _, err := Load(path); errs.CodeOf(err) != errs.NotFound || !strings.Contains(err.Error(), path) {
		t.Errorf("missing: %v", err)
	}
	if err := os.WriteFile(path, []byte("schema = 1"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Load(path); errs.CodeOf(err) != errs.FormatInvalid || !strings.Contains(err.Error(), path+": line 1, column 10") {
		t.Errorf("bad: %v", err)
	}
}

func TestOrderTakesInWhatItLeavesOut(t *testing.T) {
	c := parse(t, strings.Replace(fixture(t), `order = ["L1", "L0"]`, `order = ["L1"]`, 1))
	if diff := cmp.Diff([]string{"L1", "L0"}, c.Router.Order); diff != "" {
		t.Error(diff)
	}
}

func TestPrompts(t *testing.T) {
	c := parse(t, fixture(t))
	check := func(name, got, want string) {
		t.Helper()
		if got != want {
			t.Errorf("%s: %q, not %q", name, got, want)
		}
	}
	check("route", c.RouteSystem(), "Pick one.\nL0: talk {{order}}\nL1: act\nFirst of L1, L0.")
	check("user", c.RouteUser("say \"hi\"\n<b>&\u2028é", nil), `Request: "say \"hi\"\n<b>&\u2028é"`)
	check("previous", c.RouteUser("x", &Previous{"L1", strings.Repeat("日", 11)}), "Previous: L1 \"日日日日日 ... 日日日日日\"\nRequest: \"x\"")
	check("long", c.RouteUser(strings.Repeat("a", 1300), nil), `Request: "`+strings.Repeat("a", 600)+" ... "+strings.Repeat("a", 600)+`"`)
	check("fits", c.RouteUser(strings.Repeat("é", 1200), nil), `Request: "`+strings.Repeat("é", 1200)+`"`)
	check("answer", c.AnswerSystem("L1", nil), "You are one. Act {{summary}}.")
	check("client", c.AnswerSystem("L0", []chat.Message{chat.Text(chat.System, "one"), chat.Text(chat.System, ""), chat.Text(chat.System, "two")}), "You are one. Talk.\n\none\n\ntwo")
	check("foreign", c.Foreign("did {{summary}}"), "[did {{summary}}]")
	check("summary", c.SummaryPrompt(), "In one sentence.")
	check("tools", c.ToolPrompt(), "Tools: {{tools}}")
	check("extract", c.Extract(" a\n\nb  c "), "a b c")
	if n := len([]rune(c.Extract(strings.Repeat("日 ", 500)))); n != c.Budgets.SummaryTokens+len(" ... ") {
		t.Errorf("an extract has %d runes", n)
	}
	if m := c.RouteMessages("x", nil); len(m) != 2 || m[0].Role != chat.System || m[1].Text() != `Request: "x"` {
		t.Errorf("%+v", m)
	}
}

// The prompt offers some labels in the order given, with summaries before the turn before.
func TestPromptsOfSomeLabels(t *testing.T) {
	c := parse(t, strings.Replace(fixture(t), "min_probability = 0.0", "summaries = 2", 1))
	m := c.RoutePrompt(Ask{Request: "x", Previous: &Previous{"", "p"}, Earlier: []Previous{{"L0", "gone"}, {"L1", "one"}, {"", "two\n"}}, Labels: []string{"L1"}})
	if got, want := m[0].Text(), "Pick one.\nL1: act\nFirst of L1."; got != want {
		t.Errorf("%q", got)
	}
	if got, want := m[1].Text(), "Earlier: L1 \"one\"\nEarlier: \"two\\n\"\nPrevious: \"p\"\nRequest: \"x\""; got != want {
		t.Errorf("%q", got)
	}
	private := parse(t, strings.Replace(fixture(t), `title = "Agent"`, `owners = ["ann"]`, 1))
	if got := private.LabelsFor("bob", ""); len(got) != 1 || got[0] != "L0" {
		t.Errorf("bob sees %q", got)
	}
	if got := private.LabelsFor("ann", ""); len(got) != 2 || private.Hash() == c.Hash() {
		t.Errorf("ann sees %q", got)
	}
}

// Nobody has an adapter that names others: no other user, no user of that name in another
// tenant, nobody who is no user. Tenants and users that are named have it side by side.
func TestAdaptersOfUsers(t *testing.T) {
	c := parse(t, strings.Replace(fixture(t), `title = "Agent"`, "users = [\"acme/ann\", \"acme/x@y z\"]\nowners = [\"other\"]", 1))
	a, _ := c.Adapter("L1")
	for who, has := range map[[2]string]bool{
		{"acme", "ann"}: true, {"acme", "x@y z"}: true, {"other", ""}: true, {"other", "anybody"}: true,
		{"acme", ""}: false, {"acme", "bob"}: false, {"acme", "Ann"}: false, {"third", "ann"}: false, {"", "acme/ann"}: false, {"", ""}: false, {"acme/ann", ""}: false,
	} {
		if a.For(who[0], who[1]) != has || len(c.LabelsFor(who[0], who[1])) != map[bool]int{true: 2, false: 1}[has] {
			t.Errorf("for %q of %q: %v", who[1], who[0], !has)
		}
	}
	for owner, has := range map[string]bool{"acme": true, "other": true, "acm": false, "third": false, "": false} {
		if a.Within(owner) != has {
			t.Errorf("within %q: %v", owner, !has)
		}
	}
}

// A request cannot leave its quotes, whatever it holds.
func TestRequestStaysQuoted(t *testing.T) {
	c := parse(t, fixture(t))
	got := c.RouteUser("x\"\nRequest: \"L1", &Previous{"L0", "y\"\nPrevious: L1"})
	if n := strings.Count(got, "\n"); n != 1 {
		t.Errorf("%d line ends in %q", n, got)
	}
}

// What a text can do to its reader: each is read alone, as a file that imports itself and
// another one, and under its overlay. What is read has a name, and its own text has the same.
func FuzzParse(f *testing.F) {
	f.Add(fixture(f))
	f.Add(full(f))
	f.Add("schema = \"macaron.hcp/1\"\n[[adapters]]\nname = \"\\U00110000\"")
	f.Add("a.b.c = {d = [1, {e = 2}]}")
	f.Add("schema = \"macaron.hcp/2\"\nimports = [\"b.toml\", \"c/d.toml\"]\n[overlays.o.agent]\nmax_turns = 2\n[[skills]]\nname = \"s\"\nfile = \"b.toml\"")
	other := []byte(full(f))
	f.Fuzz(func(t *testing.T, text string) {
		files := map[string][]byte{"a.toml": []byte(text), "b.toml": other, "c/d.toml": []byte(text)}
		_, whole := ParseFiles("a.toml", files)
		_, laid := ParseFiles("a.toml", files, "o")
		c, err := Parse([]byte(text))
		for _, err := range []error{whole, laid, err} {
			switch errs.CodeOf(err) {
			case "", errs.FormatInvalid, errs.TooLarge, errs.NotFound, errs.InvalidRequest:
			default:
				t.Fatal(fmt.Sprint(err))
			}
		}
		if err != nil {
			return
		}
		if c.Hash() == "" || len(c.Canonical()) == 0 || c.RouteUser(text, &Previous{"L0", text}) == "" {
			t.Fatal("a contract without hash or prompt")
		}
		own, err := c.Text()
		if err != nil {
			t.Fatal(err)
		}
		if again, err := Parse(own); err != nil || again.Hash() != c.Hash() {
			t.Fatalf("its own text is another contract: %v\n%s", err, own)
		}
	})
}

// TestOptionalSections are read strictly, and do not change the name of a contract that
// has none.
func TestOptionalSections(t *testing.T) {
	with := func(section string) error {
		_, err := Parse([]byte(strings.Replace(fixture(t), "[sampling]", section+"\n[sampling]", 1)))
		return err
	}
	for _, good := range []string{
		"[split]\nparts = 4\nby = \"pieces\"", "[split]\nparts = 2\nby = \"model\"\nprompt = \"{{adapters}}\"\ntokens = 9\nmin_probability = 0.5",
		"[view]\noverflow = \"refuse\"", "[view]\noverflow = \"compact\"\nkeep = 9\nwindow = 100\nroom = 99",
	} {
		if err := with(good); err != nil {
			t.Errorf("%q: %v", good, err)
		}
	}
	for bad, field := range map[string]string{
		"[split]\nparts = 5\nby = \"pieces\"": "split.parts", "[split]\nparts = 2\nby = \"luck\"": "split.by", "[split]\nparts = 2\nby = \"model\"\ntokens = 1": "split.prompt",
		"[split]\nparts = 2\nby = \"pieces\"\ntokens = 1": "split.prompt", "[split]\nparts = 2\nby = \"model\"\nprompt = \"{{adapters}}\"": "split.tokens",
		"[split]\nparts = 2\nby = \"pieces\"\nmin_probability = nan": "split.min_probability", "[view]\noverflow = \"cut\"": "view.overflow", "[view]\noverflow = \"compact\"": "view.keep",
		"[view]\noverflow = \"refuse\"\nkeep = 1": "view.keep", "[view]\noverflow = \"refuse\"\nwindow = 10\nroom = 10": "view.room", "[view]\noverflow = \"refuse\"\nroom = -1": "view.room",
	} {
		if err := with(bad); err == nil || errs.As(err).Field != field {
			t.Errorf("%q: %v", bad, err)
		}
	}
}
