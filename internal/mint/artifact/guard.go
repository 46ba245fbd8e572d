package artifact

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"time"

	"macaron/internal/errs"
	"macaron/internal/reach"
)

// guard keeps a registry from sending this machine elsewhere: a registry says where blobs lie
// and where tokens are given, and what is read there goes back to it. The host that the operator
// has named is reached where it is, others only at public addresses, and without TLS only if the
// registry is spoken to without it.
type guard struct {
	name      string // of the registry's host
	plainHTTP bool
	lookup    reach.Lookup
	transport *http.Transport

	mu      sync.Mutex
	proxies map[string]bool       // hosts that the environment names
	allowed func(netip.Addr) bool // addresses of the registry's host; nil until it was reached
}

func newGuard(registry string, plainHTTP bool, lookup reach.Lookup) *guard {
	g := &guard{name: registry, plainHTTP: plainHTTP, lookup: lookup, proxies: map[string]bool{}, transport: http.DefaultTransport.(*http.Transport).Clone()}
	if host, _, err := net.SplitHostPort(registry); err == nil {
		g.name = host
	}
	g.name = strings.Trim(g.name, "[]")
	g.transport.DialContext, g.transport.Proxy = g.dial, g.proxy
	return g
}

func (g *guard) client() *http.Client { return &http.Client{Timeout: time.Hour, Transport: g} }

// RoundTrip is for redirects and tokens too.
func (g *guard) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.URL.Scheme != "https" && !g.plainHTTP {
		return nil, errs.New(errs.Forbidden, "the registry leads to "+errs.Clip(r.URL.Host)+" without TLS", "give --plain-http, if that is what you want")
	}
	return g.transport.RoundTrip(r)
}

func (g *guard) proxy(r *http.Request) (*url.URL, error) {
	u, err := http.ProxyFromEnvironment(r)
	if u != nil {
		g.mu.Lock()
		defer g.mu.Unlock()
		g.proxies[u.Hostname()] = true
	}
	return u, err
}

func (g *guard) dial(ctx context.Context, network, target string) (net.Conn, error) {
	name, _, err := net.SplitHostPort(target)
	if err != nil {
		return nil, err
	}
	c, err := g.lookup.Dial(ctx, network, target, g.may(name), errs.New(errs.Forbidden, fmt.Sprintf("the registry %s leads to %s, at an address of this machine or of a private network", errs.Clip(g.name), errs.Clip(name)), "name the registry by an address at which all that it needs is"))
	if cause := errors.Unwrap(err); errs.CodeOf(err) == errs.UpstreamUnavailable && cause != nil {
		return nil, cause // the caller says what did not answer
	}
	return c, err
}

// may says which addresses of a host are good.
func (g *guard) may(name string) func(netip.Addr) bool {
	_, err := netip.ParseAddr(name)
	g.mu.Lock()
	defer g.mu.Unlock()
	switch {
	case g.proxies[name]:
		return func(netip.Addr) bool { return true }
	case !strings.EqualFold(name, g.name):
		return reach.Public
	case err == nil: // the operator has named this very address
		return func(netip.Addr) bool { return true }
	}
	return g.own
}

// own is for the registry's own name: where it was public or inside at first, it stays that,
// since whoever has the name can let it mean something else the next time.
func (g *guard) own(a netip.Addr) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.allowed == nil {
		if g.allowed = reach.Public; reach.Private(a) {
			g.allowed = reach.Private
		}
	}
	return g.allowed(a)
}
