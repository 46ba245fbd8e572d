package compile

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/evanw/esbuild/pkg/api"
	"github.com/google/go-cmp/cmp"

	"macaron/internal/ui4a"
)

const good = `import { Button, Card } from "$ui4a/ui";
import { Heart } from "$ui4a/icons";

const STEPS = [1, 2, 5];

function Line({ text }: { text: string }) {
  const [open, setOpen] = useState<boolean>(false);
  return <li onClick={() => setOpen(!open)}>{open ? text : "…"}</li>;
}

export default function Counter() {
  const [n, setN] = useState(0);
  const double = useMemo(() => n * 2, [n]);
  return (
    <Card title="Counter" icon={<Heart />}>
      <ul>{STEPS.map((s) => <Line key={s} text={` + "`step ${s}`" + `} />)}</ul>
      <Button onClick={() => setN(n + 1)}>{n} and {double}</Button>
    </Card>
  );
}
`

// codes spells findings as line:column code.
func codes(list []ui4a.Diagnostic) string {
	var all []string
	for _, d := range list {
		all = append(all, fmt.Sprintf("%d:%d %s", d.Line, d.Column, d.Code))
	}
	return strings.Join(all, ", ")
}

func TestGoodCard(t *testing.T) {
	r, found := Compile(good, Options{})
	if len(found) != 0 {
		t.Fatal(found)
	}
	if diff := cmp.Diff([]string{"$ui4a/icons", "$ui4a/ui", "react"}, r.Imports); diff != "" {
		t.Error(diff)
	}
	if r.Hooks["default"] == "" || r.Hooks["Line"] == "" || r.Hooks["default"] == r.Hooks["Line"] {
		t.Errorf("hooks %v", r.Hooks)
	}
	if !strings.HasPrefix(r.JS, `globalThis.__ui4a.define({"hooks":{"Line":"`+r.Hooks["Line"]+`","default":"`+r.Hooks["default"]+`"}`) || !strings.Contains(r.JS, string(r.Revision)) || !strings.HasSuffix(r.JS, "createElement(card); };\n});\n") {
		t.Error(r.JS)
	}
	if out := api.Transform(r.JS, api.TransformOptions{Loader: api.LoaderJS}); len(out.Errors) > 0 {
		t.Errorf("the script is no script: %v", out.Errors)
	}
	again, _ := Compile(good, Options{})
	if again.JS != r.JS {
		t.Error("the same source gives another script")
	}
}

func TestMistakes(t *testing.T) {
	ui := `import { Button, Card } from "$ui4a/ui";` + "\n"
	for _, c := range []struct{ name, source, want, fix string }{
		{"shadowed import", ui + "export default function Card() { return <p />; }", "2:25 shadowed-import", "CardCard"},
		{"unknown export", "import { Buton } from \"$ui4a/ui\";\nexport default () => <p />;", "1:10 unknown-export", "use Button"},
		{"export of another module", "import { Heart } from \"$ui4a/ui\";\nexport default () => <Heart />;", "1:10 unknown-export", `from "$ui4a/icons"`},
		{"default import", "import Button from \"$ui4a/ui\";\nexport default () => <Button>a</Button>;", "1:8 unknown-export", "import { … }"},
		{"unknown icon", "import { Haert } from \"$ui4a/icons\";\nexport default () => <Haert />;", "1:10 unknown-export", "Heart"},
		{"unknown hook", "import { useStat } from \"react\";\nexport default () => { useStat(); return <p />; };", "1:10 unknown-export", "useState"},
		{"lucide", "import { Heart } from 'lucide-react';\nexport default () => <Heart />;", "1:23 import-forbidden", "$ui4a/icons"},
		{"near module", "import { Button } from '$ui4a/iu';\nexport default () => <p />;", "1:24 import-forbidden", `use "$ui4a/ui"`},
		{"no export", "function App() { return <p />; }", "1:33 no-default-export", "export default function App()"},
		{"an element is exported", "export default <p />;", "1:16 no-component", "function Card()"},
		{"subscript", "const A = {};\nexport default () => <A[0].icon />;", "2:24 jsx-subscript", "const Icon"},
		{"unknown component", "export default () => <Buttn />;", "1:23 unknown-component", "use Button"},
		{"forgotten import", "export default () => <Card title=\"a\" />;", "1:23 missing-import", `import { Card } from "$ui4a/ui"`},
		{"open element", "export default () => <p>;", "1:26 syntax", "end"},
		{"half", "export default function A() { return <p>", "1:41 syntax", "end"},
		{"twice", "const a = 1;\nconst a = 2;\nexport default () => <p>{a}</p>;", "2:7 syntax", ""},
	} {
		r, found := Compile(c.source, Options{})
		if got := codes(found); got != c.want || !strings.Contains(found[0].Fix, c.fix) {
			t.Errorf("%s: %v", c.name, found)
		}
		for _, d := range found {
			if d.Fix == "" || d.Message == "" || strings.Contains(d.Fix+d.Message, "%!") {
				t.Errorf("%s: %+v", c.name, d)
			}
		}
		if !ui4a.Failed(found) && r.JS == "" {
			t.Errorf("%s: no script", c.name)
		}
	}
}

