package app

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"macaron/internal/auth"
	"macaron/internal/backend/backendtest"
	"macaron/internal/clock"
	"macaron/internal/config"
	"macaron/internal/errs"
	"macaron/internal/ids"
	"macaron/internal/obs"
)

// selfSigned writes a certificate for macaron.example.org and its key.
func selfSigned(t *testing.T, dir string, serial int64) (cert, key string) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := x509.Certificate{
		SerialNumber: big.NewInt(serial), Subject: pkix.Name{CommonName: "macaron"}, DNSNames: []string{"macaron.example.org"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), IPAddresses: []net.IP{net.ParseIP("127.0.0.1")},
		IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, &template, &template, &private.PublicKey, private)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	cert, key = filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	for path, block := range map[string]*pem.Block{cert: {Type: "CERTIFICATE", Bytes: der}, key: {Type: "PRIVATE KEY", Bytes: secret}} {
		if err := os.WriteFile(path, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return cert, key
}

func TestTLS(t *testing.T) {
	cfg := settings(t, t.TempDir())
	dir := t.TempDir()
	cfg.Door.Cert, cfg.Door.CertKey = selfSigned(t, dir, 1)
	m := &auth.Manager{Store: auth.OpenFile(cfg.Home), IDs: ids.NewSource(clock.System{}, nil), Now: clock.System{}.Now}
	_, secret, err := m.Create(t.Context(), auth.Key{Tenant: "acme", Scopes: []auth.Scope{auth.Chat}})
	if err != nil {
		t.Fatal(err)
	}
	a, err := New(cfg, Options{Log: obs.Discard(), Generator: &backendtest.Scripted{}})
	if err != nil {
		t.Fatal(err)
	}
	s := serve(t, a)
	cfg.Listen = s.base[len("http://"):]

	// The program's own client takes the configured certificate and shows the key.
	cfg.Key = "no key"
	base, own, err := Self(cfg)
	if err != nil || base != "https://"+cfg.Listen {
		t.Fatalf("%s %v", base, err)
	}
	get := func(c *http.Client) int {
		resp, err := c.Get(base + "/v1/models")
		c.CloseIdleConnections()
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		if resp.TLS == nil || resp.TLS.Version < tls.VersionTLS12 {
			t.Errorf("the connection is %+v", resp.TLS)
		}
		return resp.StatusCode
	}
	if code := get(own); code != http.StatusUnauthorized {
		t.Errorf("a wrong key gives %d", code)
	}
	cfg.Key = config.Secret(secret)
	if _, own, err = Self(cfg); err != nil {
		t.Fatal(err)
	}
	if code := get(own); code != http.StatusOK {
		t.Errorf("the right key gives %d", code)
	}

	// Others do not trust it; plain requests and old versions are refused.
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	var unknown x509.UnknownAuthorityError
	if _, err := (&http.Client{Transport: transport}).Get(base + "/healthz"); !errors.As(err, &unknown) {
		t.Errorf("got %v", err)
	}
	if resp, err := s.http.Get(s.base + "/healthz"); err == nil {
		resp.Body.Close()
		if resp.StatusCode != http.StatusBadRequest {
			t.Errorf("a plain request gives %d", resp.StatusCode)
		}
	}
	if c, err := tls.Dial("tcp", cfg.Listen, &tls.Config{InsecureSkipVerify: true, MaxVersion: tls.VersionTLS11}); err == nil {
		c.Close()
		t.Error("TLS 1.1 was spoken")
	}
}

// A renewed certificate is shown without a restart; a broken one leaves the one before.
func TestCertificatesAreReadAgain(t *testing.T) {
	dir := t.TempDir()
	cert, key := selfSigned(t, dir, 1)
	var told []error
	c := &certificate{cert: cert, key: key, warn: func(err error) { told = append(told, err) }}
	if err := c.load(); err != nil {
		t.Fatal(err)
	}
	serial := func() int64 {
		c.looked = c.looked.Add(-time.Hour)
		pair, err := c.get(nil)
		if err != nil {
			t.Fatal(err)
		}
		leaf, err := x509.ParseCertificate(pair.Certificate[0])
		if err != nil {
			t.Fatal(err)
		}
		return leaf.SerialNumber.Int64()
	}
	later := func(path string, n time.Duration) {
		if err := os.Chtimes(path, time.Time{}, time.Now().Add(n)); err != nil {
			t.Fatal(err)
		}
	}
	selfSigned(t, dir, 2)
	later(cert, time.Minute)
	if got := serial(); got != 2 || len(told) != 0 {
		t.Errorf("serial %d, told %v", got, told)
	}
	if err := os.WriteFile(cert, []byte("no PEM"), 0o600); err != nil {
		t.Fatal(err)
	}
	later(cert, 2*time.Minute)
	if got := serial(); got != 2 || len(told) != 1 {
		t.Errorf("serial %d, told %v", got, told)
	}
	if got := serial(); got != 2 || len(told) != 1 {
		t.Errorf("told again: %v", told)
	}
}

func TestAWrongCertificateIsToldAtTheStart(t *testing.T) {
	cfg := settings(t, t.TempDir())
	cfg.Door.Cert, cfg.Door.CertKey = "/no/cert.pem", "/no/key.pem"
	if _, err := New(cfg, Options{Log: obs.Discard(), Generator: &backendtest.Scripted{}}); errs.CodeOf(err) != errs.InvalidRequest {
		t.Errorf("got %v", err)
	}
}
