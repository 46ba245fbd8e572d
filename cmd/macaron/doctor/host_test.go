package doctor

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"macaron/internal/config"
	"macaron/internal/store/postgres"
)

// certificate writes a certificate for a name and its key, valid from and to so many days from now.
func certificate(t *testing.T, name string, from, to int) (cert, key string) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	days := func(n int) time.Time { return time.Now().Add(time.Duration(n) * 24 * time.Hour) }
	c := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, DNSNames: []string{name}, NotBefore: days(from), NotAfter: days(to)}
	der, err := x509.CreateCertificate(rand.Reader, c, c, private.Public(), private)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	cert, key = filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	for path, block := range map[string]*pem.Block{cert: {Type: "CERTIFICATE", Bytes: der}, key: {Type: "PRIVATE KEY", Bytes: secret}} {
		if err := os.WriteFile(path, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return cert, key
}

func TestCheckCertificate(t *testing.T) {
	for _, c := range []struct {
		from, to     int
		host         string
		status, says string
	}{
		{-1, 90, "a.example", "ok", "until"},
		{-1, 5, "a.example", "note", "ends at"},
		{-9, -1, "a.example", "problem", "ended at"},
		{1, 9, "a.example", "problem", "does not begin"},
		{-1, 90, "b.example", "note", "not for b.example"},
	} {
		cert, key := certificate(t, "a.example", c.from, c.to)
		list := checkCertificate(config.Config{Door: config.Door{Cert: cert, CertKey: key, Hosts: []string{c.host}}})
		if last := list[len(list)-1]; last.Status != c.status || !strings.Contains(last.Detail, c.says) {
			t.Errorf("%+v: %+v", c, list)
		}
	}
	cert, _ := certificate(t, "a.example", -1, 90)
	_, other := certificate(t, "a.example", -1, 90)
	if list := checkCertificate(config.Config{Door: config.Door{Cert: cert, CertKey: other}}); list[0].Status != "problem" {
		t.Errorf("a key of another certificate: %+v", list)
	}
}

func TestCheckClock(t *testing.T) {
	home := t.TempDir()
	path := filepath.Join(home, "log.db")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if f := checkClock(config.Config{Home: home}); f.Status != "ok" {
		t.Errorf("%+v", f)
	}
	later := time.Now().Add(time.Hour)
	if err := os.Chtimes(path, later, later); err != nil {
		t.Fatal(err)
	}
	if f := checkClock(config.Config{Home: home}); f.Status != "note" || !strings.Contains(f.Detail, "behind") {
		t.Errorf("%+v", f)
	}
	for ahead, want := range map[time.Duration]string{time.Second: "ok", -time.Minute: "problem", time.Minute: "problem"} {
		if f := checkSkew(postgres.Server{Ahead: ahead}); f.Status != want {
			t.Errorf("%s ahead: %+v", ahead, f)
		}
	}
}
