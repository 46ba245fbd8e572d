package app

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"macaron/internal/auth"
	"macaron/internal/backend/backendtest"
	"macaron/internal/chat"
	"macaron/internal/config"
	"macaron/internal/contract"
	"macaron/internal/record"
	"macaron/internal/store/postgres/pgtest"
)

var (
	conversations = flag.Int("conversations", 500, "random conversations over the wire")
	conversation  = flag.Int("conversation", -1, "hold this one of the random conversations only")
)

// held is one random conversation, over any of its sites, next to the model of it.
type held struct {
	*testing.T
	n            int
	rng          *rand.Rand
	sites        []*site // of one log
	actor        *actor
	k            *contract.Contract
	mode         string // how it is found again: content, id or conversation
	conversation string
	points       []*point // that have their answers
	left         []*point // that wait for results which never come
	count        int
}

// Fatalf ends this conversation, not those beside it.
func (h *held) Fatalf(format string, args ...any) {
	h.Errorf("conversation %d (%s): %s", h.n, h.mode, fmt.Sprintf(format, args...))
	runtime.Goexit()
}

func (h *held) chance(percent int) bool { return h.rng.IntN(100) < percent }

func (h *held) site() *site { return h.sites[h.rng.IntN(len(h.sites))] }

func (h *held) nonce(kind string) string {
	h.count++
	return fmt.Sprintf("%s-%d-%d.", kind, h.n, h.count)
}

// question makes a point whose user asks for a label, and what the model is to do.
func (h *held) question(parent *point, what string) *point {
	p := &point{parent: parent, label: fmt.Sprintf("L%d", h.rng.IntN(3))}
	p.user = []chat.Message{chat.Text(chat.User, p.label+": "+h.nonce("user")+what)}
	if h.chance(30) {
		p.system = h.nonce("system")
	}
	if h.chance(15) && h.mode != "conversation" {
		p.imported = []chat.Message{chat.Text(chat.User, h.nonce("old")), chat.Text(chat.Assistant, h.nonce("import"))}
	}
	return p
}

// ask makes the request of a point's next step: news are what the client has not sent yet.
func (h *held) ask(p *point, news []chat.Message, behind *point) *query {
	q := &query{api: "responses", model: "macaron", who: fmt.Sprint("u", h.n), system: p.system, stream: h.chance(50), tools: true, train: h.n%3 > 0, messages: news}
	step := ""
	if behind != nil && len(behind.steps) > 0 {
		step = behind.steps[len(behind.steps)-1]
	}
	switch {
	case h.mode == "conversation":
		q.conversation, q.who = h.conversation, ""
	case h.mode == "id" && step != "" && h.chance(85):
		q.previous = step
	default:
		q.messages = p.client()
		if h.mode == "content" || h.chance(20) {
			q.api = []string{"chat", "messages", "responses"}[h.rng.IntN(3)]
		}
	}
	return q
}

// send asks any of the sites.
func (h *held) send(q *query) reply {
	a, err := h.site().tell(h.Context(), q)
	if err != nil {
		h.Fatalf("%s: %v", q.api, err)
	}
	if a.status != 200 || a.code != "" {
		h.Fatalf("%s: %d %s to %s", q.api, a.status, a.code, jsonOf(q.messages))
	}
	return a
}

// turn asks a question and goes on until the answer, or until the client leaves.
func (h *held) turn(p *point) {
	q := h.ask(p, slices.Concat(p.imported, p.user), p.parent)
	if h.chance(20) {
		q.model += "/" + p.label
	}
	session := ""
	switch {
	case h.mode == "conversation" && h.points != nil:
		session = h.points[0].session
	case p.parent == nil || q.previous == "" && (p.parent.kids > 0 || p.imported != nil):
	default:
		session = p.parent.session
	}
	h.step(p, q, session)
	h.goOn(p)
}

