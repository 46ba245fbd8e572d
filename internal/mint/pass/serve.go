package pass

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"macaron/internal/errs"
	"macaron/internal/limits"
	"macaron/internal/mint"
	"macaron/internal/mint/ledger"
)

// root is the path below which the protocol is served.
const root = "/api/v1/"

// call is a request of a client, with its body read.
type call struct {
	w       http.ResponseWriter
	r       *http.Request
	owner   string
	path    string // below root
	body    []byte
	proto   bool
	members map[string]json.RawMessage // of a JSON body
}

func (c *call) ctx() context.Context { return c.r.Context() }

// name gives a text of the body.
func (c *call) name(field string) string {
	var s string
	_ = json.Unmarshal(c.members[field], &s) // what is no text names nothing here
	return s
}

// number gives a number of the body; -1: there is none.
func (c *call) number(field string) int64 {
	n := int64(-1)
	if json.Unmarshal(c.members[field], &n) != nil {
		return -1
	}
	return n
}

// join writes the body again.
func (c *call) join() []byte { return join(c.members) }

func join(members map[string]json.RawMessage) []byte {
	names := make([]string, 0, len(members))
	for n := range members {
		names = append(names, n)
	}
	slices.Sort(names)
	out := []byte{'{'}
	for i, n := range names {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(append(append(out, text(n)...), ':'), members[n]...)
	}
	return append(out, '}')
}

// posts are the requests that may be for a backend. Each tells whether it was.
var posts = map[string]func(*Pass, *call) (bool, error){
	"create_model": (*Pass).createModel, "create_sampling_session": (*Pass).createSampler, "load_weights": (*Pass).load,
	"forward_backward": (*Pass).operate, "forward": (*Pass).operate, "optim_step": (*Pass).operate,
	"save_weights": (*Pass).operate, "save_weights_for_sampler": (*Pass).operate, "save_weights_external": (*Pass).operate, "unload_model": (*Pass).operate,
	"get_info": (*Pass).info, "weights_info": (*Pass).weightsInfo, "asample": (*Pass).sample, "copy_weights": (*Pass).copyWeights,
	"retrieve_future": (*Pass).retrieve, "cancel_future": (*Pass).cancel,
}

// Handler serves what is for a backend, and leaves the rest to the service of this process.
func (p *Pass) Handler(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		taken, err := p.serve(w, r)
		switch {
		case err != nil:
			p.o.Wire.Fail(w, err)
		case !taken:
			next.ServeHTTP(w, r)
		}
	})
}

func (p *Pass) serve(w http.ResponseWriter, r *http.Request) (bool, error) {
	c := &call{w: w, r: r, owner: p.o.Owner(r), path: strings.TrimPrefix(r.URL.Path, root)}
	if passedOn(r.Header) > mostHops {
		return false, errs.New(errs.UpstreamFailed, "the request has been passed on by too many servers", "the operator has to look whether mint.backends names this server itself")
	}
	if run, rest, ok := strings.Cut(strings.TrimPrefix(c.path, "training_runs/"), "/checkpoints/"); ok && strings.HasPrefix(c.path, "training_runs/") {
		return p.checkpoint(c, run, rest)
	}
	handle, ok := posts[c.path]
	if !ok || r.Method != http.MethodPost {
		return false, nil
	}
	var err error
	if c.body, c.proto, err = p.o.Wire.Body(r); err != nil {
		return false, err
	}
	if !c.proto {
		if c.members, err = limits.Object("", c.body); err != nil {
			return false, nil // whoever serves it says what is wrong
		}
	}
	return handle(p, c)
}

// send answers with JSON.
func (p *Pass) send(c *call, status int, v any) error {
	b, err := json.Marshal(v)
	if err == nil {
		p.o.Wire.Send(c.w, c.r, status, b, false)
	}
	return err
}

// pass answers with what a backend has answered, status and all. An answer without a body
// would be taken for a connection that broke.
func (p *Pass) pass(c *call, a *answer) error {
	for _, name := range []string{"Retry-After", "Retry-After-Ms", "X-Should-Retry"} {
		if v := a.header.Get(name); v != "" {
			c.w.Header().Set(name, v)
		}
	}
	if len(a.body) == 0 {
		return p.send(c, a.status, map[string]string{"detail": fmt.Sprintf("the backend answered %d", a.status)})
	}
	p.o.Wire.Send(c.w, c.r, a.status, a.body, a.proto)
	return nil
}

// promise is what a backend answers at once.
type promise struct {
	Request   string   `json:"request_id"`
	Model     string   `json:"model_id,omitempty"`
	Sequences []string `json:"sample_sequence_ids,omitempty"`
}

// repeat answers a retry of a request that was passed on, as before.
func (p *Pass) repeat(c *call, id string) (bool, error) {
	r, _, ok, err := p.find(c.ctx(), c.owner, ledger.RemoteRequest, id)
	if err != nil || !ok {
		return false, err
	}
	f, err := factsOf(r)
	if err != nil {
		return false, err
	}
	return true, p.send(c, http.StatusOK, promise{id, f.Model, f.Sequences})
}

// promised keeps what a backend has promised, under our name, and then answers with it.
func (p *Pass) promised(c *call, b *peer, id, session string, a *answer, f facts) error {
	if a.status/100 != 2 {
		return p.pass(c, a)
	}
	var got promise
	if err := json.Unmarshal(a.body, &got); err != nil || got.Request == "" {
		return errs.New(errs.UpstreamFailed, "the backend "+b.Name+" answered without a request_id", "look at the version of that server")
	}
	if f.Sequences = got.Sequences; f.Op == mint.OpSample && len(f.Sequences) == 0 { // an older one, and a client that needs them
		for i := range max(c.number("num_samples"), 1) {
			f.Sequences = append(f.Sequences, id+"/"+strconv.FormatInt(i, 10))
		}
	}
	if err := p.put(c.ctx(), c.owner, ledger.RemoteRequest, id, b, got.Request, session, f); err != nil {
		return err
	}
	if got.Model != "" && (f.Op == mint.OpCreate || f.Op == mint.OpLoad) {
		if err := p.named(c.ctx(), c.owner, b, session, got.Model, f); err != nil {
			return err
		}
	}
	return p.send(c, http.StatusOK, promise{id, f.Model, f.Sequences})
}

// named keeps the backend's name of a model, once it is known.
func (p *Pass) named(ctx context.Context, owner string, b *peer, session, there string, f facts) error {
	if _, _, ok, err := p.find(ctx, owner, ledger.RemoteModel, f.Model); ok || err != nil {
		return err
	}
	return p.put(ctx, owner, ledger.RemoteModel, f.Model, b, there, session, facts{Base: f.Base, Rank: f.Rank, Metadata: f.Metadata, Path: f.Path})
}
