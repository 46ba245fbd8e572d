package limits

import (
	"testing"

	"macaron/internal/errs"
)

// inside are ways to write an address inside the operator's network, or one that two readers take
// for different hosts.
var inside = []string{
	"http://127.0.0.1/", "http://127.1/", "http://2130706433/", "http://0x7f000001/", "http://0x7f.0.0.1/", "http://0177.0.0.1/", "http://0/", "http://0.0.0.0/",
	"http://localhost/", "http://LOCALHOST./", "http://a.localhost/", "http://localhost.localdomain/", "http://[::1]/", "http://[::]/", "http://[::ffff:127.0.0.1]/",
	"http://[fe80::1%25eth0]/", "http://[fd00::1]/", "http://10.0.0.1/", "http://172.16.0.1/", "http://192.168.1.1/", "http://100.64.0.1/", "http://169.254.169.254/latest/meta-data/",
	"http://metadata.google.internal/", "http://metadata/", "http://engine/v1", "http://db.corp/", "http://printer.local/", "http://1.0.0.127.in-addr.arpa/",
	"https://img.example.org:8443/", "https://img.example.org:22/",
}

var noWeb = []string{
	"", "x", "//img.example.org/a", "file:///etc/passwd", "ftp://img.example.org/", "gopher://x.org:70/_", "javascript:alert(1)", "dict://x.org:11211/", "http:///a", "http:img.example.org",
	"http://user@img.example.org/", "http://img.example.org@127.0.0.1/", "http://img.example.org\\@127.0.0.1/", "http://127。0。0。1/", "http://ⓛocalhost/",
	"http://img.example.org\t/", "http://img.example.org /", "http://img.example.org/\r\nHost: x", "HTTP", "http://%31%32%37.0.0.1 /", "http://[::1", "http://img.example.org:99999999/a b",
}

func TestAddressesInside(t *testing.T) {
	for _, hosts := range []MediaHosts{nil, {"*"}, {"img.example.org", "*"}} {
		for _, a := range append(inside, noWeb[1:]...) {
			if err := hosts.Check("x", a); errs.CodeOf(err) != errs.Unsupported {
				t.Errorf("%q lets the engine fetch from %q: %v", hosts, a, err)
			}
		}
	}
	for _, a := range noWeb {
		if err := WebAddress("x", a); errs.CodeOf(err) != errs.InvalidRequest {
			t.Errorf("%q is taken: %v", a, err)
		}
	}
}

func TestAddressesThatAreAllowed(t *testing.T) {
	for _, x := range []struct {
		hosts MediaHosts
		a     string
		want  bool
	}{
		{nil, "data:image/png;base64,AAAA", true},
		{nil, "https://img.example.org/a.png", false},
		{MediaHosts{"*"}, "https://img.example.org/a.png", true},
		{MediaHosts{"*"}, "https://IMG.example.org.:443/a.png", true},
		{MediaHosts{"img.example.org"}, "http://img.example.org/a.png", true},
		{MediaHosts{"img.example.org"}, "http://other.example.org/a.png", false},
		{MediaHosts{"img.example.org"}, "http://img.example.org.evil.com/a.png", false},
		{MediaHosts{"img.example.org"}, "http://img.example.org:8080/a.png", false},
		{MediaHosts{"10.0.0.7:8080"}, "http://10.0.0.7:8080/a.png", true}, // the operator's own choice
	} {
		if err := x.hosts.Check("x", x.a); (err == nil) != x.want {
			t.Errorf("%q, %s: %v", x.hosts, x.a, err)
		}
	}
}