// What an import names is never looked for, and each attempt is told.
func TestNothingIsRead(t *testing.T) {
	for name, c := range map[string]struct{ source, want string }{
		"a module of node":        {`import fs from "node:fs"; export default () => <p>{fs}</p>;`, "import-forbidden"},
		"its short name":          {`import { readFileSync } from "fs"; export default () => <p>{readFileSync}</p>;`, "import-forbidden"},
		"a file above":            {`import x from "../../go.mod"; export default () => <p>{x}</p>;`, "import-forbidden"},
		"an absolute path":        {`import x from "/etc/passwd"; export default () => <p>{x}</p>;`, "import-forbidden"},
		"a file with a loader":    {`import x from "./compile.go" with { type: "text" }; export default () => <p>{x}</p>;`, "import-forbidden"},
		"a data URL":              {`import x from "data:text/javascript,export default 1"; export default () => <p>{x}</p>;`, "import-forbidden"},
		"a web address":           {`import x from "https://example.com/x.js"; export default () => <p>{x}</p>;`, "import-forbidden"},
		"for its effect alone":    {`import "./x"; export default () => <p />;`, "import-forbidden"},
		"export from":             {`export * from "./x"; export default () => <p />;`, "import-forbidden"},
		"export names from":       {`export { a } from "./x"; export default () => <p />;`, "import-forbidden"},
		"export default from":     {`export { default } from "./x";`, "import-forbidden"},
		"an escape in the name":   {`import x from "\x2e\x2e/x"; export default () => <p>{x}</p>;`, "import-forbidden"},
		"import equals":           {`import x = require("fs"); export default () => <p>{x}</p>;`, "forbidden-api"},
		"a map beside it":         {"export default () => <p />;\n//# sourceMappingURL=../../secret.map", ""},
		"a reference to types":    {"/// <reference path=\"/etc/passwd\" />\nexport default () => <p />;", ""},
		"a pragma for JSX":        {"/** @jsxImportSource ../../evil */\nexport default () => <p />;", "pragma"},
		"a pragma for a factory":  {"/** @jsx eval */\nexport default () => <p />;", "pragma"},
		"import of a variable":    {"const m = '$ui4a/ui';\nexport default () => { import(m); return <p />; };", "forbidden-api"},
		"require":                 {"export default () => <p>{require('fs')}</p>;", "forbidden-api"},
		"the address of a module": {"export default () => <p>{import.meta.url}</p>;", "forbidden-api"},
	} {
		r, found := Compile(c.source, Options{})
		if c.want == "" && (len(found) > 0 || r.JS == "") || c.want != "" && (!strings.Contains(codes(found), c.want) || !ui4a.Failed(found)) {
			t.Errorf("%s: %v", name, found)
		}
		if strings.Contains(r.JS, "passwd") || strings.Contains(r.JS, "sourceMappingURL") {
			t.Errorf("%s: %s", name, r.JS)
		}
	}
}

