package turn_test

import (
	"context"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"macaron/internal/adapter"
	"macaron/internal/backend/backendtest"
	"macaron/internal/chat"
	"macaron/internal/clock"
	"macaron/internal/contract"
	"macaron/internal/errs"
	"macaron/internal/ids"
	"macaron/internal/limits"
	"macaron/internal/obs"
	"macaron/internal/record"
	"macaron/internal/session"
	"macaron/internal/store/sqlite"
	"macaron/internal/summary"
	"macaron/internal/turn"
)

// rig is the real request path on a real log; only the engine is scripted.
type rig struct {
	*turn.Runner
	t      *testing.T
	log    *session.Log
	engine *backendtest.Scripted
	worker *summary.Worker
}

// catalogue is a contract in force, which a test may replace.
type catalogue struct {
	mu   sync.Mutex
	now  *contract.Contract
	past map[ids.Digest]*contract.Contract
}

func (c *catalogue) set(k *contract.Contract) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = k
	c.past[k.Hash()] = k
}

func (c *catalogue) Current(context.Context, string, string, string) (turn.Catalog, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	out := turn.Catalog{Contract: c.now}
	for _, a := range c.now.Adapters {
		out.Adapters = append(out.Adapters, adapter.Revision{Name: a.Name, Hash: ids.DigestOf([]byte(a.Name)), Source: a.Source})
	}
	return out, nil
}

func (c *catalogue) Contract(h ids.Digest) (*contract.Contract, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if k := c.past[h]; k != nil {
		return k, nil
	}
	return nil, errs.New(errs.NotFound, "no such contract", "")
}

func defaultContract(t testing.TB) *contract.Contract {
	t.Helper()
	text, err := os.ReadFile("../../macaron.toml")
	if err != nil {
		t.Fatal(err)
	}
	c, err := contract.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func newRig(t *testing.T) *rig {
	t.Helper()
	return openRig(t, t.TempDir())
}

func openRig(t *testing.T, dir string) *rig {
	t.Helper()
	return faultyRig(t, dir, nil)
}

// faultyRig is a rig whose log fails where fault says so.
func faultyRig(t *testing.T, dir string, fault func(sqlite.Stage, record.Kind) error) *rig {
	t.Helper()
	store, err := sqlite.Open(t.Context(), sqlite.Options{Path: filepath.Join(dir, "log.db"), Durability: sqlite.Normal, Fault: fault})
	if err != nil {
		t.Fatal(err)
	}
	source := ids.NewSource(clock.System{}, nil)
	log := session.New(store, session.Options{IDs: source})
	if _, err := log.Sweep(t.Context()); err != nil {
		t.Fatal(err)
	}
	c := &catalogue{past: map[ids.Digest]*contract.Contract{}}
	c.set(defaultContract(t))
	engine := &backendtest.Scripted{}
	meter := obs.NewMetrics("test")
	worker := summary.Start(summary.Deps{Log: log, Contracts: c, Generator: engine, IDs: source, Meter: meter, Logger: obs.Discard()})
	r := &rig{t: t, log: log, engine: engine, worker: worker, Runner: &turn.Runner{
		Sessions: log, Catalogue: c, Generator: engine, Summaries: worker, Queue: limits.NewQueue(8, 8, nil),
		IDs: source, Meter: meter, Log: obs.Discard(),
	}}
	t.Cleanup(func() {
		ctx, cancel := context.WithCancel(context.Background())
		cancel() // what is left goes back to the queue
		if err := worker.Close(ctx); err != nil {
			t.Error(err)
		}
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	return r
}

// sink keeps what a turn tells.
type sink struct {
	chosen, done turn.Report
	events       []chat.Event
	reason       chat.FinishReason
	usage        chat.Usage
	onEvent      func(n int) error
}

func (s *sink) Chosen(r turn.Report) error { s.chosen = r; return nil }

func (s *sink) Event(e chat.Event) error {
	s.events = append(s.events, e)
	if s.onEvent != nil {
		return s.onEvent(len(s.events))
	}
	return nil
}

func (s *sink) Done(r turn.Report, why chat.FinishReason, u chat.Usage) error {
	s.done, s.reason, s.usage = r, why, u
	return nil
}

func (s *sink) text() string {
	out := ""
	for _, e := range s.events {
		out += e.Text
	}
	return out
}

// talk is a client that keeps its history and resends all of it.
type talk struct {
	r       *rig
	history []chat.Message
	request turn.Request
}

func (r *rig) talk() *talk { return &talk{r: r, request: turn.Request{ID: "req", Owner: "local"}} }

func (k *talk) say(text string) *sink {
	k.r.t.Helper()
	return k.send(chat.Text(chat.User, text))
}

func (k *talk) send(messages ...chat.Message) *sink {
	k.r.t.Helper()
	out, err := k.try(messages...)
	if err != nil {
		k.r.t.Fatal(err)
	}
	return out
}

func (k *talk) try(messages ...chat.Message) (*sink, error) {
	k.history = append(k.history, messages...)
	q := k.request
	q.Messages = append([]chat.Message(nil), k.history...)
	out := &sink{}
	if err := k.r.Run(k.r.t.Context(), q, out); err != nil {
		return out, err
	}
	answer := chat.Message{Role: chat.Assistant}
	if text := out.text(); text != "" {
		answer.Parts = []chat.Part{{Kind: "text", Text: text}}
	}
	for _, e := range out.events {
		if c := e.ToolCall; c != nil {
			answer.ToolCalls = append(answer.ToolCalls, chat.ToolCall{ID: c.ID, Name: c.Name, Arguments: c.Arguments})
		}
	}
	k.history = append(k.history, answer)
	return out, nil
}

// stored loads the only session's turns.
func (r *rig) stored() []session.Turn {
	r.t.Helper()
	all, err := r.log.List(r.t.Context(), "local", zeroTime, 100)
	if err != nil || len(all) == 0 {
		r.t.Fatalf("%d sessions, %v", len(all), err)
	}
	_, turns, err := r.log.Load(r.t.Context(), "local", all[0].Session)
	if err != nil {
		r.t.Fatal(err)
	}
	return turns
}
