package stream

import (
	"encoding/json"
	"flag"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"regexp"
	"testing"
	"time"

	"macaron/internal/browser"
	"macaron/internal/ui4a/compile"
	"macaron/internal/ui4a/runtime"
)

var chunked = flag.Int("chunked", 5, "how many cards TestChunksGiveTheSameDocument writes into a browser")

func chunksServer(t *testing.T) *httptest.Server {
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+runtime.FramePath, runtime.ServeFrame)
	mux.HandleFunc("GET "+runtime.HostPath+"{name}", runtime.ServeHost)
	mux.HandleFunc("GET /chunks.js", func(w http.ResponseWriter, r *http.Request) { http.ServeFile(w, r, "testdata/chunks.js") })
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = w.Write([]byte("<!doctype html><html lang=en><link rel=icon href=data:,><title>chunks</title><body><div id=place></div><script type=module src=/chunks.js></script></body></html>"))
	})
	s := httptest.NewServer(mux)
	t.Cleanup(s.Close)
	return s
}

// page shows cards on one surface after the other.
type page struct {
	*browser.Page
	t   *testing.T
	url string
}

func (p page) run(expression string) {
	p.t.Helper()
	if _, err := browser.Eval[bool](p.Page, "(("+expression+"), true)"); err != nil {
		p.t.Fatal(err)
	}
}

func (p page) show(revision, script string) {
	p.t.Helper()
	text, _ := json.Marshal(map[string]string{"revision": revision, "script": script, "source": "the source"})
	p.run("chunks.show(" + string(text) + ")")
}

// generated are ids that React and Radix count up, whoever asks first.
var generated = regexp.MustCompile(`(?:radix-)?[_:«]r[_:]?[0-9a-z]+[_:»]`)

// document is what the card has drawn once the whole source is on screen.
func (p page) document(revision string) string {
	p.t.Helper()
	if err := p.Wait("chunks.painted.includes(" + string(quoted(revision)) + ") || chunks.stopped.length > 0"); err != nil {
		said, _ := browser.Eval[string](p.Page, "JSON.stringify(chunks)")
		p.t.Fatalf("%v: %s", err, said)
	}
	d, err := p.Frame(p.url + runtime.FramePath)
	if err != nil {
		p.t.Fatal(err)
	}
	defer d.Close()
	for before, same := "", 0; ; time.Sleep(30 * time.Millisecond) { // what components do after layout has come to rest
		html, err := browser.Look[string](d, `document.querySelector("#card").innerHTML`)
		if err != nil {
			p.t.Fatal(err)
		}
		if same++; html != before {
			before, same = html, 0
		}
		if same == 3 {
			return generated.ReplaceAllString(html, "ID")
		}
	}
}

func quoted(s string) []byte {
	b, _ := json.Marshal(s)
	return b
}

// A card that comes in pieces ends as the same document as one that comes whole; no
// frame before takes the page with it.
func TestChunksGiveTheSameDocument(t *testing.T) {
	b, err := browser.Start(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.Close)
	p := page{t: t, url: chunksServer(t).URL}
	if p.Page, err = b.Page(browser.View{Width: 390, Height: 844}); err != nil {
		t.Fatal(err)
	}
	if err = p.Open(p.url); err == nil {
		err = p.Wait("window.chunks")
	}
	if err != nil {
		t.Fatal(err)
	}
	frames, r := 0, rand.New(rand.NewPCG(1, 1))
	for seed := range *chunked {
		source := card(uint64(seed))
		whole, _ := compile.Compile(source, compile.Options{})
		p.run("chunks.open()")
		frames += p.stream(r, source)
		p.show(string(whole.Revision), whole.JS)
		streamed := p.document(string(whole.Revision))
		p.run("chunks.open()")
		p.show(string(whole.Revision), whole.JS)
		if once := p.document(string(whole.Revision)); once != streamed || once == "" {
			t.Fatalf("card %d: another document\n%s\n%s\n%s", seed, source, streamed, once)
		}
	}
	said, err := browser.Eval[string](p.Page, "JSON.stringify({stopped: chunks.stopped, troubles: chunks.troubles.length, first: chunks.troubles.slice(0, 3)})")
	t.Logf("%d cards in %d frames: %s", *chunked, frames, said)
	if stopped, _ := browser.Eval[int](p.Page, "chunks.stopped.length"); err != nil || stopped > 0 || len(p.Trouble()) > 0 {
		t.Error(said, p.Trouble())
	}
}

// stream shows the frames of a source that is cut at random.
func (p page) stream(r *rand.Rand, source string) int {
	var s Stream
	frames := 0
	for at := 0; at < len(source); {
		n := min(1+r.IntN(300), len(source)-at)
		s.Write(source[at : at+n])
		at += n
		if f, fresh := s.Frame(); fresh {
			p.show(string(f.Revision), f.JS)
			frames++
		}
	}
	return frames
}
