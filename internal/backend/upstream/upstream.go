// Package upstream is the Generator on any OpenAI-compatible server whose model
// names are the adapters: vLLM, SGLang, llama-server, another Macaron. Faults of
// that server become coded errors; its credentials go to its own address only.
package upstream

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"iter"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"macaron/internal/adapter"
	"macaron/internal/backend"
	"macaron/internal/chat"
	"macaron/internal/errs"
)

// Config says where the server is and how it speaks.
type Config struct {
	URL     string            // up to and including /v1
	Key     string            // bearer credential, or ""
	Dialect string            // auto, vllm, llama, plain
	Models  map[string]string // adapter -> model name there
	Timeout time.Duration     // longest silence; 0 means 2 minutes
	Client  *http.Client      // nil: our own, without proxy and redirects
}

// Backend implements backend.Generator.
type Backend struct {
	Config
	host string
}

var _ backend.Generator = (*Backend)(nil)

// New makes a Backend; it does not connect.
func New(c Config) *Backend {
	if c.Timeout == 0 {
		c.Timeout = 2 * time.Minute
	}
	if c.Client == nil {
		c.Client = client(c.Timeout)
	}
	c.URL = strings.TrimRight(c.URL, "/")
	host := c.URL
	if u, err := url.Parse(c.URL); err == nil {
		host = u.Host
	}
	return &Backend{Config: c, host: host}
}

// client never follows a redirect, which would carry the key elsewhere, and never
// unpacks what it did not ask to be packed.
func client(silence time.Duration) *http.Client {
	return &http.Client{
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Transport: &http.Transport{
			DialContext:            (&net.Dialer{Timeout: 5 * time.Second, KeepAlive: 30 * time.Second}).DialContext,
			TLSClientConfig:        &tls.Config{MinVersion: tls.VersionTLS12},
			TLSHandshakeTimeout:    10 * time.Second,
			ResponseHeaderTimeout:  silence,
			IdleConnTimeout:        90 * time.Second,
			MaxIdleConnsPerHost:    64,
			MaxResponseHeaderBytes: 64 << 10,
			DisableCompression:     true,
		},
	}
}

// Capabilities implements backend.Generator. What the server cannot do it refuses
// itself, and that refusal reaches the client with its field.
func (b *Backend) Capabilities() backend.Capabilities {
	return backend.Capabilities{
		Engine: b.engine(), Adapters: true, Choices: b.Dialect != "plain", Logprobs: true,
		Tools: true, ForcedTools: true, Images: true, JSONSchema: true, Reasoning: true, CachedTokens: true,
	}
}

func (b *Backend) engine() chat.Engine { return chat.Engine{Name: "upstream", Version: b.host} }

// Close frees idle connections.
func (b *Backend) Close() error {
	b.Client.CloseIdleConnections()
	return nil
}

// Ready implements backend.Generator: the server answers and takes our key.
func (b *Backend) Ready(ctx context.Context) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, b.URL+"/models", http.NoBody)
	if err != nil {
		return errs.Wrap(errs.InvalidRequest, err, "the upstream URL is not usable", "correct upstream.url")
	}
	b.authorize(req)
	resp, err := b.Client.Do(req)
	if err != nil {
		return b.unreachable(ctx, err)
	}
	defer resp.Body.Close()
	if _, err := io.Copy(io.Discard, io.LimitReader(resp.Body, maxError)); err != nil {
		return b.unreachable(ctx, err)
	}
	if resp.StatusCode >= 500 || resp.StatusCode == http.StatusUnauthorized || resp.StatusCode == http.StatusForbidden {
		return b.refused(resp.StatusCode, resp.Header, nil, "")
	}
	return nil
}

func (b *Backend) authorize(req *http.Request) {
	if b.Key != "" {
		req.Header.Set("Authorization", "Bearer "+b.Key)
	}
}

// Generate implements backend.Generator.
func (b *Backend) Generate(ctx context.Context, r backend.Request) iter.Seq2[chat.Event, error] {
	return func(yield func(chat.Event, error) bool) {
		if !r.Plain() {
			yield(chat.Event{}, errs.New(errs.Unsupported, "an upstream server is not asked for mixtures, constraints or prompt scores", "use the built-in engine"))
			return
		}
		run := b.answer
		if len(r.Choices) > 0 {
			run = b.choose
		}
		ctx, stop := context.WithCancel(ctx)
		defer stop()
		err := run(ctx, r, func(e chat.Event) bool { return yield(e, nil) })
		if err != nil && !errors.Is(err, errStopped) {
			yield(chat.Event{}, err)
		}
	}
}

// errStopped says that the caller wants no more.
var errStopped = errors.New("upstream: the caller stopped")

func (b *Backend) answer(ctx context.Context, r backend.Request, emit func(chat.Event) bool) error {
	model, err := b.model(r.Revision)
	if err != nil {
		return err
	}
	body, err := encode(model, b.Dialect, r)
	if err != nil {
		return err
	}
	return b.stream(ctx, model, body, emit)
}

// model is the server's name for a revision: the configured one, else the one in
// the contract's source, else the adapter's own.
func (b *Backend) model(r adapter.Revision) (string, error) {
	if m := b.Models[r.Name]; m != "" {
		return m, nil
	}
	if m, ok := strings.CutPrefix(r.Source, "model:"); ok && m != "" {
		return m, nil
	}
	if r.Name == "" {
		return "", errs.New(errs.Unsupported, "the upstream has no name for the bare base", "register an adapter for it in the contract")
	}
	return r.Name, nil
}

// stream sends one request and emits its events, from Start to Finish.
func (b *Backend) stream(ctx context.Context, model string, body []byte, emit func(chat.Event) bool) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	begun := time.Now()
	resp, err := b.send(ctx, model, body)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	quiet := time.AfterFunc(b.Timeout, func() { cancel(errSilence) })
	defer quiet.Stop()
	in := &alive{r: resp.Body, touch: func() { quiet.Reset(b.Timeout) }}
	p := &parser{backend: b, emit: emit, begun: begun}
	if err = p.read(resp.Header.Get("Content-Type"), in); err == nil {
		return nil
	}
	var coded *errs.Error
	if errors.As(err, &coded) || errors.Is(err, errStopped) {
		return err
	}
	return b.unreachable(ctx, err)
}

var errSilence = errors.New("upstream: silent for too long")

// alive reports every arrival of bytes.
type alive struct {
	r     io.Reader
	touch func()
}

func (a *alive) Read(p []byte) (int, error) {
	n, err := a.r.Read(p)
	if n > 0 {
		a.touch()
	}
	return n, err
}

// unreachable explains a failure of the connection.
func (b *Backend) unreachable(ctx context.Context, err error) error {
	cause := context.Cause(ctx)
	var timeout net.Error
	switch {
	case errors.Is(cause, errSilence) || errors.As(err, &timeout) && timeout.Timeout():
		return errs.Wrap(errs.UpstreamUnavailable, err, fmt.Sprintf("the engine at %s was silent for too long", b.host), "see what it does, or raise upstream.timeout")
	case cause != nil:
		return errs.Wrap(errs.Canceled, err, "the request ended before the engine answered", "")
	}
	return errs.Wrap(errs.UpstreamUnavailable, err, fmt.Sprintf("the engine at %s does not answer", b.host), "start it, or correct upstream.url")
}
