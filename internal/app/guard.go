package app

import (
	"fmt"
	"net"
	"net/http"
	"strings"

	"macaron/internal/errs"
	"macaron/internal/limits"
)

// door says who may come in, beside those of this machine.
type door struct {
	anyHost bool            // callers may name this machine as they like, since each of them has a key
	hosts   map[string]bool // names of this machine beside those of loopback
	origins map[string]bool // of other sites whose pages may call
}

// guard is the one door: it refuses requests that a page of another site, or a name
// that was rebound to this machine, sent through somebody's browser. It wraps the
// whole mux, so no handler can be reached around it.
func (f *front) guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := f.checkCaller(r); err != nil {
			f.meter.Error(string(err.Code))
			f.refuse(w, err)
			return
		}
		if f.shared(w, r) {
			return
		}
		next.ServeHTTP(w, r)
	})
}

func (f *front) checkCaller(r *http.Request) *errs.Error {
	if err := headerCount(r.Header); err != nil {
		return err
	}
	in := f.door.Load()
	if !in.anyHost && !localName(r.Host) && !in.hosts[hostOf(r.Host)] {
		return errs.New(errs.Forbidden, "the Host header names another machine", "use http://127.0.0.1 or http://localhost with the port, or a name that the operator put into hosts")
	}
	origin := r.Header.Get("Origin")
	if in.origins[origin] {
		return nil
	}
	if origin != "" && origin != scheme(r)+r.Host {
		return errs.New(errs.Forbidden, "a page of another origin sent this request", "open the chat page of this server itself, or have the operator put the origin into cors_origins")
	}
	if foreignFetch(r) {
		return errs.New(errs.Forbidden, "a page of another site sent this request", "open the chat page of this server itself")
	}
	return nil
}

// headerCount bounds the lines of a request's head; http.Server bounds their bytes.
func headerCount(h http.Header) *errs.Error {
	n := 0
	for _, values := range h {
		n += len(values)
	}
	if n > limits.HeaderCount {
		return errs.New(errs.TooLarge, fmt.Sprintf("the request has %d header lines, more than %d", n, limits.HeaderCount), "send fewer")
	}
	return nil
}

func scheme(r *http.Request) string {
	if r.TLS != nil {
		return "https://"
	}
	return "http://"
}

// foreignFetch reads what browsers say of a request that carries no Origin. Following
// a link to a page here is allowed.
func foreignFetch(r *http.Request) bool {
	switch r.Header.Get("Sec-Fetch-Site") {
	case "", "none", "same-origin":
		return false
	}
	link := r.Method == http.MethodGet && r.Header.Get("Sec-Fetch-Mode") == "navigate" && r.Header.Get("Sec-Fetch-Dest") == "document"
	return !link
}

// shared tells a browser that a page of an allowed origin may read the answer. It reports whether
// it answered by itself: a preflight, which browsers send without credentials.
func (f *front) shared(w http.ResponseWriter, r *http.Request) bool {
	origins := f.door.Load().origins
	if len(origins) == 0 {
		return false
	}
	h := w.Header()
	h.Add("Vary", "Origin")
	origin := r.Header.Get("Origin")
	if !origins[origin] {
		return false
	}
	h.Set("Access-Control-Allow-Origin", origin)
	h.Set("Access-Control-Expose-Headers", "*")
	h.Set("Cross-Origin-Resource-Policy", "cross-origin")
	if r.Method != http.MethodOptions || r.Header.Get("Access-Control-Request-Method") == "" {
		return false
	}
	h.Set("Access-Control-Allow-Methods", "GET, POST, DELETE")
	h.Set("Access-Control-Allow-Headers", allowedHeaders)
	h.Set("Access-Control-Max-Age", "600")
	w.WriteHeader(http.StatusNoContent)
	return true
}

// allowedHeaders are those that clients of the three APIs send from a page.
const allowedHeaders = "Authorization, X-Api-Key, Content-Type, X-Request-Id, X-Macaron-Session, X-Macaron-Parent-Turn, X-Macaron-Consent, X-Macaron-User, " +
	"Anthropic-Version, Anthropic-Beta, Anthropic-Dangerous-Direct-Browser-Access, OpenAI-Organization, OpenAI-Project, OpenAI-Beta, " +
	"X-Stainless-Lang, X-Stainless-Package-Version, X-Stainless-OS, X-Stainless-Arch, X-Stainless-Runtime, X-Stainless-Runtime-Version, " +
	"X-Stainless-Retry-Count, X-Stainless-Timeout, X-Stainless-Helper-Method"

func localName(host string) bool {
	switch hostOf(host) {
	case "localhost", "127.0.0.1", "::1":
		return true
	}
	return false
}

// hostOf is the name in a Host header, without port and brackets.
func hostOf(host string) string {
	if h, _, err := net.SplitHostPort(host); err == nil {
		host = h
	}
	return strings.ToLower(strings.Trim(host, "[]"))
}
