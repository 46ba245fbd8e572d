package pass

import (
	"encoding/json"
	"fmt"
	"net/http"

	"macaron/internal/errs"
	"macaron/internal/ids"
	"macaron/internal/mint"
	"macaron/internal/mint/ledger"
)

// ops are the operations by their paths.
var ops = map[string]mint.Op{
	"forward_backward": mint.OpBack, "forward": mint.OpForward, "optim_step": mint.OpStep, "save_weights": mint.OpSave,
	"save_weights_for_sampler": mint.OpSampler, "save_weights_external": mint.OpSampler, "load_weights": mint.OpLoad, "unload_model": mint.OpUnload,
}

// operate passes on an operation of a model.
func (p *Pass) operate(c *call) (bool, error) {
	model, seq := c.name("model_id"), c.number("seq_id")
	if c.proto {
		var err error
		if model, seq, err = p.o.Wire.ModelOf(c.body); err != nil {
			return false, nil // whoever serves it says what is wrong
		}
	}
	r, b, ok, err := p.find(c.ctx(), c.owner, ledger.RemoteModel, model)
	if err != nil || !ok {
		return false, err
	}
	if err := p.o.Local.Heartbeat(c.ctx(), c.owner, r.Session); err != nil {
		return true, err
	}
	f := facts{Op: ops[c.path], Model: model, TTL: max(c.number("ttl_seconds"), 0)}
	id := fmt.Sprintf("%s:%d", model, seq)
	switch {
	case f.Op == mint.OpUnload:
		id = model + ":unload"
	case seq < 1:
		id = model + ":" + p.o.IDs.New(ids.Request)
	}
	if again, err := p.repeat(c, id); again || err != nil {
		return true, err
	}
	if n := c.number("sampling_session_seq_id"); n >= 0 {
		f.Sampler = fmt.Sprintf("%s:sample:%d", r.Session, n)
	}
	if f.Op == mint.OpLoad {
		f.Path = canonical(c.name("path"))
	}
	a, err := p.submit(c, b, r.There)
	if err != nil {
		return true, err
	}
	return true, p.promised(c, b, id, r.Session, a, f)
}

// nowhere is the path of no checkpoint. It stands where a client names one that is not its
// own: the backend refuses it in the model's order, and no number is left out.
const nowhere = "tinker://none/weights/none"

// submit sends an operation in the dialect of the backend.
func (p *Pass) submit(c *call, b *peer, there string) (*answer, error) {
	ctx, done := b.within(c.ctx())
	defer done()
	if c.path == "forward" || c.path == "forward_backward" {
		return p.submitForward(ctx, c, b, there)
	}
	if c.path == "load_weights" {
		r, at, ok, err := p.find(c.ctx(), c.owner, ledger.RemoteCheckpoint, canonical(c.name("path")))
		if err != nil {
			return nil, err
		}
		if c.members["path"] = text(nowhere); ok && at == b {
			c.members["path"] = text(r.There)
		}
		c.members["model_id"] = text(there)
		delete(c.members, "weights_access_token")
	} else if err := p.rename(c.ctx(), c.owner, b, c.members); err != nil {
		return nil, err
	}
	return b.ask(ctx, http.MethodPost, c.path, c.join(), false, c.r.Header)
}

// sample passes on a request for samples.
func (p *Pass) sample(c *call) (bool, error) {
	sampler := c.name("sampling_session_id")
	if sampler == "" && (p.bases[c.name("base_model")] != nil || p.remotePath(c)) {
		return true, errs.New(errs.InvalidRequest, "a remote base is sampled in a sampling session", "call create_sampling_session first").In("sampling_session_id")
	}
	r, b, ok, err := p.find(c.ctx(), c.owner, ledger.RemoteSampler, sampler)
	if err != nil || !ok {
		return false, err
	}
	if err := p.o.Local.Heartbeat(c.ctx(), c.owner, r.Session); err != nil {
		return true, err
	}
	id := fmt.Sprintf("%s:%d", sampler, c.number("seq_id"))
	if c.number("seq_id") < 0 {
		id = sampler + ":" + p.o.IDs.New(ids.Request)
	}
	if again, err := p.repeat(c, id); again || err != nil {
		return true, err
	}
	if err := p.rename(c.ctx(), c.owner, b, c.members); err != nil {
		return true, err
	}
	ctx, done := b.within(c.ctx())
	defer done()
	a, err := b.ask(ctx, http.MethodPost, c.path, c.join(), false, c.r.Header)
	if err != nil {
		return true, err
	}
	return true, p.promised(c, b, id, r.Session, a, facts{Op: mint.OpSample, Sampler: sampler})
}

func (p *Pass) remotePath(c *call) bool {
	_, _, ok, err := p.find(c.ctx(), c.owner, ledger.RemoteCheckpoint, canonical(c.name("model_path")))
	return ok && err == nil
}

// info passes get_info on.
func (p *Pass) info(c *call) (bool, error) {
	model := c.name("model_id")
	_, b, ok, err := p.find(c.ctx(), c.owner, ledger.RemoteModel, model)
	if err != nil || !ok {
		return false, err
	}
	return true, p.through(c, b, func(got map[string]json.RawMessage) { got["model_id"] = text(model) })
}

// weightsInfo passes weights_info on.
func (p *Pass) weightsInfo(c *call) (bool, error) {
	_, b, ok, err := p.find(c.ctx(), c.owner, ledger.RemoteCheckpoint, canonical(c.name("tinker_path")))
	if err != nil || !ok {
		return false, err
	}
	return true, p.through(c, b, func(map[string]json.RawMessage) {})
}

// copyWeights refuses to copy what is elsewhere.
func (p *Pass) copyWeights(c *call) (bool, error) {
	_, _, ok, err := p.find(c.ctx(), c.owner, ledger.RemoteCheckpoint, canonical(c.name("source_path")))
	if err != nil || !ok {
		return false, err
	}
	return true, errs.New(errs.Unsupported, "a checkpoint that is at a backend elsewhere is not copied", "load it into a new model and save that").In("source_path")
}

// through passes on what is answered at once with an object, whose names amend puts right.
func (p *Pass) through(c *call, b *peer, amend func(map[string]json.RawMessage)) error {
	if err := p.rename(c.ctx(), c.owner, b, c.members); err != nil {
		return err
	}
	ctx, done := b.within(c.ctx())
	defer done()
	a, err := b.ask(ctx, http.MethodPost, c.path, c.join(), false, c.r.Header)
	if err != nil {
		return err
	}
	var got map[string]json.RawMessage
	if a.status/100 != 2 || json.Unmarshal(a.body, &got) != nil || got == nil {
		return p.pass(c, a)
	}
	amend(got)
	return p.send(c, a.status, got)
}
