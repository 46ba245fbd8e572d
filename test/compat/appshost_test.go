package compat

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"macaron/internal/browser"
)

// appsHost is a web page that is a host of MCP Apps; each of its cards is at ?card=N.
type appsHost struct {
	url     string
	browser *browser.Browser

	mu   sync.Mutex
	seen []string // by the computer that stands for all others
}

// shownCard is the page while it shows one card.
type shownCard struct {
	*browser.Page
	t     *testing.T
	proxy *browser.Document
}

// openHost lets the program make cards and serves the host.
func openHost(t *testing.T, program string, cards ...string) *appsHost {
	t.Helper()
	dir := nodeFolder(t)
	list, err := json.Marshal(cards)
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "cards.json"), string(list))
	told := askProgram(t, dir, program)
	h := &appsHost{}
	elsewhere := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.seen = append(h.seen, r.Host+r.URL.String())
	}))
	t.Cleanup(elsewhere.Close)
	sandbox := httptest.NewServer(http.HandlerFunc(serveProxy))
	t.Cleanup(sandbox.Close)
	told["proxy"] = strings.Replace(sandbox.URL, "127.0.0.1", "localhost", 1) + "/?csp=" + cspOf(t, told)
	page := httptest.NewServer(hostPage(t, bundled(t, dir, "appshost.mjs"), told))
	t.Cleanup(page.Close)
	h.url = page.URL
	if h.browser, err = browser.Start(t.Context(), browser.Flag{Name: "host-resolver-rules", Value: "MAP evil.example " + elsewhere.Listener.Addr().String()}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(h.browser.Close)
	return h
}

// show waits until a card is drawn.
func (h *appsHost) show(t *testing.T, n int) *shownCard {
	t.Helper()
	p, err := h.browser.ProfilePage(browser.View{Width: 700, Height: 900})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	s := &shownCard{Page: p, t: t}
	s.must(p.Open(fmt.Sprintf("%s/?card=%d", h.url, n)))
	s.proxy, err = p.Frame("http://localhost")
	s.must(err)
	s.wait(`told.views === 1 && told.sizes.some((s) => s.height >= 400)`)
	return s
}

// keeps says that nothing of a value has left the view.
func (h *shownCard) keeps(pieces ...string) {
	h.t.Helper()
	wire := strings.ToLower(h.text(`told.wire.join(" ")`))
	for _, piece := range pieces {
		if !strings.Contains(wire, "ui/message") || strings.Contains(wire, piece) {
			h.t.Errorf("what left the view: %s", wire)
		}
	}
}

// askProgram is what the official client gets of the program.
func askProgram(t *testing.T, dir, program string) map[string]any {
	t.Helper()
	contract, err := filepath.Abs("../../macaron.toml")
	if err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command("node", filepath.Join(dir, "apps.mjs"), filepath.Join(dir, "cards.json"), program, "mcp", "serve", "--contract", contract, "--home", t.TempDir()).Output()
	var failed *exec.ExitError
	if errors.As(err, &failed) {
		t.Fatalf("%v\n%s", err, failed.Stderr)
	}
	told := map[string]any{}
	if err != nil || json.Unmarshal(out, &told) != nil {
		t.Fatalf("%v\n%.2000s", err, out)
	}
	return told
}

func hostPage(t *testing.T, script string, told map[string]any) http.Handler {
	t.Helper()
	card, err := json.Marshal(told)
	if err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = w.Write([]byte(`<!doctype html><html lang=en><title>host</title><body style="margin:0"><script type=module src=/host.js></script>`))
	})
	mux.HandleFunc("GET /host.js", func(w http.ResponseWriter, r *http.Request) { http.ServeFile(w, r, script) })
	mux.HandleFunc("GET /host.json", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(card) })
	return mux
}

// cspOf is the policy that the specification makes of what a view asks for.
func cspOf(t *testing.T, told map[string]any) string {
	t.Helper()
	ui, _ := told["ui"].(map[string]any)
	csp, _ := ui["csp"].(map[string]any)
	if len(csp) != 1 {
		t.Fatalf("the view asks for more than scripts of its own: %v", csp)
	}
	domains := ""
	for _, d := range csp["resourceDomains"].([]any) {
		domains += " " + d.(string)
	}
	return strings.ReplaceAll(fmt.Sprintf("default-src 'none'; script-src 'self' 'unsafe-inline'%[1]s; style-src 'self' 'unsafe-inline'%[1]s; connect-src 'self'; "+
		"img-src 'self' data:%[1]s; font-src 'self'%[1]s; media-src 'self' data:%[1]s; frame-src 'none'; object-src 'none'; base-uri 'self'", domains), " ", "%20")
}

