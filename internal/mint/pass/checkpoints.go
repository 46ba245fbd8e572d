package pass

import (
	"encoding/json"
	"net/http"
	"strings"

	"macaron/internal/errs"
	"macaron/internal/mint/ledger"
)

// checkpoint serves what is asked of a checkpoint that is at a backend; rest is its id, and
// what is asked.
func (p *Pass) checkpoint(c *call, run, rest string) (bool, error) {
	parts := strings.SplitN(rest, "/", 3)
	if len(parts) < 2 {
		return false, nil
	}
	action := ""
	if len(parts) == 3 {
		action = "/" + parts[2]
	}
	r, b, ok, err := p.find(c.ctx(), c.owner, ledger.RemoteCheckpoint, scheme+run+"/"+parts[0]+"/"+parts[1])
	if err != nil || !ok {
		return false, err
	}
	switch c.r.Method + action {
	case "DELETE", "PUT/ttl", "GET/archive", "GET/external_weights_urls":
	default:
		return true, errs.New(errs.Unsupported, "this is not done with a checkpoint that is at a backend elsewhere", "delete it, set its TTL, or download it")
	}
	path, err := place(r.There)
	if err != nil {
		return true, err
	}
	if c.r.Method == http.MethodPut {
		if c.body, _, err = p.o.Wire.Body(c.r); err != nil {
			return true, err
		}
	}
	ctx, done := b.within(c.ctx())
	defer done()
	a, err := b.ask(ctx, c.r.Method, path+action, c.body, false, c.r.Header)
	if err != nil {
		return true, err
	}
	if c.r.Method == http.MethodDelete && (a.status/100 == 2 || a.status == http.StatusNotFound) {
		if err := p.o.Table.DropRemote(c.ctx(), c.owner, ledger.RemoteCheckpoint, r.ID); err != nil {
			return true, err
		}
	}
	if c.r.Method == http.MethodPut && a.status/100 == 2 {
		if err := p.lives(c, r); err != nil {
			return true, err
		}
	}
	for _, name := range []string{"Location", "Expires"} { // of an archive: the address is signed and good without a key
		if v := a.header.Get(name); v != "" && a.status/100 == 3 {
			c.w.Header().Set(name, v)
		}
	}
	return true, p.pass(c, a)
}

// lives notes a new time to live; without one a checkpoint is kept for good.
func (p *Pass) lives(c *call, r ledger.Remote) error {
	var asked struct {
		Seconds int64 `json:"ttl_seconds"`
	}
	if err := json.Unmarshal(c.body, &asked); err != nil {
		return errs.Wrap(errs.InvalidRequest, err, "the body is no JSON", "")
	}
	f, err := factsOf(r)
	if err != nil {
		return err
	}
	f.Expires = p.expiry(asked.Seconds)
	return p.keep(c.ctx(), r, f)
}
