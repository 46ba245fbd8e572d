package app

import (
	"context"
	"net/http"
	"strconv"
	"time"

	"macaron/internal/auth"
	"macaron/internal/config"
	"macaron/internal/errs"
	"macaron/internal/limits"
)

// openKeys reads the keys, and refuses to serve other machines without any.
func (a *App) openKeys(opts Options) error {
	ctx := context.Background()
	var err error
	a.keys, err = auth.NewKeyring(ctx, auth.OpenFile(a.cfg.Home), a.clock, a.store, func(err error) { a.log.Error("keys", "err", err) })
	if err != nil {
		return err
	}
	if a.private = opts.Key != ""; a.private {
		a.keys.Lend(opts.Key.Reveal())
	}
	if err := CheckAddress(a.cfg, a.keys.Required(ctx)); err != nil {
		return err
	}
	a.keepUsage()
	return a.openDoor()
}

// CheckAddress refuses to serve other machines without asking for keys.
func CheckAddress(cfg config.Config, keys bool) error {
	if keys || cfg.Loopback() {
		return nil
	}
	return errs.New(errs.InvalidRequest, "the address "+cfg.Listen+" can be reached from other machines, and there are no keys",
		"make one with `macaron key create`, or listen on 127.0.0.1").In("listen")
}

// saving is how often the ledger is told what keys have used; a kill loses so much of it.
const saving = 250 * time.Millisecond

// keepUsage tells the ledger what the keys have used, again and again and at the end.
func (a *App) keepUsage() {
	failed := false
	a.onClose(func() error { return a.keys.Flush(a.clock.Now(), true) })
	a.inBackground(saving, func(context.Context) {
		err := a.keys.Flush(a.clock.Now(), false)
		if err != nil && !failed {
			a.log.Error("what keys have used cannot be written down; this process counts on by itself", "err", err)
		}
		failed = err != nil
	})
}

// openDoor sets up who may come in beside those with a key.
func (a *App) openDoor() (err error) {
	d := a.cfg.Door
	a.most = d.Connections
	a.door.Store(doorOf(a.cfg))
	if d.Cert != "" {
		a.tls, err = loadCertificate(d.Cert, d.CertKey, func(err error) {
			a.log.Error("the changed certificate cannot be used; the one before stays in force", "err", err)
		})
	}
	return err
}

func doorOf(c config.Config) *door {
	d := &door{anyHost: !c.Loopback() && len(c.Door.Hosts) == 0, hosts: map[string]bool{}, origins: map[string]bool{}}
	for _, h := range c.Door.Hosts {
		d.hosts[hostOf(h)] = true
	}
	for _, o := range c.Door.Origins {
		d.origins[o] = true
	}
	return d
}

// authenticate finds out for whom a request acts, before anything is looked up for it, and puts it
// into its context. What stands in no line of the table asks for a key too: who has none does not
// learn what there is.
func (a *App) authenticate(mux *http.ServeMux, scopes map[string]auth.Scope) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, pattern := mux.Handler(r)
		scope, ok := scopes[pattern]
		if !ok {
			scope = auth.Any
		}
		if scope == auth.Public {
			mux.ServeHTTP(w, r)
			return
		}
		p, err := a.admit(w, r, scope)
		if err != nil {
			if errs.CodeOf(err) == errs.Unauthenticated {
				w.Header().Set("WWW-Authenticate", "Bearer")
			}
			a.fail(w, err)
			return
		}
		mux.ServeHTTP(w, r.WithContext(auth.With(r.Context(), p)))
	})
}

func (a *App) admit(w http.ResponseWriter, r *http.Request, scope auth.Scope) (auth.Principal, error) {
	p, err := a.keys.Authenticate(r.Context(), r.Header)
	if err != nil {
		return p, err
	}
	if rec, ok := w.(*recorder); ok {
		rec.who = p
	}
	left, err := p.Request(a.clock.Now())
	rateHeaders(w.Header(), left)
	if err == nil && !p.Can(scope) {
		err = errs.New(errs.Forbidden, "this key has no scope "+string(scope), "use a key that has it")
	}
	if err != nil {
		return p, err
	}
	return p.As(r.Header.Get(auth.UserHeader))
}

// rateHeaders tells a client what it may still take, in the words of OpenAI's API.
func rateHeaders(h http.Header, l limits.Left) {
	set := func(kind string, most, left int64, reset time.Duration) {
		if most > 0 {
			h.Set("X-Ratelimit-Limit-"+kind, strconv.FormatInt(most, 10))
			h.Set("X-Ratelimit-Remaining-"+kind, strconv.FormatInt(max(left, 0), 10))
			h.Set("X-Ratelimit-Reset-"+kind, reset.Round(time.Millisecond).String())
		}
	}
	set("Requests", l.Quota.Requests, l.Requests, l.ResetRequests)
	set("Tokens", l.Quota.Tokens, l.Tokens, l.ResetTokens)
}
