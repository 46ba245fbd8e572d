package app

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"macaron/internal/auth"
	"macaron/internal/config"
	"macaron/internal/errs"
	"macaron/internal/mint"
	"macaron/internal/train/curve"
	"macaron/internal/web"
	"macaron/internal/wire/curves"
	"macaron/internal/wire/openai"
)

// FreePort is the address of a page for which any port will do.
const FreePort = "127.0.0.1:0"

// CurvePage is the page of training with one run on it, for this machine alone: the files and the
// interface of /training, and nothing else. It changes nothing and asks for no key.
type CurvePage struct {
	front
	run TrainingRun
}

// NewCurvePage makes the page of a run. Warnings go to standard error unless o has a log.
func NewCurvePage(run TrainingRun, o Options) *CurvePage {
	p := &CurvePage{run: run}
	cfg := config.Config{}
	cfg.Log.Level = "warn"
	p.front.init(cfg, o, uncounted{}, openai.WriteError)
	return p
}

// ListenHere takes an address that only this machine reaches, as the guard of a page without keys
// wants it.
func ListenHere(ctx context.Context, address string) (net.Listener, error) {
	const next = "use one such as 127.0.0.1:8090, or give none for a free port"
	host, port, err := net.SplitHostPort(address)
	if _, bad := strconv.ParseUint(port, 10, 16); err != nil || bad != nil {
		return nil, errs.New(errs.InvalidRequest, fmt.Sprintf("the address %q is not host:port", errs.Clip(address)), next).In("page")
	}
	if !localName(host) {
		return nil, errs.New(errs.Forbidden, fmt.Sprintf("the address %q can be reached from other machines, and the page asks nobody for a key", errs.Clip(address)), next).In("page")
	}
	l, err := Listen(ctx, address)
	if err != nil {
		return nil, errs.Wrap(errs.AddressInUse, err, errs.As(err).Message, next)
	}
	return l, nil
}

// URL is where a listener shows the run.
func (p *CurvePage) URL(l net.Listener) string { return "http://" + l.Addr().String() + p.path() }

func (p *CurvePage) path() string { return "/training#" + url.PathEscape(p.run.ID) }

// Handler serves the page behind the guard of every listener.
func (p *CurvePage) Handler() http.Handler {
	pages := web.Handler(web.Deps{Fail: p.fail})
	lines := curves.Handler(curves.Deps{
		Runs: func() (curves.Runs, error) { return p, nil },
		Lines: func(_, _ string, at int64, most int) ([]curve.Line, int64, error) {
			return curve.Read(p.run.Metrics, at, most)
		},
		Owner: func(*http.Request) string { return auth.Local }, Fail: p.fail, Stop: p.stop.begun,
	})
	mux := http.NewServeMux()
	mux.Handle("GET /{$}", http.RedirectHandler(p.path(), http.StatusFound))
	for pattern, h := range map[string]http.Handler{
		"GET /training": pages, "GET /assets/{name}": pages,
		"GET /v1/training/runs": lines, "GET /v1/training/runs/{id}": lines, "GET /v1/training/runs/{id}/events": lines,
	} {
		mux.Handle(pattern, h)
	}
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		p.fail(w, errs.New(errs.NotFound, "there is nothing at "+method(r)+" "+errs.Clip(r.URL.Path), "this is the page of one training run, at /training; it is only read"))
	})
	return p.identify(p.watch(headers(p.inTime(p.guard(mux)))))
}

func (p *CurvePage) fail(w http.ResponseWriter, err error) {
	if e := errs.As(err); e.Code.Status() >= http.StatusInternalServerError {
		p.log.Error("request failed", "id", w.Header().Get("X-Request-Id"), "code", string(e.Code), "err", err)
	}
	p.refuse(w, err)
}

// Serve shows the run on a listener until ctx ends.
func (p *CurvePage) Serve(ctx context.Context, l net.Listener) error {
	return p.serve(ctx, l, p.Handler(), func(context.Context) error { return nil })
}

// Models implements curves.Runs.
func (p *CurvePage) Models(ctx context.Context, _ string, _ mint.Page) ([]mint.Model, int, error) {
	m, err := p.run.Model(ctx)
	return []mint.Model{m}, 1, err
}

// Model implements curves.Runs.
func (p *CurvePage) Model(ctx context.Context, _, id string) (mint.Model, error) {
	if id != p.run.ID {
		return mint.Model{}, errs.New(errs.NotFound, "this page shows another run", "open /training")
	}
	return p.run.Model(ctx)
}

// uncounted is the meter of a listener that nobody measures.
type uncounted struct{}

func (uncounted) Request(string, int, time.Duration) {}
func (uncounted) Error(string)                       {}
