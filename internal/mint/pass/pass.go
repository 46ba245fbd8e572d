// Package pass hands the training of some bases to backends elsewhere that speak the Tinker
// protocol, while sessions, names, lineage and the catalogue stay here. What a client says
// of a remote base is passed on as it came, but for the key and for names of things, which a
// durable table translates; where a backend speaks another dialect than the client, bodies
// are turned from one into the other. docs/MINT.md has the user's side.
package pass

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"macaron/internal/clock"
	"macaron/internal/ids"
	"macaron/internal/mint"
	"macaron/internal/mint/ledger"
)

// Backend is a server elsewhere, as the operator has set it up.
type Backend struct {
	Name     string
	Bases    []string // that are trained there
	URL      string   // its origin; /api/v1 comes behind it
	Key      string
	Dialect  Dialect
	Timeout  time.Duration // of one request, but for polls
	Archives []string      // hosts beside its own that archives may be fetched from
}

// Dialect is what a backend speaks.
type Dialect string

// The dialects.
const (
	Auto  Dialect = "auto"  // as the client does, until the backend refuses
	JSON  Dialect = "json"  // SDKs before 0.25
	Proto Dialect = "proto" // SDKs from 0.25 on
)

// Wire reads and writes the bodies of the protocol.
type Wire interface {
	Body(r *http.Request) (body []byte, proto bool, err error)
	Send(w http.ResponseWriter, r *http.Request, status int, body []byte, proto bool)
	Fail(w http.ResponseWriter, err error)
	WantsProto(r *http.Request) bool
	ModelOf(proto []byte) (model string, seq int64, err error)
	WithModel(proto []byte, model string) ([]byte, error)
	ForwardToJSON(proto []byte) (text []byte, only bool, err error)
	ForwardToProto(text []byte, only bool) ([]byte, error)
	ResultToJSON(op mint.Op, proto []byte) ([]byte, error)
	ResultToProto(op mint.Op, text []byte) ([]byte, error)
}

// Local is the part of the training service that remote things hang on.
type Local interface {
	Heartbeat(ctx context.Context, owner, session string) error
	Model(ctx context.Context, owner, id string) (mint.Model, error)
}

// Options set up a Pass. All are needed but Poll.
type Options struct {
	Backends  []Backend
	Table     ledger.Remotes
	Local     Local
	Wire      Wire
	Publisher mint.Publisher // takes adapters that were trained elsewhere into the catalogue
	Owner     func(*http.Request) string
	Clock     clock.Clock
	IDs       *ids.Source
	Log       *slog.Logger
	Poll      time.Duration   // longest wait of retrieve_future; 0: 30 s
	Stop      <-chan struct{} // closed: polls end
}

// Pass is safe for concurrent use.
type Pass struct {
	o     Options
	peers map[string]*peer // by backend
	bases map[string]*peer // by base
	wake  chan struct{}    // an archive may be there
	stop  context.CancelFunc
	ctx   context.Context
	wait  sync.WaitGroup

	mu       sync.Mutex
	sessions map[string]*sync.Mutex // being begun, by owner, session and backend
}

// Open begins.
func Open(o Options) (*Pass, error) {
	if o.Poll == 0 {
		o.Poll = 30 * time.Second
	}
	p := &Pass{o: o, peers: map[string]*peer{}, bases: map[string]*peer{}, wake: make(chan struct{}, 1), sessions: map[string]*sync.Mutex{}}
	for _, b := range o.Backends {
		peer, err := newPeer(b, o.Clock)
		if err != nil {
			return nil, err
		}
		p.peers[b.Name] = peer
		for _, base := range b.Bases {
			if p.bases[base] != nil {
				return nil, fmt.Errorf("two backends train %q", base)
			}
			p.bases[base] = peer
		}
	}
	p.ctx, p.stop = context.WithCancel(context.Background())
	p.wait.Go(p.fetchArchives)
	return p, nil
}

// Close ends what goes on in the background.
func (p *Pass) Close() error {
	p.stop()
	p.wait.Wait()
	for _, x := range p.peers {
		x.http.CloseIdleConnections()
	}
	return nil
}