// serveProxy is the sandbox proxy: it puts the view into a frame of its own and passes on
// what both sides say. A frame that is given as a text takes over the document's policy.
func serveProxy(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Security-Policy", r.FormValue("csp"))
	w.Header().Set("Content-Type", "text/html")
	_, _ = w.Write([]byte(`<!doctype html><html lang=en><title>proxy</title><body style="margin:0"><script>
let view;
addEventListener("message", ({ source, data }) => {
	if (source === parent && data.method === "ui/notifications/sandbox-resource-ready") {
		view = document.createElement("iframe");
		view.setAttribute("sandbox", "allow-scripts allow-same-origin");
		view.style = "position:absolute;inset:0;width:100%;height:100%;border:0";
		view.srcdoc = data.params.html;
		document.body.append(view);
	} else if (source === parent) view.contentWindow.postMessage(data, "*");
	else if (source === view?.contentWindow) parent.postMessage(data, "*");
});
parent.postMessage({ jsonrpc: "2.0", method: "ui/notifications/sandbox-proxy-ready", params: {} }, "*");
</script>`))
}

func (h *shownCard) must(err error) {
	h.t.Helper()
	if err != nil {
		view := "no proxy"
		if h.proxy != nil {
			view, _ = browser.Look[string](h.proxy, `document.querySelector("iframe")?.contentDocument.body.innerText ?? "no view"`)
		}
		told, _ := browser.Eval[string](h.Page, `JSON.stringify(window.told)`)
		h.t.Fatalf("%v\nthe view: %s\nthe host: %.3000s\n%s", err, view, told, strings.Join(h.Trouble(), "\n"))
	}
}

func (h *appsHost) asked() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return append([]string(nil), h.seen...)
}

func (h *shownCard) wait(expression string) {
	h.t.Helper()
	h.must(h.Wait(expression))
}

func (h *shownCard) text(expression string) string {
	h.t.Helper()
	s, err := browser.Eval[string](h.Page, expression)
	h.must(err)
	return s
}

// waitView waits for something in the view's document d.
func (h *shownCard) waitView(expression string) {
	h.t.Helper()
	ok, err := browser.Look[bool](h.proxy, `new Promise((done) => {
		const start = Date.now();
		const look = () => {
			const d = document.querySelector("iframe").contentDocument;
			if (!!(`+expression+`) || Date.now() - start > 8000) done(!!(`+expression+`));
			else setTimeout(look, 50);
		};
		look();
	})`)
	if err == nil && !ok {
		err = errors.New("the view never has " + expression)
	}
	h.must(err)
}

// at presses the control of a row of the card.
func (h *shownCard) at(row int) {
	h.t.Helper()
	h.click(60, float64(row*50+20))
}

// click clicks a point of the card's frame, in its pixels: the page holds the proxy, the
// proxy the view, the view the card.
func (h *shownCard) click(x, y float64) {
	h.t.Helper()
	h.must(h.ClickIn(x, y, "iframe", "iframe", "iframe"))
}

// fillSealed types into the sealed field, until the card, which grows when the field is
// filled, says that it is: a browser may take a click for the frame as it lay before.
func (h *shownCard) fillSealed() {
	h.t.Helper()
	for range 5 {
		h.click(100, 345)
		h.insert(canary)
		h.pause()
		if h.text(`String(told.sizes.at(-1).height >= 460)`) == "true" {
			return
		}
	}
	h.must(errors.New("the sealed field is never filled"))
}

func (h *shownCard) insert(text string) {
	h.t.Helper()
	h.must(h.Insert(text))
}

// pause lets what is under way arrive, and the bucket of Actions fill again.
func (h *shownCard) pause() {
	h.t.Helper()
	_, err := browser.Eval[bool](h.Page, `new Promise((done) => setTimeout(() => done(true), 700))`)
	h.must(err)
}

func quoted(s string) string {
	b, _ := json.Marshal(s) // a text: does not fail
	return string(b)
}
