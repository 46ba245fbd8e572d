// Package reach says which addresses of the network may be connected to. Addresses are looked at
// when the connection is made, after the name was resolved: what a name meant a moment ago, and
// what a redirect calls it, do not matter.
package reach

import (
	"context"
	"net"
	"net/netip"
	"time"

	"macaron/internal/errs"
)

// special are the networks that are not of the public internet: this machine, private networks,
// metadata services of clouds, and addresses that carry another address inside. The registries
// are IANA's special-purpose ones (RFC 6890 and what updates it).
var special = prefixes(
	"0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24", "192.0.2.0/24",
	"192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4",
	"2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20",
)

// global is where public IPv6 addresses lie; all else is special, such as fc00::/7, fe80::/10,
// ::1 and 64:ff9b::/96.
var global = netip.MustParsePrefix("2000::/3")

// inside are the networks of organisations and of this machine. Link-local addresses, where
// clouds have their metadata, and shared ones are not among them.
var inside = prefixes("10.0.0.0/8", "127.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "::1/128", "fc00::/7")

// metadata of AWS over IPv6, the one such service at an address of a private network.
var metadata = netip.MustParseAddr("fd00:ec2::254")

func prefixes(texts ...string) []netip.Prefix {
	var out []netip.Prefix
	for _, t := range texts {
		out = append(out, netip.MustParsePrefix(t))
	}
	return out
}

// Public reports whether an address is one of the public internet.
func Public(a netip.Addr) bool {
	a = a.Unmap()
	return a.IsValid() && a.Zone() == "" && (a.Is4() || global.Contains(a)) && !Among(special, a)
}

// Private reports whether an address is one of an organisation's own network or of this machine.
func Private(a netip.Addr) bool {
	a = a.Unmap()
	return a.Zone() == "" && Among(inside, a) && a != metadata
}

// Among reports whether one of the networks has the address.
func Among(networks []netip.Prefix, a netip.Addr) bool {
	for _, p := range networks {
		if p.Contains(a) {
			return true
		}
	}
	return false
}

// Lookup resolves a name; nil is the system's resolver.
type Lookup func(ctx context.Context, name string) ([]netip.Addr, error)

// Dial connects to NAME:PORT by the first of its addresses that may be used and answers. Where
// none may, the error is refused.
func (l Lookup) Dial(ctx context.Context, network, target string, may func(netip.Addr) bool, refused error) (net.Conn, error) {
	name, port, err := net.SplitHostPort(target)
	if err != nil {
		return nil, err
	}
	addresses, err := l.resolve(ctx, name)
	if err != nil {
		return nil, err
	}
	last := refused
	for _, a := range addresses {
		if a = a.Unmap(); !may(a) {
			continue
		}
		d := net.Dialer{Timeout: 10 * time.Second}
		c, err := d.DialContext(ctx, network, net.JoinHostPort(a.String(), port))
		if err == nil {
			return c, nil
		}
		last = errs.Wrap(errs.UpstreamUnavailable, err, errs.Clip(name)+" does not answer", "")
	}
	return nil, last
}

func (l Lookup) resolve(ctx context.Context, name string) ([]netip.Addr, error) {
	if a, err := netip.ParseAddr(name); err == nil {
		return []netip.Addr{a}, nil
	}
	if l == nil {
		l = func(ctx context.Context, name string) ([]netip.Addr, error) {
			return net.DefaultResolver.LookupNetIP(ctx, "ip", name)
		}
	}
	out, err := l(ctx, name)
	return out, errs.Wrap(errs.UpstreamUnavailable, err, errs.Clip(name)+" has no address", "")
}
