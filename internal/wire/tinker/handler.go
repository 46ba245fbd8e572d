package tinker

import (
	"encoding/json"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"time"

	"macaron/internal/clock"
	"macaron/internal/errs"
	"macaron/internal/limits"
	"macaron/internal/wire/chatapi"
)

// Root is the path below which the protocol is served.
const Root = "/api/v1"

// Deps are the handler's surroundings.
type Deps struct {
	Service Service
	Owner   func(*http.Request) string // tenant of a request
	Clock   clock.Clock
	Log     *slog.Logger
	Failed  func(code string) // counts errors that clients see
	Poll    time.Duration     // longest wait of retrieve_future; 0: 30 s
	Key     []byte            // signs addresses of downloads
	Stop    <-chan struct{}   // closed: polls end now, for a process that is shutting down; nil: never
}

type api struct{ Deps }

// Route is an endpoint. Scope says what a caller must be allowed to do.
type Route struct {
	Pattern string // of http.ServeMux
	Scope   Scope
}

// Scope is what an endpoint asks of a caller.
type Scope int

// The scopes.
const (
	Public Scope = iota // who has the address: it is signed, or says nothing of anybody
	Train
)

// Handler serves every route.
func Handler(d Deps) http.Handler {
	if d.Poll == 0 {
		d.Poll = 30 * time.Second
	}
	a := &api{d}
	mux := http.NewServeMux()
	for _, e := range a.endpoints() {
		mux.HandleFunc(e.pattern, func(w http.ResponseWriter, r *http.Request) {
			if err := e.serve(w, r); err != nil {
				a.fail(w, r, err)
			}
		})
	}
	return mux
}

// Routes lists every endpoint.
func Routes() []Route {
	var all []Route
	for _, e := range (&api{}).endpoints() {
		all = append(all, Route{e.pattern, e.scope})
	}
	return all
}

type endpoint struct {
	pattern string
	scope   Scope
	serve   func(http.ResponseWriter, *http.Request) error
}

func (a *api) endpoints() []endpoint {
	var all []endpoint
	add := func(scope Scope, method, path string, serve func(http.ResponseWriter, *http.Request) error) {
		all = append(all, endpoint{method + " " + Root + path, scope, serve})
	}
	for path, serve := range map[string]func(http.ResponseWriter, *http.Request) error{
		"/client/config": a.clientConfig, "/client/dynamic_config": a.dynamicConfig, "/auth/token": a.token, "/telemetry": a.telemetry,
		"/create_session": a.createSession, "/session_heartbeat": a.heartbeat, "/sessions/{id}/finish": a.finish, "/sessions/{id}": a.searchSessions,
		"/create_model": a.createModel, "/get_info": a.info, "/unload_model": a.unload,
		"/forward_backward": a.forwardBackward, "/forward": a.forward, "/optim_step": a.optimStep, "/create_custom_loss": a.customLoss,
		"/save_weights": a.save, "/save_weights_for_sampler": a.saveSampler, "/save_weights_external": a.saveExternal,
		"/load_weights": a.load, "/weights_info": a.weightsInfo, "/copy_weights": a.copyWeights, "/checkpoints/upload": a.upload,
		"/create_sampling_session": a.createSampler, "/asample": a.sample,
		"/retrieve_future": a.retrieve, "/retrieve_futures": a.retrieveMany, "/cancel_future": a.cancel,
		"/training_runs/{run}/checkpoints/{checkpoint...}": a.publish,
	} {
		add(Train, http.MethodPost, path, serve)
	}
	for path, serve := range map[string]func(http.ResponseWriter, *http.Request) error{
		"/get_server_capabilities": a.capabilities, "/samplers/{id}": a.sampler, "/sessions": a.sessions, "/sessions/{id}": a.session,
		"/sessions/{id}/trace_export": a.trace, "/training_runs": a.runs, "/training_runs/{run}": a.run, "/checkpoints": a.allCheckpoints,
		"/training_runs/{run}/checkpoints": a.checkpoints, "/training_runs/{run}/checkpoints/{checkpoint...}": a.files,
		"/billing/usage/checkpoints/current": a.storage,
	} {
		add(Train, http.MethodGet, path, serve)
	}
	add(Train, http.MethodDelete, "/training_runs/{run}/checkpoints/{checkpoint...}", a.deleteOrUnpublish)
	add(Train, http.MethodPut, "/training_runs/{run}/checkpoints/{checkpoint...}", a.setTTL)
	add(Train, http.MethodPut, "/sessions/{id}/project", a.project)
	add(Public, http.MethodGet, "/healthz", a.healthz)
	add(Public, http.MethodGet, "/download/{ticket}/{file...}", a.download)
	slices.SortFunc(all, func(x, y endpoint) int { return strings.Compare(x.pattern, y.pattern) })
	return all
}

func (a *api) owner(r *http.Request) string { return a.Owner(r) }

func (a *api) fail(w http.ResponseWriter, r *http.Request, err error) {
	chatapi.Notes{Log: a.Log, Failed: a.Failed}.Note(r, err)
	WriteError(w, err)
}

// Asked reports whether a request is for this protocol.
func Asked(r *http.Request) bool { return strings.HasPrefix(r.URL.Path, Root+"/") }

type refusal struct {
	Detail string `json:"detail"`
	Code   string `json:"code"`
}

// WriteError answers with the error's own HTTP status. A body is always there: the SDK takes
// an empty one for a connection that was reset, and tries again.
func WriteError(w http.ResponseWriter, err error) {
	e := errs.As(err)
	chatapi.WriteStatus(w, e.Code.Status(), e, refusal{detail(e), string(e.Code)})
}

func detail(e *errs.Error) string {
	if e.Next == "" {
		return e.Message
	}
	return e.Message + ": " + e.Next
}

func encode(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil { // only values that always encode come here
		return []byte("{}")
	}
	return b
}

// body reads a JSON body of the usual size.
func body(r *http.Request) (*object, error) {
	c, err := read(r, limits.BodyBytes, false)
	if err != nil {
		return nil, err
	}
	o := objectOf("", c.bytes)
	return o, o.err
}
