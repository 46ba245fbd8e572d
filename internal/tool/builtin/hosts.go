package builtin

import (
	"net"
	"net/url"
	"strings"

	"macaron/internal/errs"
)

// Hosts says which servers may be called. An entry is a name such as api.example.org, or
// *.example.org for every name below it; with :port after it for another port than that
// of https, and with http:// before it where the connection may go unencrypted.
type Hosts []string

// host is one entry, taken apart.
type host struct{ scheme, name, port string }

func parseHost(entry string) (host, error) {
	wrong := bad("the host "+errs.Clip(entry)+" is not one such as api.example.org, *.example.org, api.example.org:8443 or http://10.1.2.3:8000", "correct the list of hosts")
	h := host{scheme: "https"}
	rest, plain := strings.CutPrefix(strings.ToLower(entry), "http://")
	if plain {
		h.scheme = "http"
	} else {
		rest = strings.TrimPrefix(rest, "https://")
	}
	u, err := url.Parse("//" + rest)
	if err != nil || u.Host == "" || u.Host != rest || u.User != nil || strings.Contains(strings.TrimPrefix(u.Hostname(), "*."), "*") {
		return h, wrong
	}
	h.name, h.port = strings.TrimSuffix(u.Hostname(), "."), u.Port()
	if h.port == "" {
		h.port = ports[h.scheme]
	}
	return h, nil
}

var ports = map[string]string{"http": "80", "https": "443"}

// Check refuses entries that name no host.
func (hs Hosts) Check() error {
	for _, entry := range hs {
		if _, err := parseHost(entry); err != nil {
			return err
		}
	}
	return nil
}

// Allow reports whether an address may be called, and why not.
func (hs Hosts) Allow(u *url.URL) error {
	port := u.Port()
	if port == "" {
		port = ports[u.Scheme]
	}
	name := strings.TrimSuffix(strings.ToLower(u.Hostname()), ".")
	if port == "" || name == "" || u.User != nil || u.Opaque != "" {
		return errs.New(errs.Forbidden, "only http and https addresses without credentials in them are called", "")
	}
	for _, entry := range hs {
		h, err := parseHost(entry)
		if err != nil {
			return err
		}
		below, any := strings.CutPrefix(h.name, "*")
		if h.scheme == u.Scheme && h.port == port && (h.name == name || any && strings.HasSuffix(name, below) && net.ParseIP(name) == nil) {
			return nil
		}
	}
	list := strings.Join(hs, ", ")
	if list == "" {
		list = "none"
	}
	return errs.New(errs.Forbidden, u.Scheme+"://"+errs.Clip(u.Host)+" is not on the list of hosts", "the list has: "+list)
}
