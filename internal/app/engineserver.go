package app

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"macaron/internal/backend/local"
	"macaron/internal/config"
	"macaron/internal/engine"
	"macaron/internal/engine/encoder"
	"macaron/internal/engineserver"
	"macaron/internal/errs"
	"macaron/internal/models"
	"macaron/internal/obs"
	"macaron/internal/wire/vllm"
)

// EngineOptions are what `engine serve` is told beyond the settings.
type EngineOptions struct {
	Options
	Names        []string      // of the base; none: the model's own name
	Adapters     []NamedPath   // to load at the start
	Dirs         []string      // adapters that are loaded later lie under these; none: anywhere
	Runtime      bool          // adapters may be loaded and unloaded later, whoever may call
	AdapterBytes int64         // memory for adapters; 0: the engine's default
	MaxQueue     int           // requests that wait; 0: the engine's default
	Deadline     time.Duration // longest answer; 0: none
	ToolText     string        // with {{tools}}; empty: the built-in one
	Embedding    NamedPath     // model of /v1/embeddings; none: there are none
}

// NamedPath gives a name to a directory of an adapter.
type NamedPath struct{ Name, Path string }

// EngineServer is the engine alone behind the API of vLLM's server. Nothing is kept.
type EngineServer struct {
	front
	cfg   config.Config
	opts  EngineOptions
	model models.Local

	loaded   chan struct{} // closed once api or failed is set
	failed   error
	eng      *engine.Engine
	names    *engineserver.Names
	embedder *encoder.Encoder
	api      atomic.Pointer[http.Handler]
}

// NewEngineServer begins to load the model. A server that others than this machine can
// reach needs a key.
func NewEngineServer(cfg config.Config, o EngineOptions) (*EngineServer, error) {
	local := isLoopback(cfg.Listen)
	if !local && cfg.Engine.Key == "" {
		return nil, errs.New(errs.Forbidden, "the address "+cfg.Listen+" can be reached from other machines, and there is no key", "set MACARON_API_KEY or --api-key-file, or listen on 127.0.0.1")
	}
	o.Runtime = o.Runtime || local
	s := &EngineServer{cfg: cfg, opts: o, model: o.Model, loaded: make(chan struct{})}
	m := obs.NewEngineMetrics(o.Version, s.state)
	s.front.init(cfg, o.Options, m, vllm.WriteError)
	s.door.Store(&door{anyHost: cfg.Engine.Key != ""})
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		defer close(s.loaded)
		s.failed = s.load(ctx, m)
	}()
	s.onClose(func() error {
		cancel()
		<-s.loaded
		var err error
		if s.eng != nil {
			err = s.eng.Close()
		}
		if s.embedder != nil {
			err = errors.Join(err, s.embedder.Close())
		}
		return err
	})
	return s, nil
}

func isLoopback(address string) bool {
	host, _, err := net.SplitHostPort(address)
	return err == nil && localName(host)
}

// load opens the engine and the adapters, and then the API.
func (s *EngineServer) load(ctx context.Context, m *obs.EngineMetrics) error {
	e := s.cfg.Engine
	packed := ""
	if s.cfg.Home != "" {
		packed = engine.PackedIn(s.cfg.Home)
	}
	eng, err := engine.Open(ctx, engine.Options{Packed: packed, Notice: func(err error) { s.log.Warn("packed weights", "err", err) }, Model: s.model.Path, Name: s.model.Name, Digest: s.model.Digest, Threads: e.Threads, Context: e.Context,
		KVBytes: e.KVBytes, MaxBatch: e.Batch, MaxQueue: s.opts.MaxQueue, AdapterBytes: s.opts.AdapterBytes})
	if err != nil {
		return err
	}
	s.eng = eng
	b, err := local.New(eng, s.dir)
	if err != nil {
		return err
	}
	in := eng.Info()
	base := s.opts.Names
	if len(base) == 0 {
		base = models.Names(in.Name)
	}
	s.names = engineserver.New(engineserver.Options{Base: base, Dirs: s.opts.Dirs, Check: b.Take, Drop: b.Drop, Clock: s.clock})
	for _, a := range s.opts.Adapters {
		if err := s.names.Preload(a.Name, a.Path); err != nil {
			return err
		}
	}
	tools := s.opts.ToolText
	if tools == "" {
		tools = engineserver.ToolText()
	}
	em, err := s.openEmbedder()
	if err != nil {
		return err
	}
	h := s.routes(m, vllm.Handler(vllm.Deps{Embedder: em, Engine: b, Tokens: eng.Tokenizer(), Names: s.names, Root: s.model.Path, Version: s.opts.Version, Clock: s.clock,
		Log: s.log, Meter: m, Deadline: s.opts.Deadline, Width: in.Batch, Runtime: s.opts.Runtime, Tools: tools}))
	settleHeap()
	s.api.Store(&h)
	return nil
}

