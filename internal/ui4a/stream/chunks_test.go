package stream

import (
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
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
		_, _ = w.Write([]byte("<!doctype html><html lang=en><link rel=icon href=data:,><title>chunks</title><style>#place { display: flex; gap: 10px; align-items: start } .ui4a-surface { width: 390px } iframe { width: 100%; border: 0 }</style><body><div id=place></div><script type=module src=/chunks.js></script></body></html>"))
	})
	s := httptest.NewServer(mux)
	t.Cleanup(s.Close)
	return s
}

// piece is a script that is shown. Where it waits, the next one comes when it is painted.
type piece struct {
	Revision string `json:"revision"`
	Script   string `json:"script"`
	Wait     bool   `json:"wait"`
}

// pieces are the frames of a source that is cut at random.
func pieces(r *rand.Rand, source string) []piece {
	var s Stream
	frames := []piece{}
	for at := 0; at < len(source); {
		n := min(1+r.IntN(120), len(source)-at)
		s.Write(source[at : at+n])
		at += n
		if f, fresh := s.Frame(); fresh {
			frames = append(frames, piece{string(f.Revision), f.JS, r.IntN(4) > 0})
		}
	}
	return frames
}

// page shows cards on pairs of surfaces.
type page struct {
	*browser.Page
	url string
}

func openPage(b *browser.Browser, url string) (page, error) {
	p, err := b.Page(browser.View{Width: 800, Height: 844})
	if err == nil {
		err = p.Open(url)
	}
	if err == nil {
		err = p.Wait("window.chunks")
	}
	return page{p, url}, err
}

// played is what came of a card.
type played struct {
	Between          int // frames that were painted before the whole card
	Streamed, Once   []string
	streamed, atOnce string // documents, not in this order
}

func (p page) play(frames []piece, whole piece) (r played, err error) {
	a, _ := json.Marshal(frames)
	b, _ := json.Marshal(whole)
	if r, err = browser.Eval[played](p.Page, fmt.Sprintf("chunks.play(%s, %s)", a, b)); err != nil {
		return r, err
	}
	var both [2]*browser.Document
	for i := range both {
		if both[i], err = p.Frame(p.url + runtime.FramePath); err != nil {
			return r, err
		}
		defer both[i].Close()
	}
	for end := time.Now().Add(time.Minute); ; {
		if r.streamed, err = atRest(both[0]); err == nil {
			r.atOnce, err = atRest(both[1])
		}
		if err != nil || r.streamed == r.atOnce || time.Now().After(end) {
			return r, err
		}
	}
}

// atRest gives what a card has drawn once nothing has changed for five turns: the markup, and
// what its controls hold. The attribute checked is what React made a box with, the property
// is what a person sees.
func atRest(d *browser.Document) (string, error) {
	html, err := browser.Look[string](d, `new Promise((done) => {
		const card = document.querySelector("#card");
		let quiet = 0;
		const seen = new MutationObserver(() => (quiet = 0));
		seen.observe(card, { subtree: true, childList: true, characterData: true, attributes: true });
		const held = () => [...card.querySelectorAll("input, select, textarea, option")].map((e) => [e.value, !!e.checked, !!e.selected]);
		const look = () => (++quiet > 5 ? done(card.innerHTML.replaceAll(' checked=""', "") + JSON.stringify(held())) : setTimeout(look, 12));
		look();
	})`)
	return strings.ReplaceAll(generated.ReplaceAllString(html, "ID"), mountOnly, ""), err
}

// mountOnly is what Radix gives the content of a tab until it is drawn a second time, which
// keeps a mount from being animated.
const mountOnly = "animation-duration: 0s;"

// generated are ids that React and Radix count up, whoever asks first.
var generated = regexp.MustCompile(`(?:radix-)?[_:«]r[_:]?[0-9a-z]+[_:»]`)

// A card that comes in pieces ends as the same document as one that comes whole; no
// frame before takes the page with it.
func TestChunksGiveTheSameDocument(t *testing.T) {
	b, err := browser.Start(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.Close)
	// Pictures of the bench have no address here.
	cards := slices.DeleteFunc(corpus(t, *chunked), func(s string) bool { return strings.Contains(s, "asset:") })
	rand.New(rand.NewPCG(1, 1)).Shuffle(len(cards), func(i, j int) { cards[i], cards[j] = cards[j], cards[i] })
	server := chunksServer(t)
	var next, shown, frames, painted atomic.Int64
	var pages sync.WaitGroup
	for range 3 {
		pages.Go(func() {
			p, err := openPage(b, server.URL)
			if err != nil {
				t.Error(err)
				return
			}
			defer p.Close()
			for i := next.Add(1) - 1; i < int64(*chunked) && !t.Failed(); i = next.Add(1) - 1 {
				whole, _ := compile.Compile(cards[i], compile.Options{})
				parts := pieces(rand.New(rand.NewPCG(uint64(i), 1)), cards[i])
				r, err := p.play(parts, piece{Revision: string(whole.Revision), Script: whole.JS})
				if err != nil || r.streamed != r.atOnce || strings.HasPrefix(r.streamed, "[") {
					t.Errorf("card %d: %v, another document\n%s\n%s\n%s", i, err, cards[i], r.streamed, r.atOnce)
				}
				if !slices.Equal(r.Streamed, r.Once) {
					t.Errorf("card %d: complaints of its pieces %q, of the whole %q", i, r.Streamed, r.Once)
				}
				frames.Add(int64(len(parts)))
				painted.Add(int64(r.Between))
				if n := shown.Add(1); n%100 == 0 {
					t.Logf("%d cards", n)
				}
			}
			stopped, err := browser.Eval[[]string](p.Page, "chunks.stopped")
			if err != nil || len(stopped) > 0 || len(p.Trouble()) > 0 {
				t.Error(err, stopped, p.Trouble())
			}
		})
	}
	pages.Wait()
	t.Logf("%d cards in %d frames before the last, of which %d were painted", shown.Load(), frames.Load(), painted.Load())
}
