// Package upstream is the Generator on one server below: vLLM, SGLang, llama-server,
// `macaron engine serve` or any other that speaks Chat Completions. What kinds of
// servers understand differently are dialects. Faults of that server become coded
// errors; its credentials go to its own address only.
package upstream

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"iter"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"macaron/internal/adapter"
	"macaron/internal/backend"
	"macaron/internal/chat"
	"macaron/internal/errs"
)

// Config says where the server is and how it speaks.
type Config struct {
	Name    string            // of the engine, on record; empty is "upstream"
	URL     string            // up to and including /v1
	Key     string            // bearer credential, or ""
	Dialect string            // one of Dialects; empty is the plain one
	Models  map[string]string // adapter -> model name there
	Timeout time.Duration     // longest silence; 0 means 2 minutes
	Longest time.Duration     // longest answer; 0 means 30 minutes
	Tries   int               // of a request before the first byte; 0 means 3
	Conns   int               // connections kept open; 0 means 64
	// Instance names this server, so that it finds out when it is its own engine.
	Instance string
	// Mark adds to the header of each request what those who watch want; nil: nothing.
	Mark   func(context.Context, http.Header)
	Client *http.Client // nil: our own, without proxy and redirects
}

// Backend implements backend.Generator.
type Backend struct {
	Config
	host  string
	fixed *dialect // nil: found out by probing
	wrong error    // why the configured dialect cannot be used

	last    atomic.Pointer[Facts]
	probing sync.Mutex
	lent    *slots // of a llama-server
}

var _ backend.Generator = (*Backend)(nil)

// New makes a Backend; it does not connect.
func New(c Config) *Backend {
	if c.Timeout == 0 {
		c.Timeout = 2 * time.Minute
	}
	if c.Longest == 0 {
		c.Longest = 30 * time.Minute
	}
	if c.Tries == 0 {
		c.Tries = 3
	}
	if c.Conns == 0 {
		c.Conns = 64
	}
	if c.Client == nil {
		c.Client = client(c.Timeout, c.Conns)
	}
	c.URL = strings.TrimRight(c.URL, "/")
	host := c.URL
	if u, err := url.Parse(c.URL); err == nil {
		host = u.Host
	}
	b := &Backend{Config: c, host: host}
	b.fixed, b.wrong = named(c.Dialect)
	return b
}

// Usable reports whether the settings can be used at all.
func (b *Backend) Usable() error { return b.wrong }

// client never follows a redirect, which would carry the key elsewhere, and never
// unpacks what it did not ask to be packed.
func client(silence time.Duration, conns int) *http.Client {
	return &http.Client{
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Transport: &direct{
			dial:    (&net.Dialer{Timeout: 5 * time.Second, KeepAlive: 30 * time.Second}).DialContext,
			tls:     &tls.Config{MinVersion: tls.VersionTLS12},
			silence: silence,
			most:    conns,
		},
	}
}

// Capabilities implements backend.Generator. What the server cannot do it refuses
// itself, and that refusal reaches the client with its field.
func (b *Backend) Capabilities() backend.Capabilities {
	d, f := b.fixed, b.last.Load()
	if d == nil && f != nil {
		d = recognise(f)
	}
	if d == nil {
		d = plain
	}
	can := d.capabilities()
	can.Engine = b.engine()
	if f != nil && f.tools != nil && !*f.tools {
		can.Tools, can.ForcedTools = false, false // they would be passed over in silence
	}
	return can
}

func (b *Backend) engine() chat.Engine {
	return chat.Engine{Name: cmp.Or(b.Name, "upstream"), Version: b.host}
}

// Close frees idle connections.
func (b *Backend) Close() error {
	b.Client.CloseIdleConnections()
	return nil
}

// Ready implements backend.Generator: the server answers, takes our key and is not this
// server itself.
func (b *Backend) Ready(ctx context.Context) error {
	if b.wrong != nil {
		return b.wrong
	}
	f, err := b.probe(ctx)
	if err == nil {
		b.last.Store(f)
	}
	return err
}

func (b *Backend) authorize(req *http.Request) {
	if b.fixed != nil && b.fixed.sign != nil {
		b.fixed.sign(req.Header, b.Key)
	} else if b.Key != "" {
		req.Header.Set("Authorization", "Bearer "+b.Key)
	}
}

