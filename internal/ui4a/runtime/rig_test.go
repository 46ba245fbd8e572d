package runtime_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"macaron/internal/browser"
	"macaron/internal/ui4a/runtime"
)

// rigServer serves the frame, the host's modules, and a page with one surface under the
// policy that a host's page has.
func rigServer(t *testing.T) *httptest.Server {
	t.Helper()
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+runtime.FramePath, runtime.ServeFrame)
	mux.HandleFunc("GET "+runtime.HostPath+"{name}", runtime.ServeHost)
	mux.HandleFunc("GET /rig.js", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/javascript")
		http.ServeFile(w, r, "testdata/rig.js")
	})
	mux.HandleFunc("GET /rogue", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		http.ServeFile(w, r, "testdata/rogue.html")
	})
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Security-Policy", "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; frame-src "+runtime.HostFrameSource(r.Host)+" "+r.Host+"/rogue")
		w.Header().Set("Content-Type", "text/html")
		_, _ = w.Write([]byte(`<!doctype html><html lang=en><title>rig</title><link rel=stylesheet href=/ui4a/host/host.css><body><input id=outside><div id=place></div><script type=module src=/rig.js></script></body></html>`))
	})
	s := httptest.NewServer(mux)
	t.Cleanup(s.Close)
	return s
}

// rig is one page with one surface.
type rig struct {
	*browser.Page
	t   *testing.T
	url string
}

func openRig(t *testing.T, b *browser.Browser, url string) *rig {
	t.Helper()
	p, err := b.ProfilePage(browser.View{Width: 800, Height: 900})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	r := &rig{Page: p, t: t, url: url}
	r.must(p.Open(url))
	r.wait("window.rig")
	r.run(`rig.open()`)
	return r
}

// shared is the one browser of the tests that need no flags of their own; they run one
// after the other.
var shared *browser.Browser

func TestMain(m *testing.M) {
	b, err := browser.Start(context.Background())
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	shared = b
	code := m.Run()
	b.Close()
	os.Exit(code)
}

func (r *rig) must(err error) {
	r.t.Helper()
	if err != nil {
		r.t.Fatal(err)
	}
}

func (r *rig) wait(expression string) {
	r.t.Helper()
	if err := r.Wait(expression); err != nil {
		said, _ := browser.Eval[string](r.Page, `JSON.stringify({...window.rig, surface: undefined})`)
		r.t.Fatalf("%v\nthe page has %s\n%s", err, said, strings.Join(r.Trouble(), "\n"))
	}
}

func (r *rig) run(statement string) {
	r.t.Helper()
	if _, err := browser.Eval[bool](r.Page, "(("+statement+"), true)"); err != nil {
		r.t.Fatal(err)
	}
}

func (r *rig) text(expression string) string {
	r.t.Helper()
	s, err := browser.Eval[string](r.Page, expression)
	r.must(err)
	return s
}

// card is a card's script as the compiler writes it: body is the component's body, with
// React as R, the modules state and chat as S and C, and h as createElement.
func card(revision, hooks, body string) string {
	return fmt.Sprintf(`globalThis.__ui4a.define({revision: %q, hooks: {default: %q, Row: "r"}}, function (m) {
const R = m.react, h = R.createElement, S = m["$ui4a/state"], C = m["$ui4a/chat"], U = m["$ui4a/ui"];
return function Card() { %s };
})`, revision, hooks, body)
}

// show puts a card on the surface and waits until it is drawn.
func (r *rig) show(revision, hooks, body string, keys ...string) {
	r.t.Helper()
	r.run(fmt.Sprintf(`rig.surface.show({revision: %q, script: %q, source: "the source", keys: rig.keys(%q.split(","))})`, revision, card(revision, hooks, body), strings.Join(keys, ",")))
	r.wait(fmt.Sprintf("rig.painted.includes(%q)", revision))
}

// at clicks a point of the frame, in the frame's pixels.
func (r *rig) at(x, y float64) {
	r.t.Helper()
	r.must(r.ClickIn(x, y, "iframe"))
}

// into clicks a field of the frame until the frame's own process has the focus in it: a
// click behind a change of the frame's size can meet the frame and nothing in it.
func (r *rig) into(x, y float64) {
	r.t.Helper()
	d, err := r.Frame(r.url + runtime.FramePath)
	r.must(err)
	defer d.Close()
	for range 10 {
		r.at(x, y)
		held, err := browser.Look[bool](d, `new Promise((done) => {
			const ask = (left) => document.hasFocus() && document.activeElement !== document.body ? done(true) : left ? setTimeout(ask, 50, left - 1) : done(false);
			ask(40);
		})`)
		r.must(err)
		if held {
			return
		}
		r.t.Logf("a click at %v, %v has focused nothing; once more", x, y)
	}
	r.t.Fatal("no click has focused a field")
}

// asks clicks a point of the frame and waits until the host asks the person.
func (r *rig) asks(x, y float64) {
	r.t.Helper()
	r.run(`rig.surface.notices.clear()`)
	r.at(x, y)
	r.wait(`document.querySelector("dialog[open], .ui4a-refused")`)
	if refused := r.text(`document.querySelector(".ui4a-refused")?.textContent ?? ""`); refused != "" {
		r.t.Fatalf("a click at %v, %v is answered with %q", x, y, refused)
	}
}

func replace(text string, pairs ...string) string { return strings.NewReplacer(pairs...).Replace(text) }

func quote(s string) string { return fmt.Sprintf("%q", s) }

// pause waits until the bucket of Actions has one again.
func (r *rig) pause() {
	r.t.Helper()
	r.wait(`(({left, filled, perSecond}) => left + (performance.now() - filled) / 1000 * perSecond >= 1)(rig.surface.actions)`)
}
