package stage

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"macaron/internal/bench/ui4a"
	"macaron/internal/browser"
	"macaron/internal/ui4a/action"
	"macaron/internal/ui4a/compile"
)

// Stage is a browser and a server for it.
type Stage struct {
	browser *browser.Browser
	server  *server
	axe     string
	mounts  atomic.Int64
}

// Tab is one page of the browser. It is not safe for concurrent use; a stage has as many as
// are opened.
type Tab struct {
	stage *Stage
	page  *browser.Page
	view  ui4a.View
	dark  bool
}

// Open makes a stage on a browser. axe is the source of axe-core.
func Open(b *browser.Browser, axe string) (*Stage, error) {
	s, err := serve()
	if err != nil {
		return nil, err
	}
	return &Stage{browser: b, server: s, axe: axe}, nil
}

// Close ends the server; the browser stays.
func (s *Stage) Close() { s.server.close() }

// Tab opens a page.
func (s *Stage) Tab() (*Tab, error) {
	t := &Tab{stage: s, view: ui4a.Views[0]}
	p, err := s.browser.Page(browser.View{Width: t.view.Width, Height: t.view.Height})
	if err != nil {
		return nil, err
	}
	t.page = p
	return t, t.home()
}

// Close closes the page.
func (t *Tab) Close() { t.page.Close() }

// home loads the page with the surface.
func (t *Tab) home() error {
	if err := t.page.Open(t.stage.server.url); err != nil {
		return err
	}
	return t.page.Wait("window.bench && bench.ready")
}

func (t *Tab) look(v ui4a.View, dark bool) error {
	t.view, t.dark = v, dark
	return t.page.Look(browser.View{Width: v.Width, Height: v.Height, Dark: dark})
}

// screen is one mounted card or twin.
type screen struct {
	tab     *Tab
	doc     *browser.Document
	surface string // of a card; "" is a twin
	theme   func(dark bool) error
	busy    time.Duration // of the processor, before the card came
}

func (x *screen) close() {
	x.doc.Close()
	if x.surface != "" {
		x.tab.stage.server.forget(x.surface)
	}
}

// compiled is a card that is ready to be shown.
type compiled struct {
	result compile.Result
	source string
	script string // with pictures in their places
}

// ready puts pictures into a text, where it says asset:NAME.
func ready(text string, c *ui4a.Case) string {
	for name, data := range c.Assets {
		text = strings.ReplaceAll(text, "asset:"+name, dataURL(data))
	}
	return text
}

func dataURL(data []byte) string {
	kind := http.DetectContentType(data)
	if strings.HasPrefix(kind, "text/") {
		kind = "image/svg+xml"
	}
	return "data:" + kind + ";base64," + base64.StdEncoding.EncodeToString(data)
}

// mount shows a card on a new surface and waits until it is drawn or has failed; why is
// empty when it is drawn.
func (t *Tab) mount(k compiled) (x *screen, why string, err error) {
	surface := fmt.Sprintf("canvas/bench-%d", t.stage.mounts.Add(1))
	keys, noai := map[string]action.Key{}, map[string]any{}
	for _, key := range k.result.Keys {
		keys[key.Name], noai[key.Name] = action.Key{NoAI: key.NoAI}, map[string]bool{"noai": key.NoAI}
	}
	t.stage.server.watch(surface, action.Contract{Surface: surface, Revision: string(k.result.Revision), Source: k.source, Keys: keys})
	if _, err := browser.Eval[bool](t.page, fmt.Sprintf("(bench.open(%q), true)", surface)); err != nil {
		return nil, "", err
	}
	doc, err := t.page.Frame(t.stage.server.url + "/ui4a/frame")
	if err != nil {
		return nil, "", err
	}
	x = &screen{tab: t, doc: doc, surface: surface}
	x.theme = func(dark bool) error {
		scheme := map[bool]string{false: "light", true: "dark"}[dark]
		_, err := browser.Eval[bool](t.page, fmt.Sprintf("(bench.surface.setTheme({scheme: %q}), true)", scheme))
		return err
	}
	if x.busy, err = doc.Processor(); err != nil {
		x.close()
		return nil, "", err
	}
	card, err := json.Marshal(map[string]any{"revision": k.result.Revision, "script": k.script, "source": k.source, "keys": noai})
	if err == nil {
		_, err = browser.Eval[bool](t.page, "(bench.show("+string(card)+"), true)")
	}
	if err == nil {
		why, err = x.drawn()
	}
	if err != nil {
		x.close()
		return nil, "", err
	}
	return x, why, nil
}

