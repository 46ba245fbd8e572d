package config

import (
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"

	"macaron/internal/errs"
)

// Store says where the record log is kept, and for how long.
type Store struct {
	URL     Secret // postgres://...; "" is the SQLite file in home
	Display string // URL without its password
	Keep    time.Duration
	Tenants map[string]time.Duration // those that are kept for another time than Keep

	Password Secret // from a file; in URL already
}

// setStore reads "sqlite" or a Postgres URL. Errors do not repeat the URL, which may
// carry a password.
func setStore(c *Config, v string) error {
	if v == "sqlite" {
		c.Store.URL, c.Store.Display = "", v
		return nil
	}
	u, err := url.Parse(v)
	if err != nil || u.Scheme != "postgres" && u.Scheme != "postgresql" || strings.Trim(u.Path, "/") == "" {
		return fmt.Errorf("it must be sqlite, or a URL such as postgres://user@host:5432/database")
	}
	c.Store.URL = Secret(v)
	return nil
}

// finishStore puts the password of a file into the URL, and takes it out of what is shown.
func (c *Config) finishStore() error {
	if c.Store.URL == "" {
		return nil
	}
	u, err := url.Parse(c.Store.URL.Reveal())
	if err != nil {
		return errs.New(errs.InvalidRequest, "the store is not a URL", "use one such as postgres://user@host:5432/database").In("store")
	}
	if c.Store.Password != "" {
		u.User = url.UserPassword(u.User.Username(), c.Store.Password.Reveal())
		c.Store.URL = Secret(u.String())
	}
	if q := u.Query(); q.Has("password") {
		q.Set("password", "xxxxx")
		u.RawQuery = q.Encode()
	}
	c.Store.Display = u.Redacted()
	c.values["store"] = c.Store.Display
	return nil
}

const day = 24 * time.Hour

// days reads a number of days; 0 keeps for ever.
func days(v string) (time.Duration, error) {
	n, err := strconv.ParseUint(v, 10, 32)
	if err != nil || n > 36500 {
		return 0, fmt.Errorf("it must be a whole number of days from 0 (for ever) to 36500")
	}
	return time.Duration(n) * day, nil
}

func setKeep(c *Config, v string) (err error) {
	c.Store.Keep, err = days(v)
	return err
}

func setTenants(c *Config, v string) error {
	c.Store.Tenants = map[string]time.Duration{}
	for _, pair := range strings.Split(v, ",") {
		at := strings.LastIndexByte(pair, '=')
		if at < 1 {
			return fmt.Errorf("it must be tenant=days pairs separated by commas")
		}
		keep, err := days(strings.TrimSpace(pair[at+1:]))
		if err != nil {
			return err
		}
		c.Store.Tenants[strings.TrimSpace(pair[:at])] = keep
	}
	return nil
}
