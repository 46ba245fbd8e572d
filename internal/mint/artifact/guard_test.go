package artifact

import (
	"context"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-containerregistry/pkg/registry"

	"macaron/internal/errs"
	"macaron/internal/reach"
)

// victim is a server of this machine that nobody has named; it counts who comes.
func victim(t *testing.T) (port string, hits *atomic.Int32) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.2:0")
	if err != nil {
		t.Fatal(err)
	}
	hits = &atomic.Int32{}
	s := &httptest.Server{Listener: l, Config: &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		hits.Add(1)
		fmt.Fprint(w, `{"Token":"of-this-machine"}`)
	})}}
	s.Start()
	t.Cleanup(s.Close)
	_, port, _ = net.SplitHostPort(l.Addr().String())
	return port, hits
}

// names is a resolver by which all names but the registry's are inside.
func names(_ context.Context, name string) ([]netip.Addr, error) {
	if name == "registry.example" {
		return []netip.Addr{netip.MustParseAddr("127.0.0.1")}, nil
	}
	return []netip.Addr{netip.MustParseAddr("169.254.169.254"), netip.MustParseAddr("127.0.0.2")}, nil
}

// TestARegistryLeadsNowhereElse: neither a redirect of a blob nor the place where tokens are
// given brings anybody to an address inside, by number or by a name; the registry itself, which
// the operator has named, may be there.
func TestARegistryLeadsNowhereElse(t *testing.T) {
	port, hits := victim(t)
	real := registry.New(registry.Logger(log.New(io.Discard, "", 0)))
	var answer http.HandlerFunc
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { answer(w, r) }))
	defer server.Close()
	_, own, _ := net.SplitHostPort(strings.TrimPrefix(server.URL, "http://"))
	for _, host := range []string{"127.0.0.1", "registry.example"} {
		name, how := Prefix+host+":"+own+"/team/a:v1", Access{PlainHTTP: true, Lookup: names}
		answer = real.ServeHTTP
		to, tag, err := Repository(name, how)
		if err == nil {
			_, err = Push(t.Context(), to, bundle(t), tag)
		}
		if err != nil {
			t.Fatal(err)
		}
		for _, place := range []string{"http://127.0.0.2:" + port, "http://metadata.example:" + port, "http://[::ffff:127.0.0.2]:" + port, "http://localhost.:" + port, "http://0.0.0.0:" + port} {
			for how2, f := range map[string]http.HandlerFunc{
				"blobs": func(w http.ResponseWriter, r *http.Request) {
					if strings.Contains(r.URL.Path, "/blobs/") {
						http.Redirect(w, r, place+"/latest/meta-data/", http.StatusTemporaryRedirect)
						return
					}
					real.ServeHTTP(w, r)
				},
				"tokens": func(w http.ResponseWriter, r *http.Request) {
					if strings.Contains(r.Header.Get("Authorization"), "of-this-machine") {
						t.Error("what another server said went to the registry")
					}
					w.Header().Set("WWW-Authenticate", `Bearer realm="`+place+`/token",service="x"`)
					w.WriteHeader(http.StatusUnauthorized)
				},
			} {
				answer = f
				from, tag, err := Repository(name, how)
				if err == nil {
					_, err = Pull(t.Context(), from, tag)
				}
				byNumber := how2 == "tokens" && errs.CodeOf(err) == errs.FormatInvalid // the library refuses numbers as places of tokens
				if errs.CodeOf(err) != errs.Forbidden && !byNumber || hits.Load() != 0 {
					t.Errorf("%s of %s at %s: %v, %d came", how2, host, place, err, hits.Load())
				}
			}
		}
	}
}

// TestNamesStayWhatTheyWere: a registry's name that was public does not become one inside, nor
// the other way round, and metadata services are neither.
func TestNamesStayWhatTheyWere(t *testing.T) {
	at := netip.MustParseAddr
	for first, later := range map[string]map[string]bool{
		"8.8.8.8":         {"8.8.4.4": true, "127.0.0.1": false, "10.0.0.1": false, "169.254.169.254": false},
		"10.0.0.1":        {"10.0.0.2": true, "8.8.8.8": false, "169.254.169.254": false, "fd00:ec2::254": false},
		"169.254.169.254": {"127.0.0.1": false, "8.8.8.8": true},
	} {
		g := newGuard("registry.example:5000", false, nil)
		may := g.may("Registry.Example")
		if got := may(at(first)); got != (reach.Public(at(first)) || reach.Private(at(first))) {
			t.Errorf("%s at first: %v", first, got)
		}
		for a, want := range later {
			if got := may(at(a)); got != want {
				t.Errorf("%s after %s: %v", a, first, got)
			}
		}
	}
}

// TestARegistryKeepsToTLS: one that is spoken to by TLS leads nowhere without it.
func TestARegistryKeepsToTLS(t *testing.T) {
	r := httptest.NewRequest(http.MethodGet, "http://registry.example/v2/", nil)
	if _, err := newGuard("registry.example", false, nil).RoundTrip(r); errs.CodeOf(err) != errs.Forbidden {
		t.Error(err)
	}
}