// Generate implements backend.Generator.
func (b *Backend) Generate(ctx context.Context, r backend.Request) iter.Seq2[chat.Event, error] {
	return func(yield func(chat.Event, error) bool) {
		plain := r
		plain.Constraint = backend.Constraint{}
		plain.Decoding.DrawChoice = false // a server draws a label as it draws any token: at the temperature
		if !plain.Plain() {
			yield(chat.Event{}, errs.New(errs.Unsupported, "an upstream server is not asked for mixtures or prompt scores", "use the built-in engine"))
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
	d, err := b.dialect(ctx)
	if err != nil {
		return err
	}
	return b.ask(ctx, d, r, nil, emit)
}

// dialect is the one in use, or why there is none.
func (b *Backend) dialect(ctx context.Context) (*dialect, error) {
	if b.wrong != nil {
		return nil, b.wrong
	}
	return b.speaks(ctx)
}

// ask sends one request, changed by more, and emits its events.
func (b *Backend) ask(ctx context.Context, d *dialect, r backend.Request, more func(*body), emit func(chat.Event) bool) error {
	model, err := b.ModelOf(r.Revision)
	if err != nil {
		return err
	}
	if r.Tokens != nil {
		return errs.New(errs.Unsupported, "an upstream server takes messages, not token ids", "use the built-in engine")
	}
	q := compose(model, d, r)
	if r.Constraint.Kind != backend.AnyText && (d.constrain == nil || !d.constrain(&q, r.Constraint)) {
		return errs.New(errs.Unsupported, fmt.Sprintf("an engine of the kind %s cannot hold an answer to %s", d.name, r.Constraint.Kind), "leave it out").In(r.Constraint.Field)
	}
	if more != nil {
		more(&q)
	}
	if d.address != nil {
		release, err := d.address(ctx, b, &q, r)
		if err != nil {
			return err
		}
		defer release()
	}
	text, err := d.encode(q, r)
	if err != nil && errs.CodeOf(err) != errs.Internal {
		return err
	}
	if err != nil {
		return errs.Wrap(errs.Internal, err, "the request to the engine cannot be written as JSON", "")
	}
	p := &parser{backend: b, emit: emit}
	if q.ReturnTokenIDs {
		p.served, p.silent = &served{}, !r.Sampling.Logprobs && len(r.Choices) == 0
	}
	return b.stream(ctx, d, model, text, p)
}

// ModelOf is the server's name for a revision: the configured one, else the one in
// the contract's source, else the adapter's own.
func (b *Backend) ModelOf(r adapter.Revision) (string, error) {
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

// stream sends one request and has p emit its events, from Start to Finish.
func (b *Backend) stream(ctx context.Context, d *dialect, model string, body []byte, p *parser) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	p.begun = time.Now()
	whole := time.AfterFunc(b.Longest, func() { cancel(errLongest) })
	defer whole.Stop()
	resp, err := b.send(ctx, b.URL+d.endpoint(), model, body)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	quiet := time.AfterFunc(b.Timeout, func() { cancel(errSilence) })
	defer quiet.Stop()
	in := &alive{r: resp.Body, touch: func() { quiet.Reset(b.Timeout) }}
	read := p.read
	if d.read != nil {
		read = func(contentType string, in io.Reader) error { return d.read(p, contentType, in) }
	}
	if err = read(resp.Header.Get("Content-Type"), in); err == nil {
		return nil
	}
	var coded *errs.Error
	if errors.As(err, &coded) || errors.Is(err, errStopped) {
		return err
	}
	return b.unreachable(ctx, err)
}

var (
	errSilence = errors.New("upstream: silent for too long")
	errLongest = errors.New("upstream: the answer took too long")
)

// lively is how many bytes without a line's end are a sign of life.
const lively = 4 << 10

// alive reports every arrival of a line's end, or of many bytes: a byte now and then is
// no sign of life.
type alive struct {
	r     io.Reader
	touch func()
	quiet int // bytes since the last touch
}

func (a *alive) Read(p []byte) (int, error) {
	n, err := a.r.Read(p)
	a.quiet += n
	if a.quiet >= lively || bytes.IndexByte(p[:n], '\n') >= 0 {
		a.quiet = 0
		a.touch()
	}
	return n, err
}

// unreachable explains a failure of the connection.
func (b *Backend) unreachable(ctx context.Context, err error) error {
	cause := context.Cause(ctx)
	var timeout net.Error
	switch {
	case errors.Is(cause, errSilence) || errors.Is(err, os.ErrDeadlineExceeded) || errors.As(err, &timeout) && timeout.Timeout():
		return errs.Wrap(errs.UpstreamUnavailable, err, fmt.Sprintf("the engine at %s was silent for too long", b.host), "see what it does, or raise upstream.timeout")
	case errors.Is(cause, errLongest):
		return errs.Wrap(errs.UpstreamUnavailable, err, fmt.Sprintf("the engine at %s took longer than %s over one answer", b.host, b.Longest), "ask for fewer tokens")
	case cause != nil:
		return errs.Wrap(errs.Canceled, err, "the request ended before the engine answered", "")
	}
	return errs.Wrap(errs.UpstreamUnavailable, err, fmt.Sprintf("the engine at %s does not answer", b.host), "the operator starts it, or corrects the engine's url")
}
