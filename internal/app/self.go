package app

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"net"
	"net/http"
	"os"

	"macaron/internal/config"
	"macaron/internal/errs"
)

// Self gives the address of the server that these settings describe, and a client for it that
// shows the configured key there and nowhere else. Of a TLS server it takes the configured
// certificate alone, whoever signed it and whatever name is in it.
func Self(cfg config.Config) (string, *http.Client, error) {
	host, port, err := net.SplitHostPort(cfg.Listen)
	if err != nil {
		return "", nil, errs.Wrap(errs.InvalidRequest, err, "the address "+cfg.Listen+" is not host:port", "")
	}
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		host = "127.0.0.1"
	}
	transport, base := &http.Transport{}, cfg.Scheme()+net.JoinHostPort(host, port)
	if cfg.Door.Cert != "" {
		if transport.TLSClientConfig, err = pinned(cfg.Door.Cert); err != nil {
			return "", nil, err
		}
	}
	client := &http.Client{
		Transport:     withKey{transport, cfg.Key},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return base, client, nil
}

// pinned accepts the certificate in a file, and no other.
func pinned(path string) (*tls.Config, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, errs.Wrap(errs.InvalidRequest, err, "the certificate "+path+" cannot be read", "correct tls_cert")
	}
	block, _ := pem.Decode(b)
	if block == nil {
		return nil, errs.New(errs.InvalidRequest, path+" has no certificate in it", "correct tls_cert")
	}
	return &tls.Config{
		MinVersion: tls.VersionTLS12, InsecureSkipVerify: true, // replaced by the comparison below
		VerifyPeerCertificate: func(raw [][]byte, _ [][]*x509.Certificate) error {
			if len(raw) == 0 || !bytes.Equal(raw[0], block.Bytes) {
				return errors.New("the server shows another certificate than tls_cert")
			}
			return nil
		},
	}, nil
}

// withKey shows a key with each request.
type withKey struct {
	*http.Transport
	key config.Secret
}

// RoundTrip implements http.RoundTripper.
func (t withKey) RoundTrip(r *http.Request) (*http.Response, error) {
	if t.key != "" {
		r = r.Clone(r.Context())
		r.Header.Set("Authorization", "Bearer "+t.key.Reveal())
	}
	return t.Transport.RoundTrip(r)
}
