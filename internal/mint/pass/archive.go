package pass

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"macaron/internal/errs"
	"macaron/internal/ids"
	"macaron/internal/mint"
	"macaron/internal/mint/ledger"
)

// The bounds of fetching archives: how often what is due is looked for, how many times one is
// tried, how long that takes and how large it is.
const (
	fetchEvery   = 15 * time.Second
	fetchTries   = 8
	fetchFor     = 10 * time.Minute
	archiveBytes = 4 << 30
)

// errNotOffered says that a backend gives no archives.
var errNotOffered = errors.New("the backend offers no archive")

// fetchArchives takes the adapters that backends have saved into the catalogue, until the end.
func (p *Pass) fetchArchives() {
	tick := time.NewTicker(fetchEvery)
	defer tick.Stop()
	for {
		due, err := p.o.Table.DueRemotes(p.ctx)
		if err != nil && p.ctx.Err() == nil {
			p.o.Log.Warn("what is due of checkpoints elsewhere cannot be read", "error", err)
		}
		for _, r := range due {
			if p.ctx.Err() == nil {
				p.fetch(r)
			}
		}
		select {
		case <-p.ctx.Done():
			return
		case <-p.wake:
		case <-tick.C:
		}
	}
}

// fetch tries one. What fails is tried again later, a few times.
func (p *Pass) fetch(r ledger.Remote) {
	b := p.peers[r.Backend]
	f, err := factsOf(r)
	if err != nil || b == nil {
		return // set up again, it goes on
	}
	ctx, done := context.WithTimeout(p.ctx, fetchFor)
	defer done()
	revision, err := p.register(ctx, b, r, f)
	f.Tries++
	switch {
	case err == nil:
		f.Revision, f.Archive, r.State = string(revision), "", ""
		p.o.Log.Info("an adapter that was trained elsewhere is in the catalogue", "path", r.ID, "backend", b.Name, "revision", string(revision))
	case p.ctx.Err() != nil:
		return
	case errors.Is(err, errNotOffered) || f.Tries >= fetchTries:
		f.Archive, r.State = err.Error(), ""
		p.o.Log.Warn("an adapter that was trained elsewhere does not come into the catalogue", "path", r.ID, "backend", b.Name, "error", err)
	default:
		f.Archive = err.Error()
	}
	if err := p.keep(p.ctx, r, f); err != nil {
		p.o.Log.Warn("what became of an archive cannot be kept", "path", r.ID, "error", err)
	}
}

// register fetches the archive of a checkpoint and puts the adapter into the catalogue.
func (p *Pass) register(ctx context.Context, b *peer, r ledger.Remote, f facts) (ids.Digest, error) {
	body, err := b.archive(ctx, r.There)
	if err != nil {
		return "", err
	}
	defer body.Close()
	adapter, err := mint.ReadArchive(body, archiveBytes)
	if err != nil {
		return "", err
	}
	parent, err := p.parent(ctx, r, f)
	if err != nil {
		return "", err
	}
	recipe := fmt.Sprintf("# trained by a backend elsewhere\nbackend = %q\nbase = %q\ncheckpoint = %q\n", b.Name, f.Base, r.There)
	return p.o.Publisher.Publish(ctx, r.Owner, mint.Revision{Path: r.ID, Adapter: adapter, Parent: parent, Recipe: recipe})
}

// parent is the revision before one in its run, or the one that the run began from.
func (p *Pass) parent(ctx context.Context, r ledger.Remote, f facts) (ids.Digest, error) {
	all, err := p.o.Table.RemotesOf(ctx, r.Owner, ledger.RemoteCheckpoint, r.Session)
	if err != nil {
		return "", err
	}
	for _, c := range all { // the newest first
		of, err := factsOf(c)
		if err == nil && of.Model == f.Model && of.Revision != "" && c.Created.Before(r.Created) {
			return ids.Digest(of.Revision), nil
		}
	}
	from, _, ok, err := p.find(ctx, r.Owner, ledger.RemoteCheckpoint, f.Path)
	if err != nil || !ok {
		return "", err
	}
	of, err := factsOf(from)
	return ids.Digest(of.Revision), err
}

// place is the path of the protocol below which the checkpoint of a backend is.
func place(there string) (string, error) {
	at, ok := mint.CheckpointPath(there)
	if !ok {
		return "", errs.New(errs.UpstreamFailed, fmt.Sprintf("the backend calls a checkpoint %q", errs.Clip(there)), "look at the version of that server")
	}
	return at, nil
}

// archive asks where the archive of a checkpoint is, and gets it. Where it is, the backend
// says: only its own host, and those that the operator allows, are asked, and without the key.
func (b *peer) archive(ctx context.Context, there string) (io.ReadCloser, error) {
	path, err := place(there)
	if err != nil {
		return nil, err
	}
	within, done := b.within(ctx)
	a, err := b.ask(within, http.MethodGet, path+"/archive", nil, false, http.Header{"Accept": {"application/gzip"}})
	done()
	switch {
	case err != nil:
		return nil, err
	case a.status/100 == 2:
		return io.NopCloser(strings.NewReader(string(a.body))), nil
	case a.status == http.StatusNotFound || a.status == http.StatusMethodNotAllowed || a.status == http.StatusNotImplemented || a.status == http.StatusUnprocessableEntity:
		return nil, errNotOffered
	case a.status/100 != 3:
		return nil, errs.Newf(errs.UpstreamFailed, "the backend %s answers %d to a request for an archive", b.Name, a.status)
	}
	to, err := b.origin.Parse(a.header.Get("Location"))
	if err != nil || !b.mayFetch(to) {
		return nil, fmt.Errorf("%w at an address that may be asked: set archives of the backend to allow its host", errNotOffered)
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, to.String(), nil)
	if err != nil {
		return nil, err
	}
	resp, err := b.http.Do(r)
	if err != nil {
		return nil, b.away(err, time.Second)
	}
	if resp.StatusCode != http.StatusOK {
		return nil, errors.Join(errs.Newf(errs.UpstreamFailed, "the archive of the backend %s answers %d", b.Name, resp.StatusCode), resp.Body.Close())
	}
	return resp.Body, nil
}

func (b *peer) mayFetch(to *url.URL) bool {
	if to.Scheme == b.origin.Scheme && to.Host == b.origin.Host {
		return true
	}
	return to.Scheme == "https" && slices.Contains(b.Archives, to.Host)
}
