package pass

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"macaron/internal/clock"
	"macaron/internal/errs"
)

// resultBytes bounds what a backend may answer.
const resultBytes = 512 << 20

// peer sends to one backend.
type peer struct {
	Backend
	breaker
	origin *url.URL
	http   *http.Client
	learnt atomic.Pointer[Dialect] // of an Auto backend that refused the other one
}

func newPeer(b Backend, c clock.Clock) (*peer, error) {
	origin, err := url.Parse(b.URL)
	if err != nil {
		return nil, errs.Wrap(errs.InvalidRequest, err, "the address of the backend "+b.Name+" cannot be read", "")
	}
	if b.Timeout == 0 {
		b.Timeout = time.Minute
	}
	if b.Dialect == "" {
		b.Dialect = Auto
	}
	transport := &http.Transport{MaxIdleConnsPerHost: 256, IdleConnTimeout: 90 * time.Second, TLSHandshakeTimeout: 10 * time.Second,
		ForceAttemptHTTP2: true, DialContext: (&net.Dialer{Timeout: 10 * time.Second, KeepAlive: 30 * time.Second}).DialContext}
	// What a backend redirects to is not followed: the operator has named one address.
	client := &http.Client{Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	return &peer{Backend: b, breaker: breaker{clock: c}, origin: origin, http: client}, nil
}

// speaks is the dialect to use with a client of one.
func (p *peer) speaks(client Dialect) Dialect {
	if p.Dialect != Auto {
		return p.Dialect
	}
	if d := p.learnt.Load(); d != nil {
		return *d
	}
	return client
}

// answer is what a backend has answered.
type answer struct {
	status int
	proto  bool
	body   []byte
	header http.Header
}

// passed are the headers of clients that go on to a backend; no credential is among them.
var passed = []string{"Accept", "User-Agent", "X-Idempotency-Key"}

var passedPrefixes = []string{"X-Stainless-", "X-Tinker-", "X-Sdk-"}

const protobuf = "application/x-protobuf"

// ask sends one request. An error means that there was no answer, or none that a backend
// gives; a status is the caller's business.
func (p *peer) ask(ctx context.Context, method, path string, body []byte, proto bool, from http.Header) (*answer, error) {
	if left := p.closedFor(); left > 0 {
		return nil, p.away(fmt.Errorf("it has failed %d times in a row", breakAfter), left)
	}
	r, err := http.NewRequestWithContext(ctx, method, strings.TrimSuffix(p.URL, "/")+"/api/v1/"+path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	copyHeaders(r.Header, from)
	if method == http.MethodPost || method == http.MethodPut {
		r.Header.Set("Content-Type", "application/json")
	}
	if proto {
		r.Header.Set("Content-Type", protobuf)
	}
	r.Header.Set(hops, strconv.Itoa(passedOn(from)+1))
	if p.Key != "" {
		r.Header.Set("X-API-Key", p.Key)
	}
	resp, err := p.http.Do(r)
	if err != nil {
		if ctx.Err() == nil {
			p.note(false)
		}
		return nil, p.away(err, time.Second)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(io.LimitReader(resp.Body, resultBytes+1))
	p.note(err == nil && resp.StatusCode != http.StatusBadGateway && resp.StatusCode != http.StatusServiceUnavailable && resp.StatusCode != http.StatusGatewayTimeout)
	if err != nil {
		return nil, p.away(err, time.Second)
	}
	if len(b) > resultBytes {
		return nil, errs.Newf(errs.UpstreamFailed, "the backend %s answered more than %d bytes", p.Name, resultBytes)
	}
	if resp.StatusCode == http.StatusUnauthorized || resp.StatusCode == http.StatusForbidden {
		return nil, errs.New(errs.UpstreamFailed, fmt.Sprintf("the backend %s does not take this server's key (%d)", p.Name, resp.StatusCode), "the operator has to look at mint.backends")
	}
	kind, _, _ := strings.Cut(resp.Header.Get("Content-Type"), ";")
	return &answer{resp.StatusCode, strings.EqualFold(strings.TrimSpace(kind), protobuf), b, resp.Header}, nil
}

// hops counts the servers that have passed a request on, so that one that is its own backend
// does not go round forever.
const (
	hops     = "X-Macaron-Passed"
	mostHops = 3
)

func passedOn(h http.Header) int {
	n, err := strconv.Atoi(h.Get(hops))
	if err != nil || n < 0 {
		return 0
	}
	return n
}

func copyHeaders(to, from http.Header) {
	for _, name := range passed {
		if v := from.Values(name); len(v) > 0 {
			to[http.CanonicalHeaderKey(name)] = v
		}
	}
	for name, v := range from {
		for _, prefix := range passedPrefixes {
			if strings.HasPrefix(name, prefix) {
				to[name] = v
			}
		}
	}
}

// away says that a backend did not answer. The error of the connection stays inside: its
// text has the address.
func (p *peer) away(err error, again time.Duration) error {
	e := errs.As(errs.Wrap(errs.UpstreamUnavailable, err, "the backend "+p.Name+", which trains this base, does not answer", "try again in a moment; what it has promised is kept there"))
	e.RetryAfter = max(again, time.Second)
	return e
}

// within bounds a request that should be answered at once.
func (p *peer) within(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, p.Timeout)
}
