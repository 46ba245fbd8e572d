package limits

import (
	"fmt"
	"net"
	"net/url"
	"slices"
	"strings"

	"macaron/internal/errs"
)

// Address checks where the bytes of an image are to come from: in the URL itself, or the web.
func Address(field, address string) error {
	if strings.HasPrefix(address, "data:") {
		return nil
	}
	return WebAddress(field, address)
}

// WebAddress checks that an address is one of the web, in its plainest form. Nobody here
// fetches it, but an engine may.
func WebAddress(field, address string) error {
	if _, ok := webHost(address); !ok {
		return errs.New(errs.InvalidRequest, field+" is no address of the web", "send https://..., or the bytes themselves").In(field)
	}
	return nil
}

// webHost is the host of an address, lower-case, with its port if that is not the scheme's.
func webHost(address string) (string, bool) {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.User != nil || u.Opaque != "" || u.Hostname() == "" {
		return "", false
	}
	for _, c := range address { // what another reader of URLs might take for something else
		if c <= ' ' || c == '\\' || c > '~' {
			return "", false
		}
	}
	host := strings.TrimSuffix(strings.ToLower(u.Hostname()), ".")
	if port := u.Port(); port != "" && port != "80" && port != "443" {
		host = net.JoinHostPort(host, port)
	}
	return host, true
}

// MediaHosts are the hosts from which engines may fetch what clients link to: names, with a
// port if it is not the web's own, or "*" for every public name. An engine stands inside the
// operator's network and resolves names by itself, so nothing is allowed by default.
type MediaHosts []string

// Check refuses an address that is not allowed; data: URLs always are.
func (m MediaHosts) Check(field, address string) error {
	if address == "" || strings.HasPrefix(address, "data:") {
		return nil
	}
	host, ok := webHost(address)
	if ok && (slices.Contains(m, host) || slices.Contains(m, "*") && public(host)) {
		return nil
	}
	return errs.New(errs.Unsupported, fmt.Sprintf("the engine may not fetch from %q", errs.Clip(host)),
		"send the bytes as a data: URL, or have the operator put the host into media_hosts").In(field)
}

// public reports whether a name can be one of the web's: no number in any spelling, no name
// without a domain, none of the domains that are kept for inside.
func public(host string) bool {
	labels := strings.Split(host, ".")
	last := labels[len(labels)-1]
	if len(labels) < 2 || strings.ContainsAny(host, ":[]%") || last == "" || strings.Trim(last, "0123456789") == "" || strings.HasPrefix(last, "0x") {
		return false
	}
	return !slices.Contains([]string{"local", "localhost", "localdomain", "internal", "intranet", "lan", "home", "corp", "private", "arpa", "test", "invalid", "onion"}, last)
}
