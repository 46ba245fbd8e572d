package builtin

import (
	"context"
	"fmt"
	"net"
	"net/netip"

	"macaron/internal/errs"
	"macaron/internal/reach"
)

// Network is how tools reach servers.
type Network struct {
	Allowed []netip.Prefix // private networks that the operator opens to tools
	Lookup  reach.Lookup   // nil: the system's resolver
}

// dial connects to a server at a public address, or at one that the operator has opened.
func (n Network) dial(ctx context.Context, network, target string) (net.Conn, error) {
	name, _, _ := net.SplitHostPort(target) // what is none, is refused there
	return n.Lookup.Dial(ctx, network, target, func(a netip.Addr) bool { return reach.Public(a) || reach.Among(n.Allowed, a) },
		errs.New(errs.Forbidden, fmt.Sprintf("%s is at an address of this machine or of a private network", errs.Clip(name)), "the operator can open networks to tools: tools.networks in config.toml"))
}
