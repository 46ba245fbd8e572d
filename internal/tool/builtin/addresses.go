package builtin

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"time"

	"macaron/internal/errs"
)

// refused are the networks that no tool reaches unless the operator says so: this machine,
// private networks, metadata services of clouds, and addresses that carry another address
// inside. The registries are IANA's special-purpose ones (RFC 6890 and what updates it).
var refused = prefixes(
	"0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24", "192.0.2.0/24",
	"192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4",
	"2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20",
)

// global is where public IPv6 addresses lie; all else is refused, such as fc00::/7,
// fe80::/10, ::1 and 64:ff9b::/96.
var global = netip.MustParsePrefix("2000::/3")

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
	return a.IsValid() && a.Zone() == "" && (a.Is4() || global.Contains(a)) && !among(refused, a)
}

func among(list []netip.Prefix, a netip.Addr) bool {
	for _, p := range list {
		if p.Contains(a) {
			return true
		}
	}
	return false
}

// Network is how tools reach servers.
type Network struct {
	Allowed []netip.Prefix                                               // private networks that the operator opens to tools
	Lookup  func(ctx context.Context, name string) ([]netip.Addr, error) // nil: the system's resolver
}

// dial connects to a server by one of its addresses, each of which is checked here, after
// its name was resolved: what a name meant a moment ago does not matter.
func (n Network) dial(ctx context.Context, network, target string) (net.Conn, error) {
	name, port, err := net.SplitHostPort(target)
	if err != nil {
		return nil, err
	}
	addresses, err := n.resolve(ctx, name)
	if err != nil {
		return nil, err
	}
	last := error(errs.New(errs.Forbidden, fmt.Sprintf("%s is at an address of this machine or of a private network", errs.Clip(name)), "the operator can open networks to tools: tools.networks in config.toml"))
	for _, a := range addresses {
		if a = a.Unmap(); !Public(a) && !among(n.Allowed, a) {
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

func (n Network) resolve(ctx context.Context, name string) ([]netip.Addr, error) {
	if a, err := netip.ParseAddr(name); err == nil {
		return []netip.Addr{a}, nil
	}
	lookup := n.Lookup
	if lookup == nil {
		lookup = func(ctx context.Context, name string) ([]netip.Addr, error) {
			return net.DefaultResolver.LookupNetIP(ctx, "ip", name)
		}
	}
	out, err := lookup(ctx, name)
	return out, errs.Wrap(errs.UpstreamUnavailable, err, errs.Clip(name)+" has no address", "")
}
