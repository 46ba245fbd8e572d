package upstream

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"

	"macaron/internal/backend"
	"macaron/internal/errs"
)

// Facts are what a server tells of itself.
type Facts struct {
	Dialect string  // by its signs, whatever is configured
	Version string  // its own, as it writes it
	Models  []Model // of GET /v1/models
	Self    bool    // it is the server that asks

	engine string // of /version
	sglang bool
	slots  int
	loras  []llamaLora
	tools  *bool // whether its chat template has a place for tools, if it says so
}

// Model is one entry of GET /v1/models.
type Model struct {
	ID       string `json:"id"`
	Owner    string `json:"owned_by"`
	Parent   string `json:"parent"`
	Context  int    `json:"max_model_len"`
	Revision string `json:"revision"` // content hash of an adapter, from a Macaron
}

// owner reports whether the models say they are of that kind of server.
func (f *Facts) owner(name string) bool {
	return slices.ContainsFunc(f.Models, func(m Model) bool { return m.Owner == name })
}

// base is the name of the bare model.
func (f *Facts) base() string {
	for _, m := range f.Models {
		if m.Parent == "" {
			return m.ID
		}
	}
	return "default"
}

// Has reports whether an adapter goes under that name.
func (f *Facts) Has(name string) bool {
	if len(f.loras) > 0 || f.slots > 0 {
		_, err := f.lora(name)
		return err == nil
	}
	return len(f.Models) == 0 || name == baseName || slices.ContainsFunc(f.Models, func(m Model) bool { return m.ID == name })
}

// Revision is the content hash that the server names for a model, or "".
func (f *Facts) Revision(name string) string {
	for _, m := range f.Models {
		if m.ID == name {
			return m.Revision
		}
	}
	return ""
}

// probed is how much of an answer to a probe is read.
const probed = 4 << 20

// Probe asks the server what it is.
func (b *Backend) Probe(ctx context.Context) (*Facts, error) {
	f, err := b.probe(ctx)
	if f != nil {
		f.Dialect = recognise(f).name
	}
	return f, err
}

// recognise finds the dialect by a server's signs.
func recognise(f *Facts) *dialect {
	for _, d := range dialects {
		if d.known(f) {
			return d
		}
	}
	return plain
}

// probe asks for the models, and then what only some servers answer. The error is that
// of the first question: a server that lists no models may serve all the same, one that
// refuses our key or is not there does not.
func (b *Backend) probe(ctx context.Context) (*Facts, error) {
	f := &Facts{}
	var list struct {
		Data []Model `json:"data"`
	}
	h, err := b.look(ctx, b.URL+"/models", &list)
	f.Models = list.Data
	f.Self = b.Instance != "" && h.Get(backend.InstanceHeader) == b.Instance
	switch {
	case f.Self:
		return f, b.itself()
	case err != nil && !listless(err):
		return nil, err
	}
	root := strings.TrimSuffix(b.URL, "/v1")
	for _, ask := range []func() error{
		func() error { return f.readVersion(ctx, b, root) },
		func() error { return f.readProps(ctx, b, root) },
		func() error { return f.readInfo(ctx, b, root) },
	} {
		if err := ask(); err != nil && ctx.Err() != nil {
			return nil, b.unreachable(ctx, err)
		}
	}
	return f, nil
}

// listless: the server answered, though not with a list of models.
func listless(err error) bool {
	var r *refusal
	if errors.As(err, &r) {
		return r.status == http.StatusNotFound || r.status == http.StatusMethodNotAllowed
	}
	return errors.Is(err, errForm)
}

func (f *Facts) readVersion(ctx context.Context, b *Backend, root string) error {
	var v struct {
		Version string `json:"version"`
		Engine  string `json:"engine"`
	}
	_, err := b.look(ctx, root+"/version", &v)
	f.Version, f.engine = v.Version, v.Engine
	return err
}

