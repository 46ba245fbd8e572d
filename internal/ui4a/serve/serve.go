// Package serve shows one card's file on a page of this machine, as it changes: the card
// on a surface, what is wrong with it, its Actions and what a model would have seen of
// each. No model is asked.
package serve

import (
	"embed"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"path"
	"sync"
	"time"

	"macaron/internal/errs"
	"macaron/internal/ui4a"
	"macaron/internal/ui4a/action"
	"macaron/internal/ui4a/compile"
	"macaron/internal/ui4a/runtime"
)

//go:embed static
var static embed.FS

// every is how often the file is looked at.
const every = 300 * time.Millisecond

// Card is a compiled card as the page gets it.
type Card struct {
	Revision string                `json:"revision"`
	Script   string                `json:"script"` // empty where it cannot run
	Source   string                `json:"source"`
	Keys     map[string]action.Key `json:"keys"`
	Findings []ui4a.Diagnostic     `json:"findings"`
}

// Server is the page of one card. Make it with New.
type Server struct {
	read func() (string, error)
	name string

	mu    sync.Mutex
	guard *action.Guard
	card  Card
}

// New serves the card that read gives, under the name of a surface.
func New(surface string, read func() (string, error)) *Server {
	return &Server{read: read, name: surface}
}

// Compile gives the card as it is now.
func (s *Server) Compile() (Card, error) {
	source, err := s.read()
	if err != nil {
		return Card{}, err
	}
	r, findings := compile.Compile(source, compile.Options{})
	c := Card{Revision: string(r.Revision), Script: r.JS, Source: source, Keys: map[string]action.Key{}, Findings: findings}
	for _, k := range r.Keys {
		c.Keys[k.Name] = action.Key{NoAI: k.NoAI}
	}
	return c, nil
}

// Handler serves the page to this machine alone: a Host that is no loopback address is
// refused, and so is what another site's page sends.
func (s *Server) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+runtime.FramePath, runtime.ServeFrame)
	mux.HandleFunc("GET "+runtime.HostPath+"{name}", runtime.ServeHost)
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, r *http.Request) { page(w, r, "index.html") })
	mux.HandleFunc("GET /assets/{name}", func(w http.ResponseWriter, r *http.Request) { page(w, r, r.PathValue("name")) })
	mux.HandleFunc("GET /changes", s.changes)
	mux.HandleFunc("POST /action", s.action)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if site := r.Header.Get("Sec-Fetch-Site"); !loopback(r.Host) || r.Method == http.MethodPost && site != "" && site != "same-origin" {
			http.Error(w, "this page is for this machine alone", http.StatusForbidden)
			return
		}
		mux.ServeHTTP(w, r)
	})
}

func loopback(host string) bool {
	name, _, err := net.SplitHostPort(host)
	if err != nil {
		name = host
	}
	ip := net.ParseIP(name)
	return name == "localhost" || ip != nil && ip.IsLoopback()
}

var kinds = map[string]string{".html": "text/html; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8"}

func page(w http.ResponseWriter, r *http.Request, name string) {
	body, err := static.ReadFile("static/" + path.Base(name))
	if err != nil {
		http.NotFound(w, r)
		return
	}
	h := w.Header()
	h.Set("Content-Type", kinds[path.Ext(name)])
	h.Set("Cache-Control", "no-cache")
	h.Set("Content-Security-Policy", "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; frame-src "+runtime.HostFrameSource(r.Host)+
		"; frame-ancestors 'none'; base-uri 'none'; form-action 'none'")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	_, _ = w.Write(body)
}

// changes streams the card: as it is, and again whenever the file is another. Each
// stream is a new page, on which no value is held yet.
func (s *Server) changes(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-cache")
	s.mu.Lock()
	s.guard, s.card = nil, Card{}
	s.mu.Unlock()
	tick := time.NewTicker(every)
	defer tick.Stop()
	for last := "none"; ; {
		if c, err := s.Compile(); err == nil && c.Revision != last {
			last = c.Revision
			s.revise(c)
			text, _ := json.Marshal(c) // texts and numbers: does not fail
			_, _ = io.WriteString(w, "data: "+string(text)+"\n\n")
			_ = http.NewResponseController(w).Flush()
		}
		select {
		case <-r.Context().Done():
			return
		case <-tick.C:
		}
	}
}

// revise puts a compiled card in force; one that cannot run leaves the last one there.
func (s *Server) revise(c Card) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c.Script == "" && s.guard != nil {
		return
	}
	contract := action.Contract{Surface: s.name, Revision: c.Revision, Source: c.Source, Keys: c.Keys}
	if s.guard == nil {
		s.guard = action.NewGuard(contract, &action.Secrets{})
	} else {
		s.guard.Revise(contract)
	}
	s.card = c
}

// action gives the receipt of an Action.
func (s *Server) action(w http.ResponseWriter, r *http.Request) {
	receipt, err := s.judge(http.MaxBytesReader(w, r.Body, 3*action.MaxAction))
	if err != nil {
		e := errs.As(err)
		http.Error(w, e.Message, e.Code.Status())
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(receipt)
}

func (s *Server) judge(body io.Reader) (action.Receipt, error) {
	a, secrets, err := action.ReadPosted(body)
	if err != nil {
		return action.Receipt{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.guard == nil {
		return action.Receipt{}, errs.New(errs.Gone, "no page shows the card", "reload the page")
	}
	if err := s.guard.Take(secrets); err != nil {
		return action.Receipt{}, err
	}
	return s.guard.Act(a), nil
}
