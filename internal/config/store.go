package config

import (
	"fmt"
	"net/url"
	"strings"

	"macaron/internal/errs"
)

// Store says where the record log is kept.
type Store struct {
	URL     Secret // postgres://...; "" is the SQLite file in home
	Display string // URL without its password

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
