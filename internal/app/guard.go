package app

import (
	"net"
	"net/http"
	"strings"

	"macaron/internal/errs"
)

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
		next.ServeHTTP(w, r)
	})
}

func (f *front) checkCaller(r *http.Request) *errs.Error {
	if !f.anyHost && !localName(r.Host) {
		return errs.New(errs.Forbidden, "the Host header names another machine", "use http://127.0.0.1 or http://localhost with the port")
	}
	if origin := r.Header.Get("Origin"); origin != "" && origin != "http://"+r.Host {
		return errs.New(errs.Forbidden, "a page of another origin sent this request", "open the chat page of this server itself")
	}
	if foreignFetch(r) {
		return errs.New(errs.Forbidden, "a page of another site sent this request", "open the chat page of this server itself")
	}
	return nil
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

func localName(host string) bool {
	name := host
	if h, _, err := net.SplitHostPort(host); err == nil {
		name = h
	}
	switch strings.ToLower(strings.Trim(name, "[]")) {
	case "localhost", "127.0.0.1", "::1":
		return true
	}
	return false
}
