package doctor

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"macaron/internal/config"
	"macaron/internal/errs"
	"macaron/internal/store/postgres"
)

// checkSecrecy looks at who can read what is in the home, and the files with credentials.
func checkSecrecy(c config.Config) finding {
	var open []string
	look := func(path string, most fs.FileMode) {
		if info, err := os.Stat(path); err == nil && info.Mode().Perm()&^most != 0 {
			open = append(open, fmt.Sprintf("%s (%o)", path, info.Mode().Perm()))
		}
	}
	look(c.Home, 0o700)
	for _, path := range c.SecretFiles() {
		look(path, 0o640) // a group may be how a service gets it
	}
	if len(open) > 0 {
		return note("secrecy", "others on this machine may read "+strings.Join(open, ", "), "chmod 700 the directory, and 600 the files")
	}
	return ok("secrecy", "nobody else may read %s", c.Home)
}

// skewed is how far clocks may be apart: the leases of summaries and open turns are kept by them.
const skewed = 30 * time.Second

func checkSkew(db postgres.Server) finding {
	if db.Ahead.Abs() > skewed {
		return problem("clock", errs.New(errs.StorageFailed, fmt.Sprintf("the clock of %s is %s ahead of this machine's", db.Name, db.Ahead.Round(time.Second)),
			"set the clocks, with NTP: leases in the log are kept by them"))
	}
	return ok("clock", "within %s of the database's", skewed)
}

// checkClock compares the clock with the newest file of the home, which it wrote itself.
func checkClock(c config.Config) finding {
	var newest time.Time
	for _, name := range []string{"log.db", "log.db-wal", "keys/keys.toml"} {
		if info, err := os.Stat(filepath.Join(c.Home, name)); err == nil && info.ModTime().After(newest) {
			newest = info.ModTime()
		}
	}
	if back := time.Until(newest); back > skewed {
		return note("clock", fmt.Sprintf("it is %s behind the newest file of the home", back.Round(time.Second)), "set it, with NTP: until then records stand before older ones, and leases do not end")
	}
	return ok("clock", "%s", time.Now().UTC().Format(time.RFC3339))
}

// soon is how long before its end a certificate is told of.
const soon = 21 * 24 * time.Hour

// checkCertificate looks at the certificate that the listener shows.
func checkCertificate(c config.Config) []finding {
	if c.Door.Cert == "" {
		return nil
	}
	const advice = "set tls_cert and tls_key to PEM files that belong together"
	pair, err := tls.LoadX509KeyPair(c.Door.Cert, c.Door.CertKey)
	if err != nil {
		return []finding{problem("tls", errs.Wrap(errs.InvalidRequest, err, "the certificate "+c.Door.Cert+" cannot be used: "+err.Error(), advice))}
	}
	leaf, err := x509.ParseCertificate(pair.Certificate[0])
	if err != nil {
		return []finding{problem("tls", errs.Wrap(errs.InvalidRequest, err, "the certificate "+c.Door.Cert+" cannot be read", advice))}
	}
	out := []finding{checkDates(c.Door.Cert, leaf, time.Now())}
	for _, h := range c.Door.Hosts {
		if err := leaf.VerifyHostname(h); err != nil {
			out = append(out, note("tls", fmt.Sprintf("the certificate is not for %s, which is in hosts", h), "have a certificate made that names it"))
		}
	}
	return out
}

func checkDates(path string, leaf *x509.Certificate, now time.Time) finding {
	until, renew := leaf.NotAfter.UTC().Format(time.RFC3339), "renew it; a running server takes the new file up by itself"
	switch {
	case now.After(leaf.NotAfter):
		return problem("tls", errs.New(errs.InvalidRequest, "the certificate "+path+" ended at "+until, renew))
	case now.Before(leaf.NotBefore):
		return problem("tls", errs.New(errs.InvalidRequest, "the certificate "+path+" does not begin before "+leaf.NotBefore.UTC().Format(time.RFC3339), "set the clock, or use another"))
	case leaf.NotAfter.Sub(now) < soon:
		return note("tls", "the certificate "+path+" ends at "+until, renew)
	}
	return ok("tls", "%s, until %s", path, until)
}

// checkStrays finds what looks like a setting and is read by nobody, most often a mistyped name.
func checkStrays(c config.Config) []finding {
	strays := c.Strays()
	if len(strays) == 0 {
		return nil
	}
	return []finding{note("environment", "nobody reads "+strings.Join(strays, ", "), "macaron config show lists the settings; docs/formats/config.md has their variables")}
}
