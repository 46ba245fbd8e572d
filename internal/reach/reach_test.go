package reach

import (
	"net/netip"
	"testing"
)

func TestPublicAddresses(t *testing.T) {
	for text, want := range map[string]bool{
		"8.8.8.8": true, "1.1.1.1": true, "2606:4700::1111": true, "93.184.216.34": true,
		"127.0.0.1": false, "127.9.9.9": false, "0.0.0.0": false, "10.0.0.1": false, "172.16.0.1": false, "172.31.255.255": false, "172.32.0.1": true,
		"192.168.1.1": false, "169.254.169.254": false, "100.100.100.200": false, "192.0.0.192": false, "198.18.0.1": false, "224.0.0.1": false, "255.255.255.255": false,
		"::1": false, "::": false, "::ffff:127.0.0.1": false, "::ffff:8.8.8.8": true, "::127.0.0.1": false, "fe80::1": false, "fc00::1": false, "fd00:ec2::254": false,
		"64:ff9b::7f00:1": false, "2002:7f00:1::": false, "2001:0:7f00:1::": false, "2001:db8::1": false, "ff02::1": false, "2606:4700::1%eth0": false,
	} {
		if got := Public(netip.MustParseAddr(text)); got != want {
			t.Errorf("%s: public %v", text, got)
		}
	}
}

// TestPrivateAddresses: metadata services are neither public nor somebody's own network.
func TestPrivateAddresses(t *testing.T) {
	for text, want := range map[string]bool{
		"10.1.2.3": true, "127.0.0.1": true, "192.168.0.9": true, "172.16.3.4": true, "::1": true, "fd12::1": true, "::ffff:10.0.0.1": true,
		"8.8.8.8": false, "169.254.169.254": false, "::ffff:169.254.169.254": false, "100.100.100.200": false, "192.0.0.192": false, "fd00:ec2::254": false, "fe80::1": false,
		"0.0.0.0": false, "224.0.0.1": false, "2606:4700::1": false, "::": false, "fd12::1%eth0": false,
	} {
		if got := Private(netip.MustParseAddr(text)); got != want {
			t.Errorf("%s: private %v", text, got)
		}
	}
}
