package tinker

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"macaron/internal/clock"
	"macaron/internal/errs"
	"macaron/internal/mint"
	"macaron/internal/train"
)

// desk stands where the service does, for what is of the wire alone: it keeps what it was
// asked, and answers as it was told. The service itself is under the real clients in
// test/compat.
type desk struct {
	t       testing.TB
	handler http.Handler
	clock   *clock.Fixed
	asked   any
	owner   string
	outcome mint.Outcome
	err     error
	refuse  error // of Refuse
}

func newDesk(t testing.TB) *desk {
	d := &desk{t: t, outcome: mint.Outcome{State: mint.Pending}, clock: &clock.Fixed{T: time.Unix(1700000000, 0)}}
	d.handler = Handler(Deps{Service: d, Owner: func(r *http.Request) string { return r.Header.Get("Owner") }, Clock: d.clock,
		Log: slog.New(slog.DiscardHandler), Failed: func(string) {}, Poll: time.Second, Key: []byte("of a test")})
	return d
}

// call sends a request; headers are pairs.
func (d *desk) call(method, path, body string, headers ...string) *httptest.ResponseRecorder {
	d.t.Helper()
	r := httptest.NewRequest(method, Root+path, strings.NewReader(body))
	r.Header.Set("Content-Type", jsonType)
	r.Header.Set("Owner", "acme")
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	d.handler.ServeHTTP(w, r)
	return w
}

// object is an answer with status 200.
func (d *desk) object(method, path, body string) map[string]any {
	d.t.Helper()
	w := d.call(method, path, body)
	var v map[string]any
	if err := json.Unmarshal(w.Body.Bytes(), &v); err != nil || w.Code != http.StatusOK {
		d.t.Fatalf("%s %s: %d %s", method, path, w.Code, w.Body)
	}
	return v
}

// take keeps what was asked.
func (d *desk) take(owner string, v any) error {
	d.owner, d.asked = owner, v
	return d.err
}

func (d *desk) promise(owner string, v any) (mint.Promise, error) {
	return mint.Promise{Request: "req", Model: "m"}, d.take(owner, v)
}

var spec4 = train.Spec{Rank: 4, Alpha: 32, Attn: true, MLP: true}

func (d *desk) checkpoint() mint.Checkpoint {
	return mint.Checkpoint{Path: "tinker://s:train:0/external_weights/n", Run: "s:train:0", Kind: mint.External, Name: "n", Owner: "acme", Base: "b", Spec: spec4, Created: d.clock.T, Bytes: 10,
		Metadata: json.RawMessage(`{"step":3}`), Expires: d.clock.T.Add(time.Hour)}
}

