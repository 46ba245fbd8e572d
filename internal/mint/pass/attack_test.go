package pass

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"

	"macaron/internal/clock"
	"macaron/internal/errs"
)

// TestABackendLeadsNowhereElse: whatever a backend redirects, it is asked alone, and its key
// goes to nobody.
func TestABackendLeadsNowhereElse(t *testing.T) {
	var hits atomic.Int32
	victim := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { hits.Add(1) }))
	defer victim.Close()
	var status int
	backend := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, victim.URL+"/latest/meta-data/", status)
	}))
	defer backend.Close()
	p, err := newPeer(Backend{Name: "b", URL: backend.URL, Key: "tml-own"}, clock.System{})
	if err != nil {
		t.Fatal(err)
	}
	for _, status = range []int{301, 302, 303, 307, 308} {
		for _, method := range []string{http.MethodGet, http.MethodPost, http.MethodDelete} {
			a, err := p.ask(t.Context(), method, "forward_backward", []byte("{}"), false, http.Header{})
			if err != nil || a.status != status || hits.Load() != 0 {
				t.Errorf("%s %d: %+v %v, %d came", method, status, a, err, hits.Load())
			}
		}
	}
}

// TestWhereArchivesMayLie: at the backend's own host, or by TLS at one that was allowed; no way
// of writing another one passes.
func TestWhereArchivesMayLie(t *testing.T) {
	p, err := newPeer(Backend{Name: "b", URL: "http://trainer.example:8000/x", Archives: []string{"store.example", "other.example:8443"}}, clock.System{})
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]bool{
		"/files/a": true, "http://trainer.example:8000/a": true, "https://store.example/a?sig=1": true, "https://other.example:8443/a": true,
		"http://store.example/a": false, "https://store.example:8443/a": false, "https://other.example/a": false, "https://trainer.example:8000/a": false, "http://trainer.example/a": false,
		"//169.254.169.254/a": false, "http://trainer.example:8000@169.254.169.254/a": false, "https://store.example@10.0.0.1/": false, "https://store.example.evil.example/": false,
		"https://evil.example/store.example": false, "file:///etc/passwd": false, "https://store.example#@evil.example/": true, `https://evil.example\@store.example/`: false, "gopher://trainer.example:8000/": false,
	} {
		to, err := p.origin.Parse(text)
		if got := err == nil && p.mayFetch(to); got != want {
			t.Errorf("%s: %v", text, got)
		}
		if err == nil && want && !strings.HasSuffix(to.Hostname(), "r.example") && to.Hostname() != "store.example" {
			t.Errorf("%s leads to %s", text, to.Host)
		}
	}
}

// TestAnArchivesHostShowsItsCertificate: a name that was allowed and means another address by
// now, such as one inside, is not that server.
func TestAnArchivesHostShowsItsCertificate(t *testing.T) {
	var hits atomic.Int32
	inside := httptest.NewTLSServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { hits.Add(1) }))
	defer inside.Close()
	at, err := url.Parse(inside.URL)
	if err != nil {
		t.Fatal(err)
	}
	backend := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Location", inside.URL+"/archive")
		w.WriteHeader(http.StatusFound)
	}))
	defer backend.Close()
	p, err := newPeer(Backend{Name: "b", URL: backend.URL, Archives: []string{at.Host}}, clock.System{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.archive(t.Context(), "tinker://run/sampler_weights/one"); errs.CodeOf(err) != errs.UpstreamUnavailable || hits.Load() != 0 {
		t.Errorf("%v, %d came", err, hits.Load())
	}
}
