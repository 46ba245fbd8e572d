package config

import (
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"

	"macaron/internal/errs"
)

// defaultHome is the user's data directory.
func defaultHome(env func(string) (string, bool)) string {
	if d, ok := nonEmpty(env, "XDG_DATA_HOME"); ok && filepath.IsAbs(d) {
		return filepath.Join(d, "macaron")
	}
	home, ok := nonEmpty(env, "HOME")
	if !ok {
		return ""
	}
	if runtime.GOOS == "darwin" {
		return filepath.Join(home, "Library", "Application Support", "macaron")
	}
	return filepath.Join(home, ".local", "share", "macaron")
}

// finish fills what depends on other values and checks what they mean together.
func (c *Config) finish(home string) error {
	c.Home = home
	c.values["home"] = home
	if c.Contract == "" {
		c.Contract = defaultContract(home)
		c.values["contract"], c.origins["contract"] = c.Contract, FromDefault
	}
	if err := c.finishStore(); err != nil {
		return err
	}
	if err := checkListen(c.Listen); err != nil {
		return err
	}
	if err := c.checkDoor(); err != nil {
		return err
	}
	if c.Upstream.URL != "" {
		return c.checkUpstream()
	}
	return nil
}

func defaultContract(home string) string {
	if _, err := os.Stat("macaron.toml"); err == nil {
		return "macaron.toml"
	}
	return filepath.Join(home, "macaron.toml")
}

// checkListen refuses what is no address. Whether one beyond this machine may be served is
// for those who know the keys.
func checkListen(addr string) error {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return errs.New(errs.InvalidRequest, fmt.Sprintf("the address %q is not host:port", addr), "use one such as 127.0.0.1:8080").In("listen")
	}
	if n, err := strconv.Atoi(port); err != nil || n < 0 || n > 65535 {
		return errs.New(errs.InvalidRequest, fmt.Sprintf("the port %q is not a number from 0 to 65535", port), "set PORT to a free port").In("listen")
	}
	if host == "" || host == "localhost" || net.ParseIP(host) != nil {
		return nil
	}
	return errs.New(errs.InvalidRequest, fmt.Sprintf("%q is not an IP address of this machine", host), "use 127.0.0.1, or 0.0.0.0 for all").In("listen")
}

// Loopback reports whether only this machine can reach the listener.
func (c Config) Loopback() bool {
	host, _, err := net.SplitHostPort(c.Listen)
	ip := net.ParseIP(host)
	return err == nil && (host == "localhost" || ip != nil && ip.IsLoopback())
}

// Scheme is what the listener's address begins with.
func (c Config) Scheme() string {
	if c.Door.Cert != "" {
		return "https://"
	}
	return "http://"
}

func (c *Config) checkDoor() error {
	if (c.Door.Cert == "") == (c.Door.CertKey == "") {
		return nil
	}
	return errs.New(errs.InvalidRequest, "of tls_cert and tls_key only one is set", "set both, or none").In("tls_cert")
}

// hostName takes a name or address without a port.
func hostName(s string) error {
	if s == "" || len(s) > 253 || strings.ContainsAny(s, "/:@?# *") && net.ParseIP(s) == nil {
		return fmt.Errorf("%q is not the name of a host, without a port", s)
	}
	return nil
}

// mediaHost takes a name, with a port where it is not the web's own, or *.
func mediaHost(s string) error {
	name := s
	if host, _, err := net.SplitHostPort(s); err == nil {
		name = host
	}
	if s == "*" || hostName(name) == nil && s == strings.ToLower(s) {
		return nil
	}
	return fmt.Errorf("%q is neither * nor a host such as img.example.org or 10.0.0.7:8080", s)
}

// origin takes what a browser sends in Origin: scheme, host and port, and nothing else.
func origin(s string) error {
	u, err := url.Parse(s)
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" || s != u.Scheme+"://"+u.Host || s != strings.ToLower(s) || strings.Contains(s, "*") {
		return fmt.Errorf("%q is not an origin such as https://app.example.org", s)
	}
	return nil
}

func (c *Config) checkUpstream() error {
	if len(c.Servers) > 0 {
		return errs.New(errs.InvalidRequest, "both upstream.url and [[engines]] are set", "keep one of them").In("upstream.url")
	}
	if err := checkURL(c.Upstream.URL); err != nil {
		return errs.New(errs.InvalidRequest, "the upstream's "+err.Error(), "correct upstream.url; its key is in upstream.key_file").In("upstream.url")
	}
	c.Upstream.URL = strings.TrimRight(c.Upstream.URL, "/")
	return nil
}

func limited(r io.Reader) io.Reader { return io.LimitReader(r, maxFile+1) }

// readKey reads a credential at start, so that a missing file is told at once.
func readKey(path string) (Secret, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", fmt.Errorf("the key file cannot be read: %w", err)
	}
	defer f.Close()
	b, err := io.ReadAll(limited(f))
	if err != nil {
		return "", fmt.Errorf("the key file cannot be read: %w", err)
	}
	key := strings.TrimSpace(string(b))
	if key == "" || len(key) > 4096 || strings.ContainsAny(key, "\r\n\x00 ") {
		return "", fmt.Errorf("the key file must hold one key of at most 4096 characters")
	}
	return Secret(key), nil
}
