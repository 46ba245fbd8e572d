package app

import (
	"net/http"

	"macaron/internal/mint"
	"macaron/internal/mint/pass"
	"macaron/internal/wire/tinker"
)

// passing is the handler of the training service, behind what goes on to backends elsewhere
// if there are any.
func (a *App) passing(d tinker.Deps, s *mint.Service, published mint.Publisher) (http.Handler, error) {
	if len(a.cfg.Mint.Backends) == 0 {
		a.mint.lists.Store(&d.Service)
		return tinker.Handler(d), nil
	}
	o := pass.Options{Table: a.store.Mint(), Local: s, Wire: tinker.Relay{}, Publisher: published, Owner: d.Owner, Clock: a.clock, IDs: a.ids, Log: a.log, Stop: d.Stop}
	for _, b := range a.cfg.Mint.Backends {
		o.Backends = append(o.Backends, pass.Backend{Name: b.Name, Bases: b.Bases, URL: b.URL, Key: string(b.Key), Dialect: pass.Dialect(b.Dialect), Timeout: b.Timeout, Archives: b.Archives})
	}
	p, err := pass.Open(o)
	if err != nil {
		return nil, err
	}
	a.mint.pass.Store(p)
	d.Service = pass.Service{Service: s, Pass: p}
	a.mint.lists.Store(&d.Service)
	return p.Handler(tinker.Handler(d)), nil
}
