// Package vllm speaks the API of vLLM's server, and the fields of llama-server that
// constrain an answer: completions and chat completions, embeddings, tokens, models,
// adapters. It decodes requests to the neutral words and encodes events to JSON; what to
// compute is decided by the engine behind it.
package vllm

import (
	"context"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"macaron/internal/backend"
	"macaron/internal/clock"
	"macaron/internal/engineserver"
	"macaron/internal/errs"
	"macaron/internal/wire/sse"
)

// Engine generates; local.Backend does.
type Engine interface {
	backend.Generator
	// Encode gives the tokens that a request's prompt becomes.
	Encode(backend.Request) ([]int32, error)
}

// Tokens are the model's own.
type Tokens interface {
	Encode(text string, special bool) []int32
	Decode(ids []int32) []byte
	Piece(id int32) []byte
	BOS() int32
	AddBOS() bool
	Vocab() int
}

// Embedder makes vectors of texts.
type Embedder interface {
	Name() string // of the model
	Width() int
	MaxTokens() int
	// Cut gives the tokens of a text, as many as the model takes, and how many it has.
	Cut(text string) (list []int32, whole int)
	// EmbedTokens gives a vector of Width values for each list of tokens.
	EmbedTokens(ctx context.Context, inputs [][]int32) ([][]float32, error)
}

// Meter counts what was served.
type Meter interface {
	Token(gap time.Duration)                                       // between two tokens of an answer
	Answer(first, queued, total time.Duration, prompt, output int) // an answer that ended, with its tokens
	Error(code string)
}

// Deps are the handler's surroundings.
type Deps struct {
	Engine   Engine
	Tokens   Tokens
	Names    *engineserver.Names
	Embedder Embedder // nil: there are no embeddings
	Root     string   // what the base was loaded from
	Version  string
	Clock    clock.Clock
	Log      *slog.Logger
	Meter    Meter
	Stream   sse.Options
	Patience time.Duration // how long a status line waits for the first token; 0: 10 s
	Deadline time.Duration // longest answer; 0: none
	Width    int           // prompts and choices of one request that run at once
	Runtime  bool          // adapters may be loaded and unloaded
	Tools    string        // text with {{tools}}, for templates that have no place for them
}

type api struct {
	Deps
	started int64
}

// route is an endpoint with its methods.
type route struct {
	path   string
	method string
	serve  http.HandlerFunc
}

// Handler serves the API.
func Handler(d Deps) http.Handler {
	a := &api{Deps: d, started: d.Clock.Now().Unix()}
	if a.Patience == 0 {
		a.Patience = 10 * time.Second
	}
	mux := http.NewServeMux()
	routes := a.routes()
	for _, r := range routes {
		mux.HandleFunc(r.path, func(w http.ResponseWriter, q *http.Request) {
			if q.Method != r.method && !(r.method == http.MethodGet && q.Method == http.MethodHead) {
				w.Header().Set("Allow", r.method)
				a.fail(w, q, errs.New(errs.InvalidRequest, "Method Not Allowed", "use "+r.method), http.StatusMethodNotAllowed)
				return
			}
			r.serve(w, q)
		})
	}
	mux.HandleFunc("/", func(w http.ResponseWriter, q *http.Request) {
		a.fail(w, q, errs.New(errs.NotFound, "there is nothing at "+errs.Clip(q.URL.Path), "served are: "+paths(routes)), 0)
	})
	return mux
}

func (a *api) routes() []route {
	return []route{
		{"/v1/chat/completions", http.MethodPost, a.chat},
		{"/v1/completions", http.MethodPost, a.complete},
		{"/v1/embeddings", http.MethodPost, a.embed},
		{"/tokenize", http.MethodPost, a.tokenize},
		{"/detokenize", http.MethodPost, a.detokenize},
		{"/v1/models", http.MethodGet, a.models},
		{"/v1/models/{id...}", http.MethodGet, a.model},
		{"/v1/load_lora_adapter", http.MethodPost, a.loadAdapter},
		{"/v1/unload_lora_adapter", http.MethodPost, a.unloadAdapter},
		{"/health", http.MethodGet, a.health},
		{"/ping", http.MethodGet, a.health},
		{"/version", http.MethodGet, a.version},
	}
}

func paths(routes []route) string {
	var out []string
	for _, r := range routes {
		out = append(out, r.path)
	}
	return strings.Join(out, ", ")
}

// health says whether requests are taken: 200, or 503.
func (a *api) health(w http.ResponseWriter, r *http.Request) {
	if err := a.Engine.Ready(r.Context()); err != nil {
		a.fail(w, r, err, 0)
	}
}

func (a *api) version(w http.ResponseWriter, _ *http.Request) {
	writeJSON(w, map[string]string{"version": a.Version, "engine": "macaron"})
}