// firstDraw is the longest that a card may take until it is on screen, in milliseconds.
const firstDraw = 12000

// drawn waits for the first picture of a card and until nothing moves any more.
func (x *screen) drawn() (why string, err error) {
	_, err = browser.Eval[bool](x.tab.page, fmt.Sprintf(`new Promise((done) => { const end = performance.now() + %d, look = () =>
		bench.painted.length > 0 || bench.stopped || bench.troubles.some((t) => t.kind === "error") || performance.now() > end ? done(true) : setTimeout(look, 8); look(); })`, firstDraw))
	if err != nil {
		return "", err
	}
	if why, err = x.failed(); err != nil || why != "" {
		return why, err
	}
	if err := x.prepare(); err != nil {
		return "", err
	}
	if _, err := browser.Look[bool](x.doc, "probe.settled()"); err != nil {
		return "", err
	}
	return x.failed()
}

// failed tells why there is no card, if there is none.
func (x *screen) failed() (string, error) {
	return browser.Eval[string](x.tab.page, `bench.stopped ? "stopped: " + bench.stopped
		: bench.troubles.find((t) => t.kind === "error" && /^(render|script):/.test(t.model))?.model ?? (bench.painted.length ? "" : "nothing was drawn")`)
}

// prepare brings the eyes in.
func (x *screen) prepare() error {
	_, err := browser.Look[bool](x.doc, "("+"(() => {"+probeScript+layoutScript+"})(), true)")
	return err
}

// mountTwin shows a twin as a page of its own.
func (t *Tab) mountTwin(c *ui4a.Case) (*screen, error) {
	t.stage.server.mu.Lock()
	t.stage.server.twins[c.ID] = ready(c.Twin, c)
	t.stage.server.mu.Unlock()
	if err := t.page.Open(t.stage.server.url + "/twin/" + c.ID); err != nil {
		return nil, err
	}
	doc, err := t.page.Document()
	if err != nil {
		return nil, err
	}
	x := &screen{tab: t, doc: doc}
	x.theme = func(dark bool) error { return t.look(t.view, dark) }
	if err := x.prepare(); err != nil {
		x.close()
		return nil, err
	}
	_, err = browser.Look[bool](doc, "probe.settled()")
	return x, err
}

// sent gives every Action so far.
func (x *screen) sent() ([]ui4a.Sent, error) {
	list := "twinSent"
	if x.surface != "" {
		list = "bench.sent"
	}
	return browser.Eval[[]ui4a.Sent](x.tab.page, list)
}

// mark is what a card is compared with to see whether something came of a gesture.
type mark struct {
	hash   string
	left   int // Actions and sealed values that have left the card
	states int // values of its state that it has told; less than 0: they do not count
}

// mark gives the present one, whose hash is known. Values of state are told a little late,
// so they count only when nothing was done just before.
func (x *screen) mark(hash string) (mark, error) {
	n, err := x.count()
	return mark{hash: hash, left: n[0], states: -1}, err
}

// count tells how much has left the card so far.
func (x *screen) count() ([2]int, error) {
	if x.surface == "" {
		return browser.Eval[[2]int](x.tab.page, "[twinSent.length, 0]")
	}
	return browser.Eval[[2]int](x.tab.page, "bench.count()")
}

// at makes a point of the document one of the page, and brings it into view.
func (x *screen) at(px, py float64) (float64, float64, error) {
	if x.surface == "" {
		return px, py, nil
	}
	r, err := browser.Eval[[]float64](x.tab.page, fmt.Sprintf(`(() => { const [, top] = bench.frame(), y = top + scrollY + %f;
		if (y < scrollY + 40 || y > scrollY + innerHeight - 40) scrollTo(0, Math.max(0, y - innerHeight / 2)); return bench.frame(); })()`, py))
	if err != nil {
		return 0, 0, err
	}
	if len(r) < 2 {
		return 0, 0, errStopped
	}
	return px + r[0], py + r[1], nil
}
