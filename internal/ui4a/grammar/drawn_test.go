package grammar

import (
	"encoding/json"
	"flag"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"

	"macaron/internal/browser"
	"macaron/internal/ui4a"
	"macaron/internal/ui4a/compile"
	"macaron/internal/ui4a/runtime"
)

var drawn = flag.Int("drawn", 12, "random cards of the grammar that are drawn in Chromium")

// Every card that can be written within the grammar is drawn: Chromium paints it, and
// nothing is thrown, stopped or refused by the policy, whatever its texts and numbers are.
func TestEverySentenceIsDrawn(t *testing.T) {
	g, p := language(t), blankPage(t)
	for seed := range *drawn {
		text := sentence(t, g, rand.New(rand.NewPCG(uint64(seed), 9)), ui4a.Fence+"\n")
		source := ui4a.SplitFences(text)[0].Text
		said := draw(t, p, source)
		if slices.Contains(said, "stopped: unresponsive") { // so is a frame that gets no processor; one that hangs does it again
			said = draw(t, p, source)
		}
		if len(said) > 0 {
			t.Errorf("sentence %d: %q\n%s", seed, said, source)
		}
	}
	if trouble := p.Trouble(); len(trouble) > 0 {
		t.Errorf("%d cards: %q", *drawn, trouble)
	}
}

// draw shows a card and gives what went wrong.
func draw(t *testing.T, p *browser.Page, source string) []string {
	t.Helper()
	card, _ := compile.Compile(source, compile.Options{})
	keys := map[string]any{}
	for _, k := range card.Keys {
		keys[k.Name] = map[string]bool{"noai": k.NoAI}
	}
	shown, err := json.Marshal(map[string]any{"revision": card.Revision, "script": card.JS, "source": source, "keys": keys})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := browser.Eval[bool](p, "page.draw("+string(shown)+")"); err != nil {
		t.Fatalf("%v\n%s", err, source)
	}
	said, err := browser.Eval[[]string](p, "page.troubles")
	if err != nil {
		t.Fatal(err)
	}
	return said
}

func blankPage(t *testing.T) *browser.Page {
	t.Helper()
	b, err := browser.Start(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.Close)
	p, err := b.Page(browser.View{Width: 390, Height: 844})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	if err = p.Open(pageServer(t)); err == nil {
		err = p.Wait("window.page")
	}
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func pageServer(t *testing.T) string {
	t.Helper()
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+runtime.FramePath, runtime.ServeFrame)
	mux.HandleFunc("GET "+runtime.HostPath+"{name}", runtime.ServeHost)
	mux.HandleFunc("GET /drawn.js", func(w http.ResponseWriter, r *http.Request) { http.ServeFile(w, r, "testdata/drawn.js") })
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = w.Write([]byte("<!doctype html><html lang=en><link rel=icon href=data:,><title>cards</title><body><div id=place></div><script type=module src=/drawn.js></script></body></html>"))
	})
	s := httptest.NewServer(mux)
	t.Cleanup(s.Close)
	return s.URL
}