// goOn answers a point's calls until there are no more.
func (h *held) goOn(p *point) {
	for p.waits {
		calls := p.trace[len(p.trace)-1].ToolCalls
		switch {
		case h.chance(15):
			h.leave(p, h.results(calls, "")[:h.rng.IntN(2)])
			return
		case h.chance(20):
			h.broken(p, h.results(calls, h.ending()))
		}
		news := h.results(calls, []string{"", "", "", " call"}[h.rng.IntN(4)])
		was := p.trace
		p.trace = append(slices.Clip(p.trace), news...)
		q := h.ask(p, news, p)
		p.trace, p.waits = was, false
		p.trace = append(slices.Clip(p.trace), news...)
		h.step(p, q, p.session)
	}
	h.points = append(h.points, p)
}

// results are those of calls, not in their order; the last says what the model is to do.
func (h *held) results(calls []chat.ToolCall, what string) (all []chat.Message) {
	for i := len(calls) - 1; i >= 0; i-- {
		m := chat.Text(chat.Tool, h.nonce("result"))
		if m.ToolCallID = calls[i].ID; i == 0 {
			m = chat.Text(chat.Tool, h.nonce("result")+what)
			m.ToolCallID = calls[i].ID
		}
		all = append(all, m)
	}
	return all
}

// leave says something else where results are due. What the client saw of the turn is history.
func (h *held) leave(p *point, given []chat.Message) {
	seen := &point{parent: p.parent, session: p.session, label: p.label, system: p.system, imported: p.imported, user: p.user, trace: append(slices.Clip(p.trace), given...), kids: 1}
	next := h.question(seen, "")
	next.imported = nil
	q := h.ask(next, slices.Concat(given, next.user), p)
	h.left, h.points = append(h.left, p), append(h.points, seen)
	if p.parent != nil {
		p.parent.kids++
	}
	h.step(next, q, p.session)
	h.goOn(next)
}

// ending is how a request does not come to its end.
func (h *held) ending() string { return []string{" hang", " fail"}[h.rng.IntN(2)] }

// broken sends a request that the client leaves, or that the engine fails. Nothing comes of it.
func (h *held) broken(p *point, news []chat.Message) {
	last := news[len(news)-1].Text()
	over := *p
	over.trace = append(slices.Clip(p.trace), news...)
	behind := p
	if !p.waits {
		over.trace, behind = nil, p.parent
	}
	q := h.ask(&over, news, behind)
	ctx, leave := context.WithCancel(h.Context())
	defer leave()
	if strings.HasSuffix(last, " fail") {
		if a, err := h.site().tell(ctx, q); err != nil || a.code == "" || a.status != 502 && !q.stream {
			h.Fatalf("a failure is told as %d %q, %v", a.status, a.code, err)
		}
		return
	}
	there := make(chan struct{})
	h.actor.hung.Store(last, there)
	done := make(chan error, 1)
	s := h.site()
	go func() { _, err := s.tell(ctx, q); done <- err }()
	select {
	case <-there:
	case err := <-done:
		h.Fatalf("nobody hangs at %q: %v", last, err)
	}
	leave()
	if err := <-done; err == nil {
		h.Fatalf("a client that left got an answer")
	}
	for p.waits { // until the log knows
		t, err := s.sessions.Turn(context.Background(), auth.Local, p.id)
		if err != nil {
			h.Fatalf("%v", err)
		}
		if t.Status == record.StatusAwaiting {
			break
		}
		time.Sleep(time.Millisecond)
	}
}

// again sends other results to calls that had theirs.
func (h *held) again(of *point) {
	if of == nil || of.again || of.id == "" || h.mode != "content" || len(of.trace) == 0 || len(of.trace[0].ToolCalls) == 0 {
		return
	}
	of.again = true
	p := &point{parent: of.parent, label: of.label, system: of.system, imported: of.imported, user: of.user, again: true}
	news := h.results(of.trace[0].ToolCalls, "")
	p.trace = slices.Concat(of.trace[:1], news)
	h.step(p, h.ask(p, news, nil), "")
	h.points = append(h.points, p)
}