func (d *desk) Bases(context.Context, string) ([]mint.Base, error) {
	return []mint.Base{{Name: "b", Tokenizer: "/a/directory", MaxContext: 2048, Trainable: true, Sampleable: true}}, d.err
}
func (d *desk) CreateSession(_ context.Context, owner string, r mint.NewSession) (mint.Session, error) {
	return mint.Session{ID: "s"}, d.take(owner, r)
}
func (d *desk) Heartbeat(_ context.Context, owner, session string) error {
	return d.take(owner, session)
}
func (d *desk) Finish(_ context.Context, owner, session string, why mint.Reason, detail string) error {
	return d.take(owner, [3]string{session, string(why), detail})
}
func (d *desk) Session(_ context.Context, owner, session string) (mint.Session, []string, []string, error) {
	n := mint.NewSession{DisplayName: "Name of " + session, Metadata: json.RawMessage(`{"a":"b"}`)}
	return mint.Session{ID: session, NewSession: n, Created: d.clock.T}, []string{"s:train:0"}, nil, d.err
}
func (d *desk) Sessions(_ context.Context, owner string, p mint.Page) ([]string, int, error) {
	return []string{"s3", "s2", "s1"}, 3, d.take(owner, p)
}
func (d *desk) CreateModel(_ context.Context, owner string, r mint.CreateModel) (mint.Promise, error) {
	return d.promise(owner, r)
}
func (d *desk) Forward(_ context.Context, owner string, r mint.Forward) (mint.Promise, error) {
	return d.promise(owner, r)
}
func (d *desk) OptimStep(_ context.Context, owner string, r mint.OptimStep) (mint.Promise, error) {
	return d.promise(owner, r)
}
func (d *desk) Save(_ context.Context, owner string, r mint.Save) (mint.Promise, error) {
	return d.promise(owner, r)
}
func (d *desk) SaveSampler(_ context.Context, owner string, r mint.SaveSampler) (mint.Promise, error) {
	return d.promise(owner, r)
}
func (d *desk) Load(_ context.Context, owner string, r mint.Load) (mint.Promise, error) {
	return d.promise(owner, r)
}
func (d *desk) Unload(_ context.Context, owner, model string) (mint.Promise, error) {
	return d.promise(owner, model)
}
func (d *desk) Refuse(_ context.Context, owner string, r mint.Refused) (mint.Promise, error) {
	d.err = d.refuse
	return d.promise(owner, r)
}
func (d *desk) Sample(_ context.Context, owner string, r mint.Sample) (mint.Promise, error) {
	p, err := d.promise(owner, r)
	for i := range r.N {
		p.Sequences = append(p.Sequences, fmt.Sprint("req:", i))
	}
	return p, err
}
func (d *desk) Retrieve(_ context.Context, owner, request string, wait time.Duration) (mint.Outcome, error) {
	return d.outcome, d.take(owner, request)
}
func (d *desk) Finished(_ context.Context, owner, sampler string, cursor int64, wait time.Duration) ([]mint.Outcome, int64, error) {
	return []mint.Outcome{{Request: "one", State: mint.Done, Bytes: 5}, {Request: "two", State: mint.Failed}}, cursor + 2, d.take(owner, wait)
}
func (d *desk) Cancel(_ context.Context, owner, request string) error { return d.take(owner, request) }
func (d *desk) Model(_ context.Context, owner, model string) (mint.Model, error) {
	c := d.checkpoint()
	return mint.Model{ID: model, Owner: "acme", Base: "b", Spec: spec4, Used: d.clock.T, Training: &c}, d.take(owner, model)
}
func (d *desk) Models(_ context.Context, owner string, p mint.Page) ([]mint.Model, int, error) {
	return []mint.Model{{ID: "s:train:0", Owner: "acme", Spec: spec4}}, 7, d.take(owner, p)
}
func (d *desk) CreateSampler(_ context.Context, owner string, r mint.NewSampler) (mint.Sampler, error) {
	return mint.Sampler{ID: "p"}, d.take(owner, r)
}
func (d *desk) Sampler(_ context.Context, owner, sampler string) (mint.Sampler, error) {
	return mint.Sampler{ID: sampler, Base: "b"}, d.take(owner, sampler)
}
func (d *desk) Checkpoint(_ context.Context, owner, path string) (mint.Checkpoint, error) {
	return d.checkpoint(), d.take(owner, path)
}
func (d *desk) Checkpoints(_ context.Context, owner, run string, p mint.Page) ([]mint.Checkpoint, int, error) {
	return []mint.Checkpoint{d.checkpoint()}, 1, d.take(owner, run)
}
func (d *desk) DeleteCheckpoint(_ context.Context, owner, path string) error {
	return d.take(owner, "delete "+path)
}
func (d *desk) Publish(_ context.Context, owner, path string, public bool) error {
	return d.take(owner, fmt.Sprint("publish ", path, " ", public))
}
func (d *desk) SetTTL(_ context.Context, owner, path string, ttl time.Duration) error {
	return d.take(owner, fmt.Sprint("ttl ", path, " ", ttl))
}
func (d *desk) Copy(_ context.Context, owner string, r mint.Copy) (mint.Checkpoint, error) {
	return d.checkpoint(), d.take(owner, r)
}
func (d *desk) Archive(_ context.Context, owner, path string) (io.ReadCloser, error) {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	w := tar.NewWriter(z)
	for _, name := range []string{"adapter_config.json", "adapter_model.safetensors"} {
		if err := w.WriteHeader(&tar.Header{Name: name, Size: int64(len(name)), Mode: 0o600}); err != nil {
			return nil, err
		}
		if _, err := w.Write([]byte(name)); err != nil {
			return nil, err
		}
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return io.NopCloser(&b), z.Close()
}
func (d *desk) Upload(_ context.Context, owner string, r io.Reader) (mint.Checkpoint, error) {
	b, err := io.ReadAll(r)
	if err != nil {
		return mint.Checkpoint{}, err
	}
	return d.checkpoint(), d.take(owner, string(b))
}

// coded is the code of a refusal; a refusal always has a body with a detail.
func (d *desk) coded(w *httptest.ResponseRecorder) errs.Code {
	d.t.Helper()
	var v refusal
	if err := json.Unmarshal(w.Body.Bytes(), &v); err != nil || v.Detail == "" {
		d.t.Errorf("%d has the body %q", w.Code, w.Body)
	}
	return errs.Code(v.Code)
}
