package stream

import (
	"strings"
	"testing"

	"macaron/internal/ui4a/compile"
)

func TestClose(t *testing.T) {
	const head = "export default function A() { const [n] = useState(0); return "
	for name, c := range map[string]struct{ source, want string }{
		"text":                   {"<p>a b", "<p>a b</p>}\n"},
		"half an entity":         {"<p>a &am", "<p>a </p>}\n"},
		"half a tag":             {"<p>a<b", "<p>a</p>}\n"},
		"half an attribute":      {"<p>a<b title=\"x", "<p>a</p>}\n"},
		"half an expression":     {"<p>a{n +", "<p>a</p>}\n"},
		"half a closing tag":     {"<p>a<b>c</", "<p>a<b>c</b></p>}\n"},
		"a list":                 {"<p>{L.map((x) => (<i>{x", "<p>{L.map((x) => (<i></i>))}</p>}\n"},
		"a list of one":          {"<p>{L.map((x) => (<i>x</i>", "<p>{L.map((x) => (<i>x</i>))}</p>}\n"},
		"the first of two":       {"<p>{n ? <i>x", "<p>{n ? <i>x</i> : null}</p>}\n"},
		"between the two":        {"<p>{n ? <i>x</i> :", "<p></p>}\n"},
		"an element as a value":  {"<p><Card title=\"a\" icon={<b>c", "<p><Card title=\"a\" icon={<b>c</b>} /></p>}\n"},
		"a list as a value":      {"<p><Table rows={[[1, 2], [3, 4], [5", "<p><Table rows={[[1, 2], [3, 4]]} /></p>}\n"},
		"a comment":              {"<p>a{/* b", "<p>a</p>}\n"},
		"half a character":       {"<p>\xe9\xa2", "<p></p>}\n"},
		"after what is returned": {"(<p>a</p>);\n", "(<p>a</p>)}\n"},
	} {
		got, ok := Close(head + c.source)
		if !ok || got != head+c.want {
			t.Errorf("%s: %v %q", name, ok, strings.TrimPrefix(got, head))
		}
	}
	for _, source := range []string{"", "import { Card } from", "export default function A() {", head, head + "<", head + "<Card title=", "function a() { return <p>", "export default function A() { const x = <p>a", "export default function A() { if (b) return <p>a",
		head + "<p>{a]}", head + "<A[0].b"} {
		if got, ok := Close(source); ok {
			t.Errorf("%q can be drawn as %q", source, got)
		}
	}
}

// The component is drawn before its export has come, and with those behind it missing.
func TestCloseFindsTheComponent(t *testing.T) {
	app := "const X = createContext();\nfunction App() {\n  return <p><Row /></p>;\n}\n"
	for source, want := range map[string]string{
		app:                                  app + "\nexport default App;\n",
		app + "export def":                   app + "\nexport default App;\n",
		app + "export default App;":          app + "export default App;\n",
		app + "function Row({ a }) { return": app + "\nexport default App;\n",
		"export default () => <p>a</p>;\nfunction Row({ a }) { return": "export default () => <p>a</p>;\n\n",
	} {
		if got, ok := Close(source); !ok || got != want {
			t.Errorf("%q: %v %q", source, ok, got)
		}
	}
}

// Every card that is written compiles, is drawn long before its end, and has no prefix
// that is closed to something that does not compile. A third of the cards is looked at:
// all of them are 16,000 frames.
func TestPrefixesCompile(t *testing.T) {
	frames, failed := 0, 0
	for i, source := range corpus(t, 40) {
		if i%3 > 0 {
			continue
		}
		if r, found := compile.Compile(source, compile.Options{}); r.JS == "" {
			t.Fatalf("the card does not compile: %v\n%s", found, source)
		}
		last := ""
		for end := range len(source) + 1 {
			closed, ok := Close(source[:end])
			if !ok || closed == last {
				continue
			}
			last = closed
			frames++
			if r, found := compile.Compile(closed, compile.Options{Partial: true}); r.JS == "" {
				failed++
				t.Errorf("after %q: %v", source[max(0, end-60):end], found)
			}
		}
	}
	t.Logf("%d frames, %d do not compile", frames, failed)
}
