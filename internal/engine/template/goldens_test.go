package template_test

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"macaron/internal/chat"
	"macaron/internal/engine/template"
	"macaron/internal/testvectors"
)

// a case of testdata/cases.json, in the shape of the OpenAI API.
type apiCase struct {
	Messages []struct {
		Role, Content, Name string
		ToolCallID          string `json:"tool_call_id"`
		Reasoning           string `json:"reasoning_content"`
		ToolCalls           []struct {
			ID       string
			Function struct{ Name, Arguments string }
		} `json:"tool_calls"`
	}
	Tools []struct {
		Function struct {
			Name, Description string
			Parameters        json.RawMessage
		}
	}
	AddGenerationPrompt *bool `json:"add_generation_prompt"`
	Extra               map[string]any
}

func (c apiCase) input() template.Input {
	in := template.Input{BOS: "<s>", EOS: "</s>", AddGenerationPrompt: true, Extra: c.Extra, Now: time.Date(2026, 1, 2, 15, 4, 5, 0, time.UTC)}
	if c.AddGenerationPrompt != nil {
		in.AddGenerationPrompt = *c.AddGenerationPrompt
	}
	for _, m := range c.Messages {
		msg := chat.Text(chat.Role(m.Role), m.Content)
		msg.Name, msg.ToolCallID, msg.Reasoning = m.Name, m.ToolCallID, m.Reasoning
		for _, call := range m.ToolCalls {
			msg.ToolCalls = append(msg.ToolCalls, chat.ToolCall{ID: call.ID, Name: call.Function.Name, Arguments: call.Function.Arguments})
		}
		in.Messages = append(in.Messages, msg)
	}
	for _, t := range c.Tools {
		in.Tools = append(in.Tools, chat.ToolDef{Name: t.Function.Name, Description: t.Function.Description, Parameters: t.Function.Parameters})
	}
	return in
}

func cases(t testing.TB) map[string]template.Input {
	t.Helper()
	b, err := os.ReadFile("testdata/cases.json")
	if err != nil {
		t.Fatal(err)
	}
	var all map[string]apiCase
	if err := json.Unmarshal(b, &all); err != nil {
		t.Fatal(err)
	}
	inputs := map[string]template.Input{}
	for name, c := range all {
		inputs[name] = c.input()
	}
	return inputs
}

// source reads a template: the default model's is here, the others are fetched, some
// as string literals of a C++ file.
func source(t testing.TB, name string) string {
	t.Helper()
	if inline, ok := strings.CutPrefix(name, "inline:"); ok {
		return literals(t)[inline]
	}
	path := filepath.Join("testdata", name)
	if name != "smollm2.jinja" {
		path = testvectors.Path(t, name)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

var (
	nameLine    = regexp.MustCompile(`^\s*/\* \.name= \*/ "(.*)",$`)
	literalLine = regexp.MustCompile(`^\s*/\* \.template_str= \*/ (?:U8C\()?(?:u8)?"(.*)"\)?,$`)
	notInName   = regexp.MustCompile(`[^A-Za-z0-9.]+`)
	escape      = regexp.MustCompile(`\\.`)
)

// literals are the templates of the C++ file by their names, as make_goldens.py reads it.
func literals(t testing.TB) map[string]string {
	t.Helper()
	b, err := os.ReadFile(testvectors.Path(t, "test-chat-template.cpp"))
	if err != nil {
		t.Fatal(err)
	}
	all, name := map[string]string{}, ""
	for line := range strings.Lines(string(b)) {
		line = strings.TrimRight(line, "\r\n")
		if m := nameLine.FindStringSubmatch(line); m != nil {
			name = strings.Trim(notInName.ReplaceAllString(m[1], "-"), "-")
		}
		if m := literalLine.FindStringSubmatch(line); m != nil && name != "" {
			all[name] = escape.ReplaceAllStringFunc(m[1], func(e string) string {
				switch e[1] {
				case 'n':
					return "\n"
				case 't':
					return "\t"
				}
				return e[1:]
			})
			name = ""
		}
	}
	return all
}

// ours are the texts that differ from Python's on purpose, by their hash. Two
// templates trip over Python there: one asks for the JSON of a lazy sequence, which
// Python refuses; the other joins "safe" texts with tool definitions, which Python
// then escapes for HTML.
var ours = map[string]string{
	"llama-cpp-deepseek-r1.jinja rich-tool":            "e2f772a74436b8a0ad3c68d95e769d759d7e3cedec14cadfa2bc13a72bf82261",
	"llama-cpp-deepseek-r1.jinja tool-round":           "44bb252e299de57dbe9ea4fffce229dece41d54cdf0de0187e0ef33557baeae0",
	"llama-cpp-deepseek-r1.jinja tools":                "6fadfff85e2979912f110f4ecdbab04d32ed3ae223ba581a2d44b2f542be22a6",
	"llama-cpp-deepseek-r1.jinja two-calls":            "4b6f2f7fa0b1d4c39a1d99688d403cc41b18ad9b90ae759e19effd1f18b13b5d",
	"meetkai-functionary-medium-v3.1.jinja rich-tool":  "759668ce1a20928174006c3b6b1275c506dd5ee38da5ffb06be708d243d36ce1",
	"meetkai-functionary-medium-v3.1.jinja tool-round": "54134df413f0a6bdd216d24fd2ee74fab384e8584eb07363a3ef63246166b017",
	"meetkai-functionary-medium-v3.1.jinja tools":      "b7e3845eac074b2e5d6f1da1be32527bc159856909d6aec1b5377bb1a660d62b",
	"meetkai-functionary-medium-v3.1.jinja two-calls":  "009fd59b2d15690c3b21c561b81bac9e6982e7b4d971553fcae48de2b22b8dfb",
}

// TestGoldens compares every published template on every case with Python Jinja:
// equal bytes where Python renders, an error where it does not.
func TestGoldens(t *testing.T) {
	f, err := os.Open("testdata/goldens.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	inputs := cases(t)
	parsed := map[string]*template.Template{}
	rendered, refused, different := 0, 0, 0
	for lines := bufio.NewScanner(f); lines.Scan(); {
		fields := strings.Fields(lines.Text())
		name, want := fields[0], fields[2]
		tpl := parsed[name]
		if tpl == nil {
			if tpl, err = template.Parse(source(t, name)); err != nil {
				t.Errorf("%s: %v", name, err)
				tpl = &template.Template{}
			}
			parsed[name] = tpl
		}
		got, err := tpl.Render(inputs[fields[1]])
		sum := sha256.Sum256([]byte(got))
		switch {
		case ours[name+" "+fields[1]] != "":
			if hex.EncodeToString(sum[:]) != ours[name+" "+fields[1]] {
				t.Errorf("%s on %s is neither Python's text nor ours: %x, %v", name, fields[1], sum, err)
			}
			different++
		case want == "error" && err != nil:
			refused++
		case want != "error" && err == nil && hex.EncodeToString(sum[:]) == want:
			rendered++
		default:
			t.Errorf("%s on %s: %d bytes (want %s), error %v", name, fields[1], len(got), fields[3], err)
			if dir := os.Getenv("MACARON_TEMPLATE_DUMP"); dir != "" {
				dump(t, filepath.Join(dir, name+" "+fields[1]), got)
			}
		}
	}
	t.Logf("%d texts are equal, %d conversations are refused as Python refuses them, %d differ on purpose", rendered, refused, different)
	if rendered < 1400 {
		t.Errorf("only %d goldens were compared", rendered)
	}
}

// dump writes a text that differs, for a person to compare.
func dump(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
