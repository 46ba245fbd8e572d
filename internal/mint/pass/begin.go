package pass

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"sync"

	"macaron/internal/errs"
	"macaron/internal/mint"
	"macaron/internal/mint/ledger"
)

func sessionKey(session, backend string) string { return session + "@" + backend }

// session gives the backend's session of one of ours, which begins with its first use.
func (p *Pass) session(ctx context.Context, owner, session string, b *peer) (there string, err error) {
	id := sessionKey(session, b.Name)
	p.mu.Lock()
	one := p.sessions[owner+"\n"+id]
	if one == nil {
		one = &sync.Mutex{}
		p.sessions[owner+"\n"+id] = one
	}
	p.mu.Unlock()
	one.Lock()
	defer one.Unlock()
	r, _, ok, err := p.find(ctx, owner, ledger.RemoteSession, id)
	if ok || err != nil {
		return r.There, err
	}
	ctx, done := b.within(ctx)
	defer done()
	a, err := b.ask(ctx, http.MethodPost, "create_session", []byte(`{"tags":[],"user_metadata":null,"sdk_version":"`+sdkVersion+`","type":"create_session"}`), false, nil)
	if err != nil {
		return "", err
	}
	var made struct {
		ID string `json:"session_id"`
	}
	if a.status/100 != 2 || json.Unmarshal(a.body, &made) != nil || made.ID == "" {
		return "", errs.New(errs.UpstreamFailed, fmt.Sprintf("the backend %s begins no session (%d)", b.Name, a.status), "look at its log")
	}
	return made.ID, p.put(ctx, owner, ledger.RemoteSession, id, b, made.ID, session, facts{})
}

// sdkVersion is the newest SDK whose requests are known here.
const sdkVersion = "0.38.0"

// inSession sends a request with the backend's session in it. A session that the backend has
// forgotten is begun again, once.
func (p *Pass) inSession(c *call, b *peer, session string) (*answer, error) {
	if err := p.o.Local.Heartbeat(c.ctx(), c.owner, session); err != nil {
		return nil, err
	}
	for again := false; ; again = true {
		there, err := p.session(c.ctx(), c.owner, session, b)
		if err != nil {
			return nil, err
		}
		c.members["session_id"] = text(there)
		ctx, done := b.within(c.ctx())
		a, err := b.ask(ctx, http.MethodPost, c.path, c.join(), false, c.r.Header)
		done()
		if err != nil || again || a.status != http.StatusGone && a.status != http.StatusNotFound {
			return a, err
		}
		if err := p.o.Table.DropRemote(c.ctx(), c.owner, ledger.RemoteSession, sessionKey(session, b.Name)); err != nil {
			return nil, err
		}
	}
}

// createModel begins a training run at a backend.
func (p *Pass) createModel(c *call) (bool, error) {
	b := p.bases[c.name("base_model")]
	if b == nil {
		return false, nil
	}
	var lora struct{ Rank int }
	_ = json.Unmarshal(c.members["lora_config"], &lora) // it is the backend's to read; this is for lists
	return true, p.begin(c, b, facts{Op: mint.OpCreate, Base: c.name("base_model"), Rank: lora.Rank, Metadata: c.members["user_metadata"]})
}

// begin passes on what makes a model.
func (p *Pass) begin(c *call, b *peer, f facts) error {
	session, n := c.name("session_id"), c.number("model_seq_id")
	if session == "" || n < 0 {
		return errs.New(errs.InvalidRequest, "session_id or model_seq_id is missing", "").In("model_seq_id")
	}
	f.Model = fmt.Sprintf("%s:train:%d", session, n)
	id := fmt.Sprintf("%s:create:%d", session, n)
	if again, err := p.repeat(c, id); again || err != nil {
		return err
	}
	if _, err := p.o.Local.Model(c.ctx(), c.owner, f.Model); err == nil {
		return errs.New(errs.InvalidRequest, "the session has a model of this number", "number the models of a session 0, 1, 2, ...").In("model_seq_id")
	}
	a, err := p.inSession(c, b, session)
	if err != nil {
		return err
	}
	return p.promised(c, b, id, session, a, f)
}

// load takes a checkpoint into a model of the same backend, or begins a run from it.
func (p *Pass) load(c *call) (bool, error) {
	if c.name("model_id") != "" {
		return p.operate(c)
	}
	r, b, ok, err := p.find(c.ctx(), c.owner, ledger.RemoteCheckpoint, canonical(c.name("path")))
	if err != nil || !ok {
		return false, err
	}
	from, err := factsOf(r)
	if err != nil {
		return true, err
	}
	c.members["path"] = text(r.There)
	delete(c.members, "weights_access_token")
	return true, p.begin(c, b, facts{Op: mint.OpLoad, Base: from.Base, Rank: from.Rank, Metadata: c.members["user_metadata"], Path: r.ID})
}

// createSampler makes a sampler of a base or of a checkpoint at a backend.
func (p *Pass) createSampler(c *call) (bool, error) {
	b, f := p.bases[c.name("base_model")], facts{Base: c.name("base_model")}
	if path := canonical(c.name("model_path")); path != "" {
		r, at, ok, err := p.find(c.ctx(), c.owner, ledger.RemoteCheckpoint, path)
		if err != nil || !ok && b == nil {
			return false, err
		}
		if !ok || b != nil && b != at {
			return true, errs.New(errs.NotFound, "there is no checkpoint "+errs.Clip(path)+" of this base", "").In("model_path")
		}
		from, err := factsOf(r)
		if err != nil {
			return true, err
		}
		b, f.Base, f.Path = at, from.Base, path
		c.members["model_path"] = text(r.There)
	}
	if b == nil {
		return false, nil
	}
	session, n := c.name("session_id"), c.number("sampling_session_seq_id")
	if session == "" || n < 0 {
		return true, errs.New(errs.InvalidRequest, "session_id or sampling_session_seq_id is missing", "").In("sampling_session_seq_id")
	}
	id := fmt.Sprintf("%s:sample:%d", session, n)
	if _, _, ok, err := p.find(c.ctx(), c.owner, ledger.RemoteSampler, id); err != nil || ok {
		if ok {
			err = p.sampling(c, id)
		}
		return true, err
	}
	a, err := p.inSession(c, b, session)
	if err != nil {
		return true, err
	}
	var made struct {
		ID string `json:"sampling_session_id"`
	}
	if a.status/100 != 2 {
		return true, p.pass(c, a)
	}
	if json.Unmarshal(a.body, &made) != nil || made.ID == "" {
		return true, errs.New(errs.UpstreamFailed, "the backend "+b.Name+" answered without a sampling_session_id", "look at the version of that server")
	}
	if err := p.put(c.ctx(), c.owner, ledger.RemoteSampler, id, b, made.ID, session, f); err != nil {
		return true, err
	}
	return true, p.sampling(c, id)
}

func (p *Pass) sampling(c *call, id string) error {
	return p.send(c, http.StatusOK, map[string]string{"type": "create_sampling_session", "sampling_session_id": id})
}
