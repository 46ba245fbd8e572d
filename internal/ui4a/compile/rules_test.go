package compile

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// body makes a card of what its component gives back.
func body(jsx string) string {
	return "const L = [{ id: 1 }];\nexport default function A() {\n  const [n, setN] = useState(0);\n  return (\n" + jsx + "\n  );\n}\n"
}

// Each mistake is told at its place; what comes next to it is not.
var ruleCases = []struct{ name, source, want string }{
	{"fetch", body(`<button onClick={() => fetch("/x")}>a</button>`), "5:24 forbidden-api"},
	{"fetch of window", body(`<button onClick={() => window.fetch("/x")}>a</button>`), "5:31 forbidden-api"},
	{"its own fetch", "const fetch = () => 1;\n" + body(`<p>{fetch()}</p>`), ""},
	{"a key named fetch", "const o = { fetch: 1, eval: 2 };\n" + body(`<p>{o.fetch}</p>`), ""},
	{"eval", body(`<p>{eval("1")}</p>`), "5:5 forbidden-api"},
	{"new Function", body(`<p>{new Function("1")()}</p>`), "5:9 forbidden-api"},
	{"a timer of text", body(`<button onClick={() => setTimeout("x()", 1)}>a</button>`), "5:35 forbidden-api"},
	{"alert", body(`<button onClick={() => alert("x")}>a</button>`), "5:24 forbidden-api"},
	{"sendBeacon", body(`<button onClick={() => navigator.sendBeacon("/x")}>a</button>`), "5:34 forbidden-api"},
	{"storage", body(`<button onClick={() => localStorage.clear()}>a</button>`), "5:24 discouraged-api"},
	{"javascript:", body(`<a href="javascript:x()">a</a>`), "5:4 forbidden-api"},
	{"script", body(`<script>a</script>`), "5:1 forbidden-element"},
	{"a link that is made", body(`<button onClick={() => document.createElement("link")}>a</button>`), "5:47 forbidden-element"},
	{"preconnect", body(`<link rel="preconnect" href="https://x.example" />`), "5:1 forbidden-element, 5:11 preconnect, 5:24 remote-url"},
	{"a picture from elsewhere", body(`<img alt="" src="https://x.example/a.png" />`), "5:13 remote-url"},
	{"a picture of the conversation", body(`<img alt="a" src="asset:a" />`), ""},
	{"a style from elsewhere", body("<p style={{ background: \"url(https://x.example/a)\" }}>a</p>"), "5:25 remote-url"},
	{"a style as text", body(`<p style="color: red">a</p>`), "5:4 style-text"},
	{"a handler of HTML", body(`<p onclick={() => setN(1)}>a</p>`), "5:4 event-name"},
	{"class", body(`<p class="p-2">a</p>`), "5:4 attribute-name"},
	{"no text for a picture", body(`<img src="asset:a" />`), "5:1 missing-alt"},
	{"a button with nothing in it", body(`<button onClick={() => setN(1)}></button>`), "5:1 missing-name"},
	{"a button with an icon alone", "import { Button } from \"$ui4a/ui\";\nimport { Heart } from \"$ui4a/icons\";\n" + body(`<Button icon={<Heart />} onClick={() => setN(1)} />`), "7:1 missing-name"},
	{"an icon within a button", "import { Heart } from \"$ui4a/icons\";\n" + body(`<button onClick={() => setN(1)}>{/* no */}<b><Heart size={9} /></b></button>`), "6:1 missing-name"},
	{"a drawing within a button", body(`<button onClick={() => setN(1)}><svg width={n}><path d="M0 0" /></svg></button>`), "5:1 missing-name"},
	{"a button with a value", body(`<button onClick={() => setN(1)}>{n}</button>`), ""},
	{"a button with a part of its own", "const Face = () => <b>a</b>;\n" + body(`<button onClick={() => setN(1)}><Face /></button>`), ""},
	{"a button with a label", "import { Button } from \"$ui4a/ui\";\nimport { Heart } from \"$ui4a/icons\";\n" + body(`<Button label="Like" icon={<Heart />} onClick={() => setN(1)} />`), ""},
	{"a picture within a button", body(`<button onClick={() => setN(1)}><img src="asset:a" alt="a" /></button>`), ""},
	{"an input without a label", body(`<input defaultValue="" />`), "5:1 missing-label"},
	{"a list without a label", body(`<select defaultValue="a"><option>a</option></select>`), "5:1 missing-label"},
	{"a hidden input", body(`<input type="hidden" />`), ""},
	{"an input in a label", body(`<label>a <input defaultValue="" /></label>`), ""},
	{"an input with a label for it", body(`<div><label htmlFor="q">a</label><input id="q" defaultValue="" /></div>`), ""},
	{"an input with a label for another", body(`<div><label htmlFor="p">a</label><input id="q" defaultValue="" /></div>`), "5:34 missing-label"},
	{"an input in a part that may label it", "const Line = ({ children }) => <label>{children}</label>;\n" + body(`<Line><input defaultValue="" /></Line>`), ""},
	{"an input in a Card", "import { Card } from \"$ui4a/ui\";\n" + body(`<Card><input defaultValue="" /></Card>`), "6:7 missing-label"},
	{"a level of headings that is left out", "import { Card } from \"$ui4a/ui\";\n" + body(`<Card title="a"><h4>b</h4></Card>`), "6:17 heading-order"},
	{"headings in order", body(`<div><h2>a</h2><h3>b</h3></div>`), ""},
	{"text that cannot be read", body(`<p className="p-2 bg-accent text-accent">a</p>`), "5:14 low-contrast"},
	{"white text before white", body(`<p className={n ? "bg-surface text-accent-fg" : "bg-accent text-accent-fg"}>a</p>`), "5:19 low-contrast"},
	{"a dead button", body(`<button>a</button>`), "5:1 dead-control"},
	{"a button that submits", "import { Button, Form } from \"$ui4a/ui\";\n" + body(`<Form onSubmit={() => setN(1)}><Button type="submit">a</Button></Form>`), ""},
	{"a button of a form that does not", "import { Button, Form } from \"$ui4a/ui\";\n" + body(`<Form onSubmit={() => setN(1)}><Button>a</Button></Form>`), "6:32 dead-control"},
	{"a button of a form", body(`<form onSubmit={() => setN(1)}><button>a</button></form>`), ""},
	{"a button whose owner works", "import { Card, Button } from \"$ui4a/ui\";\n" + body(`<Card title="a" action={<Button>a</Button>} />`), ""},
	{"a field that keeps its value", body(`<input aria-label="a" value={n} />`), "5:1 dead-control"},
	{"no key", body(`<ul>{L.map((x) => <li>{x.id}</li>)}</ul>`), "5:19 missing-key"},
	{"no key after return", body(`<ul>{L.map((x) => { const y = <b />; return <li>{y}</li>; })}</ul>`), "5:45 missing-key"},
	{"no key of a fragment", body(`<ul>{L.map((x) => (<><li>{x.id}</li></>))}</ul>`), "5:20 missing-key"},
	{"the index", body(`<ul>{L.map((x, i) => <li key={i}>{x.id}</li>)}</ul>`), "5:26 index-key"},
	{"the index as text", body("<ul>{L.map((x, i) => <li key={`k${i}`}>{x.id}</li>)}</ul>"), "5:26 index-key"},
	{"a good key", body("<ul>{L.map((x, i) => <li key={`${x.id}-${i}`}>{x.id}</li>)}</ul>"), ""},
	{"an unknown prop", "import { Button } from \"$ui4a/ui\";\n" + body(`<Button onPress={() => setN(1)} onClick={() => setN(1)}>a</Button>`), "6:9 unknown-prop"},
	{"a wrong value", "import { Button } from \"$ui4a/ui\";\n" + body(`<Button tone="primary" onClick={() => setN(1)}>a</Button>`), "6:9 wrong-value"},
	{"a wrong value in braces", "import { Button } from \"$ui4a/ui\";\n" + body(`<Button tone={"primary"} onClick={() => setN(1)}>a</Button>`), "6:9 wrong-value"},
	{"a text for a number", "import { Stack } from \"$ui4a/ui\";\n" + body(`<Stack gap="4px">a</Stack>`), "6:8 wrong-value"},
	{"a missing prop", "import { PrivateField } from \"$ui4a/state\";\n" + body(`<PrivateField name="pin" />`), "6:1 missing-prop"},
	{"a spread", "import { PrivateField } from \"$ui4a/state\";\n" + body(`<PrivateField name="pin" {...L[0]} />`), ""},
	{"a member of a namespace", "import * as UI from \"$ui4a/ui\";\n" + body(`<UI.Button tone="primary" onClick={() => setN(1)}>a</UI.Button>`), "6:12 wrong-value"},
	{"an unknown class", body(`<p className="p-2 p-999">a</p>`), "5:14 unknown-class"},
	{"an unknown class of a choice", body(`<p className={n === "q" ? "p-2" : "pp-2"}>a</p>`), "5:35 unknown-class"},
	{"pieces of classes", body("<p className={`p-${n} flex`}>a</p>"), ""},
	{"a class of its own", body("<p className=\"mine\"><style>{`.mine { color: red }`}</style></p>"), ""},
	{"nobody's function", body(`<button onClick={() => save(n)}>a</button>`), "5:24 undefined-name"},
	{"a parameter", "const f = (save: (n: number) => void) => save(1);\n" + body(`<p>{String(f)}</p>`), ""},
	{"a computed key of state", "import { usePersistedState } from \"$ui4a/state\";\nexport default function A() { const [a] = usePersistedState(\"a\" + 1, 0); return <p>{a}</p>; }", "2:61 state-key"},
	{"a bad key of state", "import { usePersistedState } from \"$ui4a/state\";\nexport default function A() { const [a] = usePersistedState(\"a b\", 0); return <p>{a}</p>; }", "2:61 state-key"},
	{"sent without a gesture", "import { sendMessage } from \"$ui4a/chat\";\nexport default function A() { useEffect(() => { sendMessage(\"a\"); }, []); return <p>a</p>; }", "2:49 no-gesture"},
	{"an interval for ever", "export default function A() { useEffect(() => { setInterval(() => 1, 9); }, []); return <p>a</p>; }", "1:49 no-cleanup"},
	{"an interval that ends", "export default function A() { useEffect(() => { const t = setInterval(() => 1, 9); return () => clearInterval(t); }, []); return <p>a</p>; }", ""},
	{"props", "export default function A({ items }) { return <p>{items}</p>; }", "1:27 card-props"},
	{"a class", "export default class A extends React.Component { render() { return <p />; } }", "1:16 class-component"},
}

