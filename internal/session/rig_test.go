package session_test

import (
	"context"
	"encoding/json"
	"path/filepath"
	"testing"
	"time"

	"macaron/internal/adapter"
	"macaron/internal/chat"
	"macaron/internal/clock"
	"macaron/internal/contract"
	"macaron/internal/ids"
	"macaron/internal/ownview"
	"macaron/internal/record"
	"macaron/internal/session"
	"macaron/internal/store/sqlite"
)

const contractText = `
schema = "macaron.hcp/1"
name = "test"
version = "1"
[model]
base = "b"
[prompts]
system = "SYS {{specialist}}"
route = "{{adapters}}"
summary = "SCAFFOLD"
foreign = "[{{summary}}]"
tools = "{{tools}}"
[router]
adapter = "L0"
default = "L0"
min_probability = 0.0
request_chars = 100
context_chars = 100
[budgets]
route_tokens = 24
summary_tokens = 192
answer_tokens = 512
summary_wait_ms = 0
[[adapters]]
name = "L0"
source = "L0"
description = "chat"
[[adapters]]
name = "L1"
source = "L1"
description = "act"
[[adapters]]
name = "L2"
source = "L2"
description = "code"
`

// rig is the log on real SQLite and the loop around it, with the test as the model.
type rig struct {
	log   *session.Log
	store *sqlite.Store
	c     *contract.Contract
	clock *clock.Fixed
}

type tester interface {
	Helper()
	Fatal(...any)
	Fatalf(string, ...any)
}

func newRig(t *testing.T) *rig {
	t.Helper()
	store, err := sqlite.Open(t.Context(), sqlite.Options{Path: filepath.Join(t.TempDir(), "log.db"), Durability: sqlite.Normal})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	return rigOn(t, store)
}

func rigOn(t tester, store *sqlite.Store) *rig {
	t.Helper()
	c, err := contract.Parse([]byte(contractText))
	if err != nil {
		t.Fatal(err)
	}
	at := &clock.Fixed{T: time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC)}
	return &rig{log: session.New(store, session.Options{Clock: at}), store: store, c: c, clock: at}
}

var ctx = context.Background()

func user(text string) chat.Message { return chat.Text(chat.User, text) }
func said(text string) chat.Message { return chat.Text(chat.Assistant, text) }
func calls(ids ...string) chat.Message {
	m := chat.Message{Role: chat.Assistant}
	for _, id := range ids {
		m.ToolCalls = append(m.ToolCalls, chat.ToolCall{ID: id, Name: "find", Arguments: `{"i": 0}`})
	}
	return m
}
func result(id, text string) chat.Message {
	m := chat.Text(chat.Tool, text)
	m.ToolCallID = id
	return m
}

func revision(name string) adapter.Revision {
	return adapter.Revision{Name: name, Hash: ids.DigestOf([]byte(name))}
}

func answer(label string, m chat.Message) session.Served {
	return session.Served{Hop: record.Hop{Hop: record.HopAnswer, Adapter: revision(label), Message: &m, Finish: chat.FinishStop}}
}

// begun is an open turn, what its specialist sees, and where it stands.
type begun struct {
	*session.Turn
	pos   session.Position
	label string
	view  []chat.Message
}

// begin resolves and opens a turn for a label ("" for one that is pinned) and
// builds its view.
func (r *rig) begin(t tester, w session.Where, messages []chat.Message, label string) begun {
	t.Helper()
	pos, err := r.log.Resolve(ctx, w, messages)
	if err != nil {
		t.Fatal(err)
	}
	turn, err := r.log.Begin(ctx, pos, session.Opening{Contract: r.c.Hash()})
	if err != nil {
		t.Fatal(err)
	}
	if pos.Continue != nil {
		if label != "" && label != turn.Revision.Name {
			t.Fatalf("pinned to %s, not %s", turn.Revision.Name, label)
		}
		label = turn.Revision.Name
	}
	b := begun{Turn: turn, pos: pos, label: label}
	b.view = r.view(t, pos.History, turn, label)
	return b
}

// view builds a view with final summaries.
func (r *rig) view(t tester, history []session.Turn, current *session.Turn, label string) []chat.Message {
	t.Helper()
	var foreign []*session.Turn
	for i := range history {
		if history[i].Revision.Name != label {
			foreign = append(foreign, &history[i])
		}
	}
	if err := r.log.UseSummaries(ctx, foreign, r.extract); err != nil {
		t.Fatal(err)
	}
	view, err := ownview.Build(r.c, session.Views(history), current.View(), label)
	if err != nil {
		t.Fatal(err)
	}
	return view
}

func (r *rig) extract(t *session.Turn) string { return r.c.Extract(t.Answer()) }

// finish ends a turn with the model's last message.
func (r *rig) finish(t tester, b begun, m chat.Message) {
	t.Helper()
	status := record.StatusDelivered
	if len(m.ToolCalls) > 0 {
		status = record.StatusAwaiting
	}
	if err := r.log.Close(ctx, b.Turn, status, "", answer(b.label, m)); err != nil {
		t.Fatal(err)
	}
}

// say runs a whole turn and gives the conversation after it.
func (r *rig) say(t tester, messages []chat.Message, label, text string) ([]chat.Message, begun) {
	t.Helper()
	b := r.begin(t, me, messages, label)
	r.finish(t, b, said(text))
	return with(messages, said(text)), b
}

func (r *rig) summarize(t tester, turn, text string) bool {
	t.Helper()
	kept, err := r.log.PutSummary(ctx, me.Owner, turn, session.Served{}, record.Summary{Text: text, Source: "model"})
	if err != nil {
		t.Fatal(err)
	}
	return kept
}

var me = session.Where{Owner: "ann", Scope: "key"}

func with(messages []chat.Message, more ...chat.Message) []chat.Message {
	return append(messages[:len(messages):len(messages)], more...)
}

// lines shows a view, one message a line, for comparisons.
func lines(view []chat.Message) []string {
	var all []string
	for _, m := range view {
		s := string(m.Role) + ":" + m.Text()
		for _, c := range m.ToolCalls {
			s += " call " + c.ID
		}
		if m.ToolCallID != "" {
			s += " for " + m.ToolCallID
		}
		all = append(all, s)
	}
	return all
}

func encode(t tester, view []chat.Message) string {
	t.Helper()
	b, err := json.Marshal(view)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
