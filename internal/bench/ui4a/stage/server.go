// Package stage puts cards on screen in a real browser, uses them as a person would, and
// brings back the evidence. It judges nothing.
package stage

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"macaron/internal/errs"
	"macaron/internal/ui4a/action"
	"macaron/internal/ui4a/runtime"
)

var (
	//go:embed bench.js
	benchScript string
	//go:embed bench.css
	benchStyle string
	//go:embed probe.js
	probeScript string
	//go:embed layout.js
	layoutScript string
)

// server serves the page with the surface, and the twins; it answers Actions as the
// program does, with a guard for each surface.
type server struct {
	http *http.Server
	url  string

	mu     sync.Mutex
	guards map[string]*guarded
	twins  map[string]string
}

type guarded struct {
	guard   *action.Guard
	secrets *action.Secrets
}

func serve() (*server, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, errs.Wrap(errs.AddressInUse, err, "the bench cannot listen on this machine", "")
	}
	s := &server{url: "http://" + l.Addr().String(), guards: map[string]*guarded{}, twins: map[string]string{}}
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+runtime.FramePath, runtime.ServeFrame)
	mux.HandleFunc("GET "+runtime.HostPath+"{name}", runtime.ServeHost)
	mux.HandleFunc("GET /bench.js", text("text/javascript", benchScript))
	mux.HandleFunc("GET /bench.css", text("text/css", benchStyle))
	mux.HandleFunc("GET /{$}", s.page)
	mux.HandleFunc("GET /twin/{name}", s.twin)
	mux.HandleFunc("POST /act", s.act)
	s.http = &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second}
	go func() { _ = s.http.Serve(l) }() // ends with close
	return s, nil
}

func (s *server) close() { _ = s.http.Shutdown(context.Background()) }

func text(kind, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", kind+"; charset=utf-8")
		_, _ = io.WriteString(w, body)
	}
}

func (s *server) page(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Security-Policy", "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; frame-src "+runtime.HostFrameSource(r.Host))
	text("text/html", `<!doctype html><html lang="en"><head><meta name="viewport" content="width=device-width, initial-scale=1"><title>bench</title>
<link rel="stylesheet" href="/ui4a/host/host.css"><link rel="stylesheet" href="/bench.css"></head><body><div id="place"></div><script type="module" src="/bench.js"></script></body></html>`)(w, r)
}

// twinBridge is what a twin's page has: one function, and no network.
const twinBridge = `<script>(() => { const sent = globalThis.twinSent = []; globalThis.sendMessage = (text, data) => { sent.push({name: "", saw: String(text) + (data === undefined ? "" : " " + JSON.stringify(data)), outcome: "sent", reason: "", valid: true}); }; })()</script>`

func (s *server) twin(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	page := s.twins[r.PathValue("name")]
	s.mu.Unlock()
	w.Header().Set("Content-Security-Policy", "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:; font-src data:")
	head, rest, ok := strings.Cut(page, ">") // behind <!doctype html>
	if !ok {
		head, rest = "<!doctype html", page
	}
	text("text/html", head+">"+twinBridge+rest)(w, r)
}

// watch begins to answer for a surface.
func (s *server) watch(surface string, c action.Contract) {
	secrets := &action.Secrets{}
	s.mu.Lock()
	s.guards[surface] = &guarded{action.NewGuard(c, secrets), secrets}
	s.mu.Unlock()
}

func (s *server) forget(surface string) {
	s.mu.Lock()
	delete(s.guards, surface)
	s.mu.Unlock()
}

// act answers an Action with a receipt, which has its name and whether it is well-formed.
func (s *server) act(w http.ResponseWriter, r *http.Request) {
	var in struct {
		Surface string          `json:"surface"`
		Action  json.RawMessage `json:"action"`
		Secrets struct {
			Held   map[string]json.RawMessage `json:"held"`
			Sealed map[string]json.RawMessage `json:"sealed"`
		} `json:"secrets"`
	}
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, 1<<20)).Decode(&in); err != nil {
		http.Error(w, "no Action", http.StatusBadRequest)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	g := s.guards[in.Surface]
	if g == nil {
		http.Error(w, "no such surface", http.StatusNotFound)
		return
	}
	for _, values := range []map[string]json.RawMessage{in.Secrets.Held, in.Secrets.Sealed} {
		for _, v := range values {
			_ = g.guard.Hold(v) // what is no JSON cannot be looked for; the page has made it
		}
	}
	answer(w, g.guard, in.Action)
}

func answer(w http.ResponseWriter, g *action.Guard, body json.RawMessage) {
	type named struct {
		action.Receipt
		Name  string `json:"name"`
		Valid bool   `json:"valid"`
	}
	a, err := action.Read(body)
	out := named{Name: a.Name, Valid: err == nil}
	if err != nil {
		out.Outcome, out.Message = action.Refused, errs.Clip(err.Error())
	} else {
		out.Receipt = g.Act(a)
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(out) // the page is gone
}

var errStopped = errors.New("the card was stopped")
