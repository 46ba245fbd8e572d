package pass

import (
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"time"

	"macaron/internal/errs"
	"macaron/internal/ids"
	"macaron/internal/mint"
	"macaron/internal/mint/ledger"
)

// heartbeat bounds a word to a backend that nobody waits for.
const heartbeat = 10 * time.Second

// Service is the training service of this process with the things of backends in its lists.
// Requests that name a remote thing do not come here but by these.
type Service struct {
	*mint.Service
	Pass *Pass
}

// Bases lists the local bases and the remote ones, which go before a local one of their name.
func (s Service) Bases(ctx context.Context, owner string) ([]mint.Base, error) {
	all, err := s.Service.Bases(ctx, owner)
	all = slices.DeleteFunc(all, func(b mint.Base) bool { return s.Pass.bases[b.Name] != nil })
	for _, b := range s.Pass.o.Backends {
		for _, name := range b.Bases {
			all = append(all, mint.Base{Name: name, Tokenizer: name, Trainable: true, Sampleable: true})
		}
	}
	return all, err
}

// Heartbeat tells the backends of a session too, which need not be asked to answer.
func (s Service) Heartbeat(ctx context.Context, owner, session string) error {
	if err := s.Service.Heartbeat(ctx, owner, session); err != nil {
		return err
	}
	return s.Pass.tell(ctx, owner, session, func(there string) (string, []byte) {
		return "session_heartbeat", join(map[string]json.RawMessage{"session_id": text(there), "type": text("session_heartbeat")})
	})
}

// Finish tells the backends of a session too.
func (s Service) Finish(ctx context.Context, owner, session string, why mint.Reason, detail string) error {
	if err := s.Service.Finish(ctx, owner, session, why, detail); err != nil {
		return err
	}
	return s.Pass.tell(ctx, owner, session, func(there string) (string, []byte) {
		return "sessions/" + there + "/finish", join(map[string]json.RawMessage{"reason": join(map[string]json.RawMessage{"type": text(string(why))}), "detail": text(detail)})
	})
}

// tell sends word to the backends of a session, in the background.
func (p *Pass) tell(ctx context.Context, owner, session string, word func(there string) (path string, body []byte)) error {
	all, err := p.o.Table.RemotesOf(ctx, owner, ledger.RemoteSession, session)
	if err != nil || p.ctx.Err() != nil {
		return err
	}
	for _, r := range all {
		b := p.peers[r.Backend]
		if b == nil {
			continue
		}
		path, body := word(r.There)
		p.wait.Go(func() {
			ctx, done := context.WithTimeout(p.ctx, min(b.Timeout, heartbeat))
			defer done()
			if _, err := b.ask(ctx, http.MethodPost, path, body, false, nil); err != nil && p.ctx.Err() == nil {
				p.o.Log.Debug("a backend was not told", "backend", b.Name, "path", path, "error", err)
			}
		})
	}
	return nil
}

// Session lists remote runs and samplers with the local ones.
func (s Service) Session(ctx context.Context, owner, id string) (out mint.Session, runs, samplers []string, err error) {
	out, runs, samplers, err = s.Service.Session(ctx, owner, id)
	if err != nil {
		return out, runs, samplers, err
	}
	for kind, into := range map[string]*[]string{ledger.RemoteModel: &runs, ledger.RemoteSampler: &samplers} {
		all, err := s.Pass.o.Table.RemotesOf(ctx, owner, kind, id)
		if err != nil {
			return out, nil, nil, err
		}
		for _, r := range all {
			*into = append(*into, r.ID)
		}
	}
	return out, runs, samplers, nil
}

// Model gives a run, local or remote.
func (s Service) Model(ctx context.Context, owner, id string) (mint.Model, error) {
	m, err := s.Service.Model(ctx, owner, id)
	if errs.CodeOf(err) != errs.NotFound {
		return m, err
	}
	r, gone := s.Pass.o.Table.Remote(ctx, owner, ledger.RemoteModel, id)
	if gone != nil {
		return m, err
	}
	return s.Pass.model(ctx, r)
}