// What would cost a parser too much is refused before it runs.
func TestCostIsBounded(t *testing.T) {
	chain := func(piece string, n int) string { return strings.Repeat(piece, n) + "b" }
	for name, c := range map[string]struct{ source, want string }{
		"10 MB":             {"export default () => <p>" + strings.Repeat("0123456789\n", 1<<20) + "</p>;", "too-large"},
		"a long line":       {"const a = \"" + strings.Repeat("x", ui4a.MaxLine) + "\";", "too-large"},
		"bytes":             {"const a = \"\xff\";", "not-utf8"},
		"deep brackets":     {"x = " + strings.Repeat("(", 10000), "too-deep"},
		"deep elements":     {"x = " + strings.Repeat("<a>", 10000), "too-deep"},
		"deep templates":    {"x = " + strings.Repeat("`${", 10000), "too-deep"},
		"less than":         {chain("a<", 20000), "too-complex"},
		"arrows":            {chain("a=>", 5000), "too-complex"},
		"not":               {chain("!", 20000), "too-complex"},
		"assignments":       {chain("a=", 20000), "too-complex"},
		"ternaries":         {chain("a?b:", 10000), "too-complex"},
		"dots":              {chain("a.", 20000), "too-complex"},
		"new":               {chain("new ", 10000), "too-complex"},
		"new on lines":      {chain("new\n", 10000), "too-complex"},
		"if":                {chain("if(a)", 10000), "too-complex"},
		"if on lines":       {chain("if(a)\n", 10000), "too-complex"},
		"else":              {chain("if(a)b\nelse ", 5000), "too-complex"},
		"labels":            {chain("a:", 10000), "too-complex"},
		"labels on lines":   {chain("a:\n", 10000), "too-complex"},
		"calls":             {"a" + strings.Repeat("()", 10000), "too-complex"},
		"templates":         {"a" + strings.Repeat("``", 10000), "too-complex"},
		"commas":            {chain("a,", 20000), "too-complex"},
		"namespaces":        {"namespace a" + strings.Repeat(".b", 10000) + "{}", "too-complex"},
		"types":             {"let a: " + chain("A<", 10000), "too-complex"},
		"unknown classes":   {"export default () => [" + strings.Repeat("<p className=\"x y z w\"/>,\n", 9000) + "];", "unknown-class"},
		"conditional types": {"type a = " + chain("A extends infer B extends ", 2000), "too-complex"},
	} {
		done := make(chan []ui4a.Diagnostic, 1)
		go func() {
			_, found := Compile(c.source, Options{})
			done <- found
		}()
		select {
		case found := <-done:
			if !strings.Contains(codes(found), c.want) {
				t.Errorf("%s: %v", name, found)
			}
		case <-time.After(time.Minute):
			t.Fatalf("%s: no end", name)
		}
	}
}

func TestFrames(t *testing.T) {
	r, found := Compile("import { Card } from \"$ui4a/ui\";\nexport default () => <Card><Row2 /></Card>;", Options{Partial: true})
	if len(found) > 0 || !strings.Contains(r.JS, "function Row2() {") || !strings.Contains(r.JS, `"partial":true`) {
		t.Error(found, r.JS)
	}
}

func TestKeys(t *testing.T) {
	r, _ := Compile(`import { usePersistedState, usePrivateState, PrivateField } from "$ui4a/state";
export default function A() {
  const [a] = usePersistedState<string | null>("date", null);
  const [b] = usePrivateState('iban', "");
  return <p>{a}{b}<PrivateField name="pin" label="PIN" /></p>;
}`, Options{})
	if diff := cmp.Diff([]Key{{"date", false}, {"iban", true}, {"pin", true}}, r.Keys); diff != "" {
		t.Error(diff)
	}
}

// The signature changes with hooks and what they are given, not with what is drawn.
func TestHookSignatures(t *testing.T) {
	of := func(hooks, body string) string {
		r, _ := Compile("export default function A() { "+hooks+" return "+body+"; }", Options{Partial: true})
		return r.Hooks["default"]
	}
	base := of("const [a] = useState(0);", "<p />")
	for name, got := range map[string]string{"more drawn": of("const [a] = useState(0);", "<p>{a}</p>"), "spaces": of("const [a]=useState( 0 ) ;", "<p />")} {
		if got != base {
			t.Errorf("%s changes the signature", name)
		}
	}
	for name, got := range map[string]string{"another start": of("const [a] = useState(1);", "<p />"), "another hook": of("const a = useRef(0);", "<p />"),
		"one more": of("const [a] = useState(0); const b = useId();", "<p />"), "none": of("", "<p />")} {
		if got == base {
			t.Errorf("%s does not change the signature", name)
		}
	}
}