// Handler serves every interface behind the one guard; until the model is there it says so.
func (s *EngineServer) Handler() http.Handler {
	return s.identify(s.watch(headers(s.guard(s.authenticate(http.HandlerFunc(s.answer))))))
}

func (s *EngineServer) answer(w http.ResponseWriter, r *http.Request) {
	if h := s.api.Load(); h != nil {
		(*h).ServeHTTP(w, r)
		return
	}
	err := beingLoaded()
	s.meter.Error(string(err.Code))
	s.refuse(w, err)
}

func (s *EngineServer) routes(m *obs.EngineMetrics, api http.Handler) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", m.Handler())
	mux.HandleFunc("GET /health", func(w http.ResponseWriter, r *http.Request) {
		if s.stop.asked.Load() {
			s.refuse(w, errs.New(errs.UpstreamUnavailable, "the process is stopping", ""))
			return
		}
		api.ServeHTTP(w, r)
	})
	mux.Handle("/", api)
	return mux
}

// authenticate is the one place that reads credentials: it stands before every route, and
// lets through without a key only what probes and Prometheus ask for.
func (s *EngineServer) authenticate(next http.Handler) http.Handler {
	key := s.cfg.Engine.Key.Reveal()
	want := sha256.Sum256([]byte(key))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		scheme, given, _ := strings.Cut(r.Header.Get("Authorization"), " ")
		bearer := strings.EqualFold(scheme, "Bearer")
		sum := sha256.Sum256([]byte(given))
		switch r.URL.Path {
		case "/health", "/ping", "/version", "/metrics":
		default:
			if key != "" && (!bearer || subtle.ConstantTimeCompare(sum[:], want[:]) != 1) {
				s.meter.Error(string(errs.Unauthenticated))
				s.refuse(w, errs.New(errs.Unauthenticated, "Unauthorized", "send the header Authorization: Bearer KEY"))
				return
			}
		}
		next.ServeHTTP(w, r)
	})
}

// Serve answers on a listener until ctx ends; then open answers may finish.
func (s *EngineServer) Serve(ctx context.Context, l net.Listener) error {
	s.log.Info("listening", "address", l.Addr().String(), "model", s.model.Name)
	return s.serve(ctx, l, s.Handler(), s.WaitReady)
}

// WaitReady waits until the model and the adapters are there, and returns why they are not
// if they never will be.
func (s *EngineServer) WaitReady(ctx context.Context) error {
	select {
	case <-s.loaded:
		return s.failed
	case <-ctx.Done():
		return errs.Wrap(errs.Canceled, context.Cause(ctx), "the wait for the model ended", "")
	}
}

// EngineFacts are what a person wants to know of a running server.
type EngineFacts struct {
	Models   []string    `json:"models"`
	Adapters []string    `json:"adapters"`
	Engine   engine.Info `json:"engine"`
}

// Facts tells what serves, once the model is there.
func (s *EngineServer) Facts() (EngineFacts, error) {
	select {
	case <-s.loaded:
	default:
		return EngineFacts{}, errors.New("the model is being loaded")
	}
	f := EngineFacts{Models: s.names.Base(), Adapters: []string{}, Engine: s.eng.Info()}
	for _, a := range s.names.List() {
		f.Adapters = append(f.Adapters, a.Name)
	}
	return f, nil
}
