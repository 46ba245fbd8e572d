package app

import (
	"crypto/tls"
	"os"
	"sync"
	"time"

	"macaron/internal/errs"
)

// certificate is the server's certificate, read again when its files change; what cannot be used
// leaves the one before in force.
type certificate struct {
	cert, key string
	warn      func(error)

	mu     sync.Mutex
	looked time.Time
	mark   string
	now    *tls.Certificate
}

// loadCertificate reads the files, so that a wrong path is told at the start.
func loadCertificate(cert, key string, warn func(error)) (*tls.Config, error) {
	c := &certificate{cert: cert, key: key, warn: warn}
	if err := c.load(); err != nil {
		return nil, err
	}
	return &tls.Config{MinVersion: tls.VersionTLS12, GetCertificate: c.get}, nil
}

func (c *certificate) load() error {
	c.looked, c.mark = time.Now(), c.marks()
	pair, err := tls.LoadX509KeyPair(c.cert, c.key)
	if err != nil {
		return errs.Wrap(errs.InvalidRequest, err, "the certificate "+c.cert+" with the key "+c.key+" cannot be used", "set tls_cert and tls_key to PEM files that belong together")
	}
	c.now = &pair
	return nil
}

func (c *certificate) get(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if time.Since(c.looked) < time.Second {
		return c.now, nil
	}
	if c.looked = time.Now(); c.marks() != c.mark {
		if err := c.load(); err != nil {
			c.warn(err)
		}
	}
	return c.now, nil
}

func (c *certificate) marks() string {
	m := ""
	for _, path := range []string{c.cert, c.key} {
		if info, err := os.Stat(path); err == nil {
			m += info.ModTime().String() + info.Name()
		}
	}
	return m
}
