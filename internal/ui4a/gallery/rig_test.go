package gallery_test

import (
	"context"
	"encoding/json"
	"flag"
	"net/http"
	"net/http/httptest"
	"os"
	"sync"
	"testing"

	"macaron/internal/browser"
	"macaron/internal/ui4a/compile"
	"macaron/internal/ui4a/gallery"
	"macaron/internal/ui4a/runtime"
)

// chromium is started by the first test that needs it and shared by all; pages share
// nothing.
var chromium = sync.OnceValues(func() (*browser.Browser, error) { return browser.Start(context.Background()) })

func TestMain(m *testing.M) {
	flag.Parse()
	code := m.Run()
	if b, err := chromium(); err == nil {
		b.Close()
	}
	os.Exit(code)
}

// stage is one page whose own document is the frame of cards: what a frame's parent does,
// the page does to itself.
type stage struct {
	*browser.Page
	doc *browser.Document
	url string
	t   *testing.T
}

func newStage(t *testing.T, v browser.View) *stage {
	t.Helper()
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+runtime.FramePath, runtime.ServeFrame)
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	b, err := chromium()
	if err != nil {
		t.Fatal(err)
	}
	p, err := b.Page(v)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	return &stage{Page: p, url: server.URL + runtime.FramePath, t: t}
}

// handOver gives the document its port, and keeps what comes back through it.
const handOver = `(() => {
	globalThis.said = [];
	const { port1, port2 } = new MessageChannel();
	port1.onmessage = (e) => said.push(JSON.parse(e.data));
	globalThis.tell = (m) => port1.postMessage(JSON.stringify(m));
	window.postMessage("port", "*", [port2]);
	globalThis.seen = new Set();
	document.addEventListener("focusin", (e) => seen.add(e.target), true);
	return true;
})()`

// show puts a card into a fresh document and waits until it is drawn.
func (s *stage) show(name, source string) {
	s.t.Helper()
	r, findings := compile.Compile(source, compile.Options{})
	for _, f := range findings {
		s.t.Errorf("%s: %+v", name, f)
	}
	if r.JS == "" {
		s.t.Fatalf("%s does not compile", name)
	}
	s.mount(r.JS)
}

// mount puts a card's script into a fresh document and waits until it is drawn.
func (s *stage) mount(js string) {
	s.t.Helper()
	s.must(s.Open(s.url))
	doc, err := s.Page.Document()
	s.must(err)
	if s.doc != nil {
		s.doc.Close()
	}
	s.doc = doc
	s.look(handOver)
	script, err := json.Marshal(js)
	s.must(err)
	s.look(`(tell({t: "init", theme: {}, state: {}, private: {}}), tell({t: "card", script: ` + string(script) + `}), true)`)
	s.wait(`said.some((m) => m.t === "painted")`)
}

// told gives what the document has said of one kind.
func (s *stage) told(kind string) []map[string]any {
	s.t.Helper()
	all, err := browser.Look[[]map[string]any](s.doc, `said.filter((m) => m.t === "`+kind+`")`)
	s.must(err)
	return all
}

func (s *stage) look(expression string) bool {
	s.t.Helper()
	ok, err := browser.Look[bool](s.doc, expression)
	s.must(err)
	return ok
}

func (s *stage) text(expression string) string {
	s.t.Helper()
	v, err := browser.Look[string](s.doc, expression)
	s.must(err)
	return v
}

// wait asks until an expression is true, for some seconds.
func (s *stage) wait(expression string) {
	s.t.Helper()
	ok := s.look(`new Promise((done) => {
		let left = 250;
		const ask = () => (` + expression + `) ? done(true) : left-- > 0 ? setTimeout(ask, 20) : done(false);
		ask();
	})`)
	if !ok {
		s.t.Fatalf("%s does not come true; the document says %s", expression, s.text(`JSON.stringify(said)`))
	}
}

func (s *stage) must(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
}

// visible is the text that can be read.
func (s *stage) visible() string { return s.text(`document.querySelector("#card").innerText`) }

// source gives a card of the gallery.
func source(t *testing.T, name string) string {
	t.Helper()
	for _, c := range gallery.Cards() {
		if c.Name == name {
			return c.Source
		}
	}
	t.Fatalf("there is no card %s", name)
	return ""
}

func quote(s string) string {
	b, _ := json.Marshal(s) // a text: does not fail
	return string(b)
}