// model is a remote run as lists have it.
func (p *Pass) model(ctx context.Context, r ledger.Remote) (mint.Model, error) {
	f, err := factsOf(r)
	if err != nil {
		return mint.Model{}, err
	}
	m := mint.Model{ID: r.ID, Owner: r.Owner, Session: r.Session, Base: f.Base, Metadata: f.Metadata, Created: r.Created, Used: r.Created}
	m.Spec.Rank = f.Rank
	all, err := p.checkpoints(ctx, r.Owner, r.ID)
	for _, c := range all {
		if c.Created.After(m.Used) {
			m.Used = c.Created
		}
		switch {
		case c.Kind == mint.Training && m.Training == nil:
			m.Training = &c
		case c.Kind == mint.Sampling && m.Sampling == nil:
			m.Sampling = &c
		}
	}
	return m, err
}

// Models lists local and remote runs, the newest first.
func (s Service) Models(ctx context.Context, owner string, page mint.Page) ([]mint.Model, int, error) {
	rows, err := s.Pass.o.Table.RemotesOf(ctx, owner, ledger.RemoteModel, "")
	if err != nil {
		return nil, 0, err
	}
	if len(rows) == 0 {
		return s.Service.Models(ctx, owner, page)
	}
	local, total, err := s.Service.Models(ctx, owner, mint.Page{Limit: page.Offset + page.Limit})
	if err != nil {
		return nil, 0, err
	}
	for _, r := range rows {
		m, err := s.Pass.model(ctx, r)
		if err != nil {
			return nil, 0, err
		}
		local = append(local, m)
	}
	slices.SortStableFunc(local, func(a, b mint.Model) int { return b.Created.Compare(a.Created) })
	return cut(local, page), total + len(rows), nil
}

// Checkpoints lists those of a run, or of all runs when run is empty, the newest first.
func (s Service) Checkpoints(ctx context.Context, owner, run string, page mint.Page) ([]mint.Checkpoint, int, error) {
	remote, err := s.Pass.checkpoints(ctx, owner, run)
	if err != nil {
		return nil, 0, err
	}
	if len(remote) == 0 {
		return s.Service.Checkpoints(ctx, owner, run, page)
	}
	local, total, err := s.Service.Checkpoints(ctx, owner, run, mint.Page{Limit: page.Offset + page.Limit})
	if err != nil {
		return nil, 0, err
	}
	all := append(local, remote...)
	slices.SortStableFunc(all, func(a, b mint.Checkpoint) int { return b.Created.Compare(a.Created) })
	return cut(all, page), total + len(remote), nil
}

// checkpoints are those at backends, of a run or of all.
func (p *Pass) checkpoints(ctx context.Context, owner, run string) (all []mint.Checkpoint, err error) {
	rows, err := p.o.Table.RemotesOf(ctx, owner, ledger.RemoteCheckpoint, "")
	if err != nil {
		return nil, err
	}
	for _, r := range rows {
		f, err := factsOf(r)
		if err != nil {
			return nil, err
		}
		if run != "" && f.Model != run || !f.Expires.IsZero() && !p.o.Clock.Now().Before(f.Expires) {
			continue
		}
		parts := strings.Split(r.ID, "/")
		c := mint.Checkpoint{Path: r.ID, Run: f.Model, Kind: mint.Kind(parts[len(parts)-2]), Name: parts[len(parts)-1], Owner: owner, Base: f.Base, Created: r.Created, Expires: f.Expires}
		c.Spec.Rank, c.Revision = f.Rank, ids.Digest(f.Revision)
		all = append(all, c)
	}
	return all, nil
}

// Sampler gives a sampler, local or remote.
func (s Service) Sampler(ctx context.Context, owner, id string) (mint.Sampler, error) {
	out, err := s.Service.Sampler(ctx, owner, id)
	if errs.CodeOf(err) != errs.NotFound {
		return out, err
	}
	r, gone := s.Pass.o.Table.Remote(ctx, owner, ledger.RemoteSampler, id)
	if gone != nil {
		return out, err
	}
	f, err := factsOf(r)
	return mint.Sampler{ID: r.ID, Owner: owner, Session: r.Session, Base: f.Base, Path: f.Path, Created: r.Created}, err
}

// cut takes a page.
func cut[T any](all []T, page mint.Page) []T {
	from := min(max(page.Offset, 0), len(all))
	return all[from:min(from+cmp.Or(max(page.Limit, 0), 1000), len(all))]
}
