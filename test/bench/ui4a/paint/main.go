// Command paint measures how long a person waits for the first sight of a card that is
// being written: from the token with which what has come can be drawn to the frame that
// the browser has painted.
//
//	go run ./test/bench/ui4a/paint [-rounds 4]
//
// Each round writes every card of the gallery, token by token of o200k_base, into a new
// surface whose runtime is loaded, as a chat page has it. Time runs from before the token
// is taken: closing, compiling, a server-sent event, the host's page, the port, React.
// It ends in the card's own document, in the first task after the animation frame that
// follows the change of its elements, so after that frame was painted.
package main

import (
	"context"
	_ "embed"
	"encoding/json"
	"flag"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"
	"slices"
	"time"

	"github.com/tiktoken-go/tokenizer"

	"macaron/internal/browser"
	"macaron/internal/ui4a/gallery"
	"macaron/internal/ui4a/runtime"
	"macaron/internal/ui4a/stream"
)

//go:embed page.js
var script string

func main() {
	rounds := flag.Int("rounds", 4, "how often every card is written")
	flag.Parse()
	if err := run(*rounds); err != nil {
		log.Fatal(err)
	}
}

func run(rounds int) error {
	b, err := open()
	if err != nil {
		return err
	}
	defer b.close()
	codec, err := tokenizer.Get(tokenizer.O200kBase)
	if err != nil {
		return err
	}
	var first, next, compiled []time.Duration
	for range rounds {
		for _, c := range gallery.Cards() {
			_, tokens, err := codec.Encode(c.Source)
			if err != nil {
				return err
			}
			times, compiles, err := b.write(tokens)
			if err != nil {
				return fmt.Errorf("%s: %w", c.Name, err)
			}
			first, next, compiled = append(first, times[0]), append(next, times[1:]...), append(compiled, compiles...)
		}
	}
	fmt.Println("| | n | p50 ms | p90 | p99 | longest |\n|---|---|---|---|---|---|")
	fmt.Println(line("first paint after the first token that can be drawn", first))
	fmt.Println(line("each of the next two frames", next))
	fmt.Println(line("of these, closing and compiling", compiled))
	return nil
}

func line(name string, all []time.Duration) string {
	slices.Sort(all)
	at := func(q float64) float64 { return float64(all[int(q*float64(len(all)-1))].Microseconds()) / 1000 }
	return fmt.Sprintf("| %s | %d | %.1f | %.1f | %.1f | %.1f |", name, len(all), at(0.5), at(0.9), at(0.99), at(1))
}

// bench is a host's page in a browser, and what is streamed to it.
type bench struct {
	server  *httptest.Server
	browser *browser.Browser
	page    *browser.Page
	events  chan []byte
}

func open() (*bench, error) {
	b := &bench{events: make(chan []byte)}
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+runtime.FramePath, runtime.ServeFrame)
	mux.HandleFunc("GET "+runtime.HostPath+"{name}", runtime.ServeHost)
	mux.HandleFunc("GET /stream", b.stream)
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = w.Write([]byte("<!doctype html><html lang=en><link rel=icon href=data:,><title>paint</title><body><div id=place></div><script type=module>" + script + "</script></body></html>"))
	})
	b.server = httptest.NewServer(mux)
	var err error
	if b.browser, err = browser.Start(context.Background()); err != nil {
		return nil, err
	}
	if b.page, err = b.browser.Page(browser.View{Width: 390, Height: 844}); err != nil {
		return nil, err
	}
	if err = b.page.Open(b.server.URL); err != nil {
		return nil, err
	}
	return b, b.page.Wait("window.bench")
}

func (b *bench) close() {
	b.browser.Close()
	b.server.CloseClientConnections()
	b.server.Close()
}

// stream sends what comes, one event each.
func (b *bench) stream(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/event-stream")
	for {
		select {
		case <-r.Context().Done():
			return
		case e := <-b.events:
			_, _ = fmt.Fprintf(w, "data: %s\n\n", e)
			_ = http.NewResponseController(w).Flush()
		}
	}
}

// most are the frames of one card that are measured.
const most = 3

// write gives, of the first frames of a card, how long each took until it was painted, and
// how long of that it took to compile.
func (b *bench) write(tokens []string) (painted, compiled []time.Duration, err error) {
	d, err := b.surface()
	if err != nil {
		return nil, nil, err
	}
	defer d.Close()
	var s stream.Stream
	for _, token := range tokens {
		began := time.Now()
		s.Write(token)
		f, fresh := s.Frame()
		if !fresh {
			continue
		}
		took := time.Since(began)
		at, err := b.show(d, f)
		if err != nil {
			return nil, nil, err
		}
		if at.IsZero() {
			continue // the same elements as before: nothing to paint
		}
		painted, compiled = append(painted, at.Sub(began)), append(compiled, took)
		if len(painted) == most {
			break
		}
	}
	return painted, compiled, nil
}

// surface gives the document of a new surface, once its runtime listens.
func (b *bench) surface() (*browser.Document, error) {
	if _, err := browser.Eval[bool](b.page, "(bench.open(), true)"); err != nil {
		return nil, err
	}
	d, err := b.page.Frame(b.server.URL + runtime.FramePath)
	if err == nil {
		err = b.page.Wait("bench.surface.port")
	}
	if err == nil {
		_, err = browser.Look[bool](d, watch)
	}
	return d, err
}

// watch keeps when the elements of the card were painted: in the first task after the
// animation frame that follows their first change since the last look.
const watch = `(globalThis.painted = 0, globalThis.after = new MessageChannel(), globalThis.due = false,
	after.port1.onmessage = () => { painted = performance.timeOrigin + performance.now(); },
	new MutationObserver(() => { if (!due) { due = true; requestAnimationFrame(() => after.port2.postMessage(0)); } })
		.observe(document.querySelector("#card"), {subtree: true, childList: true, characterData: true, attributes: true}), true)`

// show sends a frame and gives when it was painted; zero when nothing has changed within
// a quarter of a second.
func (b *bench) show(d *browser.Document, f stream.Frame) (time.Time, error) {
	text, err := json.Marshal(map[string]any{"revision": f.Revision, "script": f.JS, "source": f.Source, "keys": map[string]any{}})
	if err != nil {
		return time.Time{}, err
	}
	b.events <- text
	for end := time.Now().Add(250 * time.Millisecond); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		ms, err := browser.Look[float64](d, "painted")
		if err != nil {
			return time.Time{}, err
		}
		if ms > 0 {
			_, err = browser.Look[bool](d, "(painted = 0, due = false, true)")
			return time.UnixMicro(int64(ms * 1000)), err
		}
	}
	return time.Time{}, nil
}
