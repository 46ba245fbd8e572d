package pass

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"time"

	"macaron/internal/errs"
	"macaron/internal/mint"
	"macaron/internal/mint/ledger"
)

const (
	scheme    = "tinker://"
	altScheme = "mint://"
)

// facts are what a row of the table has of its thing.
type facts struct {
	Op        mint.Op         `json:"op,omitempty"`        // of a request
	Model     string          `json:"model,omitempty"`     // that it is of, or makes
	Sampler   string          `json:"sampler,omitempty"`   // that it is of, or makes
	Path      string          `json:"path,omitempty"`      // that is loaded
	Sequences []string        `json:"sequences,omitempty"` // of its samples
	Final     json.RawMessage `json:"final,omitempty"`     // its outcome as clients get it, where that has names
	Base      string          `json:"base,omitempty"`
	Rank      int             `json:"rank,omitempty"`
	Metadata  json.RawMessage `json:"metadata,omitempty"`
	Revision  string          `json:"revision,omitempty"` // of a checkpoint, in the catalogue
	Archive   string          `json:"archive,omitempty"`  // why there is no revision
	Tries     int             `json:"tries,omitempty"`
	TTL       int64           `json:"ttl,omitempty"`    // seconds, of what a request saves
	Expires   time.Time       `json:"expires,omitzero"` // of a checkpoint; zero: never
}

func factsOf(r ledger.Remote) (f facts, err error) {
	err = json.Unmarshal(r.About, &f)
	return f, err
}

func (p *Pass) row(owner, kind, id string, b *peer, there, session string, f facts) (ledger.Remote, error) {
	about, err := json.Marshal(f)
	return ledger.Remote{Owner: owner, Kind: kind, ID: id, Backend: b.Name, There: there, Session: session, About: about, Created: p.o.Clock.Now().UTC()}, err
}

// put keeps a row.
func (p *Pass) put(ctx context.Context, owner, kind, id string, b *peer, there, session string, f facts) error {
	r, err := p.row(owner, kind, id, b, there, session, f)
	if err != nil {
		return err
	}
	return p.o.Table.PutRemotes(ctx, []ledger.Remote{r})
}

// find looks a name up. One that is not in the table is no error: it is of this server, or
// of nobody.
func (p *Pass) find(ctx context.Context, owner, kind, id string) (r ledger.Remote, b *peer, there bool, err error) {
	if id == "" {
		return r, nil, false, nil
	}
	r, err = p.o.Table.Remote(ctx, owner, kind, id)
	if errs.CodeOf(err) == errs.NotFound {
		return r, nil, false, nil
	}
	if err != nil {
		return r, nil, false, err
	}
	if b = p.peers[r.Backend]; b == nil {
		return r, nil, false, errs.New(errs.UpstreamUnavailable, "the "+kind+" "+errs.Clip(id)+" is at the backend "+r.Backend+", which is not set up here any more", "the operator has to set it up again in mint.backends")
	}
	return r, b, true, nil
}

// canonical writes the path of a checkpoint in the one way that the table has.
func canonical(path string) string {
	if rest, ok := strings.CutPrefix(path, altScheme); ok {
		return scheme + rest
	}
	return path
}

var safeName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$`)

// localPath is the path here of a checkpoint that a backend calls there.
func localPath(run string, op mint.Op, there string) (path string, kind mint.Kind, err error) {
	_, rest, _ := strings.Cut(there, "://")
	parts := strings.Split(rest, "/")
	name := parts[len(parts)-1]
	if !safeName.MatchString(name) {
		return "", "", errs.New(errs.UpstreamFailed, fmt.Sprintf("the backend calls a checkpoint %q", errs.Clip(there)), "look at the version of that server")
	}
	kind = mint.Sampling
	if op == mint.OpSave {
		kind = mint.Training
	}
	if len(parts) > 1 {
		switch k := mint.Kind(parts[len(parts)-2]); k {
		case mint.Training, mint.Sampling, mint.External:
			kind = k
		}
	}
	return scheme + run + "/" + string(kind) + "/" + name, kind, nil
}

// fields are those of requests that name something, with what they name.
var fields = map[string]string{
	"model_id": ledger.RemoteModel, "sampling_session_id": ledger.RemoteSampler, "path": ledger.RemoteCheckpoint, "model_path": ledger.RemoteCheckpoint,
	"tinker_path": ledger.RemoteCheckpoint, "source_path": ledger.RemoteCheckpoint,
}

// rename puts the backend's names in place of ours. A name that is not the owner's at this
// backend must never go there as it is: it may be somebody else's.
func (p *Pass) rename(ctx context.Context, owner string, b *peer, members map[string]json.RawMessage) error {
	delete(members, "weights_access_token")
	for field, kind := range fields {
		var name string
		if json.Unmarshal(members[field], &name) != nil || name == "" {
			continue
		}
		if kind == ledger.RemoteCheckpoint {
			if field == "path" && !strings.Contains(name, "://") {
				continue // a new checkpoint's name
			}
			name = canonical(name)
		}
		r, at, ok, err := p.find(ctx, owner, kind, name)
		if err != nil {
			return err
		}
		if !ok || at != b {
			return errs.New(errs.NotFound, "there is no "+kind+" "+errs.Clip(name)+" at the backend "+b.Name, "a model and what it loads must be of one backend").In(field)
		}
		members[field] = text(r.There)
	}
	return nil
}

func text(s string) json.RawMessage {
	b, err := json.Marshal(s)
	if err != nil { // a text always encodes
		return json.RawMessage(`""`)
	}
	return b
}
