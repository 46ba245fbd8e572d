package pass

import (
	"encoding/json"
	"math"
	"net/http"
	"strings"
	"time"

	"macaron/internal/mint"
	"macaron/internal/mint/ledger"
)

// settle answers with the outcome of an operation that made something: what was made gets a
// name here, and the outcome is kept with that name in it, before the client hears of it.
func (p *Pass) settle(c *call, b *peer, r ledger.Remote, f facts, got map[string]json.RawMessage) error {
	var there struct {
		Model   string `json:"model_id"`
		Sampler string `json:"sampling_session_id"`
		Path    string `json:"path"`
	}
	if err := json.Unmarshal(join(got), &there); err != nil {
		return err
	}
	if there.Model != "" {
		if f.Op == mint.OpCreate || f.Op == mint.OpLoad {
			if err := p.named(c.ctx(), c.owner, b, r.Session, there.Model, f); err != nil {
				return err
			}
		}
		got["model_id"] = text(f.Model)
	}
	if there.Sampler != "" && f.Sampler != "" {
		if err := p.put(c.ctx(), c.owner, ledger.RemoteSampler, f.Sampler, b, there.Sampler, r.Session, facts{Base: p.baseOf(c, f.Model), Model: f.Model}); err != nil {
			return err
		}
		got["sampling_session_id"] = text(f.Sampler)
	}
	if there.Path != "" {
		path, err := p.saved(c, b, r, f, there.Path)
		if err != nil {
			return err
		}
		got["path"] = text(path)
	}
	f.Final = join(got)
	if err := p.keep(c.ctx(), r, f); err != nil {
		return err
	}
	return p.send(c, http.StatusOK, f.Final)
}

// baseOf is the base of a remote model.
func (p *Pass) baseOf(c *call, model string) string {
	r, _, ok, err := p.find(c.ctx(), c.owner, ledger.RemoteModel, model)
	if err != nil || !ok {
		return ""
	}
	f, err := factsOf(r)
	if err != nil {
		return ""
	}
	return f.Base
}

// saved gives the path here of what a backend has saved, or has loaded.
func (p *Pass) saved(c *call, b *peer, r ledger.Remote, f facts, there string) (string, error) {
	if f.Op == mint.OpLoad {
		return f.Path, nil
	}
	if f.Sampler != "" && !strings.Contains(there, "/") {
		return there, nil
	}
	path, kind, err := localPath(f.Model, f.Op, there)
	if err != nil {
		return "", err
	}
	model, _, _, err := p.find(c.ctx(), c.owner, ledger.RemoteModel, f.Model)
	if err != nil {
		return "", err
	}
	of, err := factsOf(model)
	if err != nil {
		return "", err
	}
	check := facts{Model: f.Model, Base: of.Base, Rank: of.Rank, Path: of.Path, Expires: p.expiry(f.TTL)}
	row, err := p.row(c.owner, ledger.RemoteCheckpoint, path, b, there, r.Session, check)
	if err != nil {
		return "", err
	}
	if kind == mint.Sampling {
		row.State = ledger.Due
	}
	if err := p.o.Table.PutRemotes(c.ctx(), []ledger.Remote{row}); err != nil {
		return "", err
	}
	p.woken()
	return path, nil
}

// expiry is when what is saved now with a time to live is gone.
func (p *Pass) expiry(seconds int64) time.Time {
	if seconds <= 0 || seconds > int64(math.MaxInt64/time.Second) {
		return time.Time{}
	}
	return p.o.Clock.Now().UTC().Add(time.Duration(seconds) * time.Second)
}

// woken lets the fetcher look.
func (p *Pass) woken() {
	select {
	case p.wake <- struct{}{}:
	default:
	}
}