// readProps asks what only llama-server answers.
func (f *Facts) readProps(ctx context.Context, b *Backend, root string) error {
	if f.engine != "" || f.owner("vllm") {
		return nil
	}
	var v struct {
		Slots int    `json:"total_slots"`
		Build string `json:"build_info"`
		Caps  *struct {
			Tools *bool `json:"supports_tools"`
		} `json:"chat_template_caps"`
	}
	if _, err := b.look(ctx, root+"/props", &v); err != nil || v.Slots <= 0 || v.Slots > 4096 {
		return err
	}
	f.slots, f.Version = v.Slots, v.Build
	if v.Caps != nil {
		f.tools = v.Caps.Tools
	}
	_, err := b.look(ctx, root+"/lora-adapters", &f.loras)
	return err
}

// readInfo asks what only SGLang answers, under its newer and its older name.
func (f *Facts) readInfo(ctx context.Context, b *Backend, root string) error {
	if f.engine != "" || f.slots > 0 || f.owner("vllm") {
		return nil
	}
	var v struct {
		Version string  `json:"version"`
		Path    string  `json:"model_path"`
		Usage   float64 `json:"mem_fraction_static"`
	}
	_, err := b.look(ctx, root+"/server_info", &v)
	if err != nil || v.Path == "" {
		_, err = b.look(ctx, root+"/get_server_info", &v)
	}
	if f.sglang = err == nil && v.Path != ""; f.sglang {
		f.Version = v.Version
	}
	return err
}

// look reads a small JSON document.
func (b *Backend) look(ctx context.Context, url string, into any) (http.Header, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return nil, errs.Wrap(errs.InvalidRequest, err, "the upstream URL is not usable", "correct the engine's url")
	}
	b.authorize(req)
	b.sign(ctx, req)
	resp, err := b.Client.Do(req)
	if err != nil {
		return nil, b.unreachable(ctx, err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(io.LimitReader(resp.Body, probed))
	if err != nil {
		return resp.Header, b.unreachable(ctx, err)
	}
	if resp.StatusCode != http.StatusOK {
		return resp.Header, b.refused(resp.StatusCode, resp.Header, text, "")
	}
	if err := json.Unmarshal(text, into); err != nil {
		return resp.Header, errs.Wrap(errs.UpstreamFailed, errForm, fmt.Sprintf("the engine at %s tells of itself in a form that is not understood", b.host), "name the address that ends in /v1")
	}
	return resp.Header, nil
}

// itself explains a set-up in which this server is its own engine.
func (b *Backend) itself() error {
	return &errs.Error{Code: errs.UpstreamFailed, Message: "the engine at " + b.host + " is this server itself, or asks it in turn",
		Next: "the operator sets the engine's url to that of a model server", Err: errLoop}
}

var (
	errLoop = errors.New("upstream: loop")
	errForm = errors.New("upstream: not the expected JSON")
)

// facts are those of the last probe, which is made if there was none.
func (b *Backend) facts(ctx context.Context) (*Facts, error) {
	if f := b.last.Load(); f != nil {
		return f, nil
	}
	b.probing.Lock()
	defer b.probing.Unlock()
	if f := b.last.Load(); f != nil {
		return f, nil
	}
	f, err := b.probe(ctx)
	if err == nil {
		b.last.Store(f)
	}
	return f, err
}

// speaks is the dialect in use.
func (b *Backend) speaks(ctx context.Context) (*dialect, error) {
	if b.fixed != nil {
		return b.fixed, nil
	}
	f, err := b.facts(ctx)
	if err != nil {
		return nil, err
	}
	return recognise(f), nil
}

// slots are those of the llama-server, as many as it said it has.
func (b *Backend) slots(f *Facts) *slots {
	b.probing.Lock()
	defer b.probing.Unlock()
	if b.lent == nil || len(b.lent.held) != max(f.slots, 1) || b.lent.sets != len(f.loras)+1 {
		b.lent = newSlots(max(f.slots, 1), len(f.loras))
	}
	return b.lent
}