func TestRules(t *testing.T) {
	for _, c := range ruleCases {
		_, found := Compile(c.source, Options{})
		if got := codes(found); got != c.want {
			t.Errorf("%s: got %q, want %q\n%v", c.name, got, c.want, found)
		}
		for _, d := range found {
			if d.Fix == "" || strings.Contains(d.Message+d.Fix, "%!") {
				t.Errorf("%s: %+v", c.name, d)
			}
		}
	}
}

// The document has a row for each code that the sources can tell, and no other.
func TestDocumentHasEveryCode(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	placed, err := filepath.Glob("../surface/*.go")
	if err != nil {
		t.Fatal(err)
	}
	files = append(files, placed...)
	told := map[string]bool{}
	call := regexp.MustCompile(`(?:(?:c\.(?:fail|wrong|warn|whole|tell)|severity)\((?:[^"\n]*, )?|Diagnostic\{Code: |d\.Code[^=\n]* = )"([a-z0-9-]+)"`)
	for _, f := range append(files, "../patch.go") {
		if strings.HasSuffix(f, "_test.go") {
			continue
		}
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range call.FindAllStringSubmatch(strings.ReplaceAll(string(text), `c.tell("error", `, "c.tell("), -1) {
			told[m[1]] = true
		}
	}
	doc, err := os.ReadFile("../../../docs/formats/ui4a.md")
	if err != nil {
		t.Fatal(err)
	}
	listed := map[string]bool{}
	for _, m := range regexp.MustCompile("(?m)^\\| `([a-z0-9-]+)` \\| (?:error|warning|fatal)").FindAllStringSubmatch(string(doc), -1) {
		listed[m[1]] = true
	}
	for code := range told {
		if !listed[code] {
			t.Errorf("docs/formats/ui4a.md does not list %s", code)
		}
	}
	for code := range listed {
		if !told[code] {
			t.Errorf("docs/formats/ui4a.md lists %s, which nothing tells", code)
		}
	}
	if len(told) < 25 {
		t.Errorf("only %d codes were found", len(told))
	}
}

func FuzzCompile(f *testing.F) {
	f.Add(good)
	for _, c := range ruleCases {
		f.Add(c.source)
	}
	f.Fuzz(func(t *testing.T, source string) {
		r, found := Compile(source, Options{})
		again, _ := Compile(source, Options{})
		if r.JS != again.JS {
			t.Fatal("two scripts of one source")
		}
		for _, d := range found {
			if d.Fix == "" || d.Code == "" || d.Line < 0 || strings.Contains(r.JS, "sourceMappingURL=") {
				t.Fatalf("%+v", d)
			}
		}
	})
}