// move makes one of the client's moves.
func (h *held) move() {
	var tip, any *point
	if n := len(h.points); n > 0 {
		tip, any = h.points[n-1], h.points[h.rng.IntN(n)]
	}
	what := []string{"", "", " call"}[h.rng.IntN(3)]
	at := h.rng.IntN(100)
	if h.mode == "conversation" && at >= 40 && at < 72 {
		at = 0
	}
	switch {
	case at < 40 || any == nil:
		h.turn(h.question(tip, what))
	case at < 50:
		h.turn(h.question(any, what))
	case at < 58: // once more the same
		h.turn(&point{parent: any.parent, label: any.label, system: any.system, imported: any.imported, user: any.user})
	case at < 66: // an edit
		h.turn(h.question(any.parent, what))
	case at < 72:
		h.again(any)
	case at < 84:
		p := h.question(tip, h.ending())
		p.imported = nil
		h.broken(p, p.user)
	case at < 92:
		h.rate(any)
	default:
		h.unname(any)
	}
}

// TestRandomConversationsOverTheWire holds random conversations by three APIs, streamed and whole,
// found again by content, by response and by conversation, on SQLite and by three proxies over one
// Postgres, with retries, edits, tool calls, clients that leave and engines that fail. Everything
// that comes of them must be what the model of conversation says: the views that the engine is
// shown, the answers, sessions, usage and ids, and at the end the log.
func TestRandomConversationsOverTheWire(t *testing.T) {
	actor, url := &actor{}, pgtest.Database(t)
	open := func(store string) *site {
		cfg := patientSettings(t)
		cfg.Store.URL, cfg.Durability, cfg.Queue.Running = config.Secret(store), "normal", 64
		return start(t, cfg, &backendtest.Scripted{On: actor.play})
	}
	logs := [][]*site{{open("")}, {open(url), open(url), open(url)}}
	var group sync.WaitGroup
	places := make(chan struct{}, 12)
	for n := range *conversations {
		if *conversation >= 0 && n != *conversation {
			continue
		}
		h := newHeld(t, n, actor, logs[n%2])
		places <- struct{}{}
		group.Go(func() {
			defer func() { <-places }()
			h.hold(3 + h.rng.IntN(6))
		})
	}
	group.Wait()
}

// patientSettings wait for routes and summaries longer than a slow machine needs, and less long
// than a summary is leased: one that is taken and not written is still an extract, and fails.
func patientSettings(t *testing.T) config.Config {
	cfg := settings(t, t.TempDir())
	text, err := os.ReadFile(cfg.Contract)
	if err != nil {
		t.Fatal(err)
	}
	longer := strings.Replace(string(text), "summary_wait_ms = 20000", "summary_wait_ms = 110000", 1)
	if longer == string(text) {
		t.Fatal("the contract waits otherwise")
	}
	if err := os.WriteFile(cfg.Contract, []byte(longer), 0o600); err != nil {
		t.Fatal(err)
	}
	cfg.Queue.RouteTimeout = time.Minute
	return cfg
}

func newHeld(t *testing.T, n int, actor *actor, sites []*site) *held {
	catalog, err := sites[0].catalogue.Current(t.Context(), auth.Local, "", "")
	if err != nil {
		t.Fatal(err)
	}
	return &held{T: t, n: n, rng: rand.New(rand.NewPCG(7, uint64(n))), sites: sites, actor: actor, k: catalog.Contract, mode: []string{"content", "id", "conversation"}[n/2%3]}
}

// hold makes so many moves and reads the log at the end.
func (h *held) hold(moves int) {
	if h.mode == "conversation" {
		h.conversation = h.sites[0].openConversation()
	}
	for range moves {
		h.move()
	}
	h.reread()
}

// same compares what the model says with what was seen.
func (h *held) same(what string, want, got any) {
	if diff := cmp.Diff(want, got); diff != "" {
		h.Fatalf("%s (-model +seen):\n%s", what, diff)
	}
}
