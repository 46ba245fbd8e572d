// Package storetest is the conformance suite that every store of the log passes:
// what internal/session relies on, said as tests.
package storetest

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"macaron/internal/chat"
	"macaron/internal/ids"
	forgeledger "macaron/internal/mindforge/ledger"
	"macaron/internal/mint/catalogue"
	"macaron/internal/mint/ledger"
	"macaron/internal/record"
	"macaron/internal/session"
	"macaron/internal/ui4a/action"
)

// Store is what a store has beyond session.Store.
type Store interface {
	session.Store
	Run(ctx context.Context, owner, id string) (record.RunState, error)
	Runs(ctx context.Context, owner, before string, limit int) ([]record.RunState, error)
	RunsLeft(ctx context.Context, limit int) ([]record.RunState, error)
	RunsLost(ctx context.Context, limit int) ([]record.RunState, error)
	RunsStopped(ctx context.Context, limit int) ([]record.RunState, error)
	RunHeld(ctx context.Context, owner, run string) (bool, error)
	Memory(ctx context.Context, owner, scope string, limit int) ([]record.Memory, error)
	Shelf(ctx context.Context, owner string, tool ids.Digest) (record.Shelf, error)
	Shed(ctx context.Context, owner string, limit int) ([]record.Shelf, error)
	Owners(ctx context.Context) ([]string, error)
	Stale(ctx context.Context, owner string, before time.Time, after string, limit int) ([]string, error)
	Erase(ctx context.Context, owner, session string, o record.Erase) ([]record.Erased, error)
	Erasures(ctx context.Context, owner string, limit int) ([]record.Erased, error)
	Reclaim(ctx context.Context) error
	Settle(ctx context.Context, owner, account string, change func(*record.Balance)) (record.Balance, error)
	catalogue.Store
	forgeledger.Store
	Tried(ctx context.Context, owner string, trial int64, after string) ([]record.Tried, error)
	TrialRecords(ctx context.Context, owner string, trial, after int64, limit int) ([]record.Record, error)
	Mint() ledger.Store
	Close() error
}

// Open opens the store that lives in a directory; a second Open of the same one,
// after Close, finds what was there.
type Open func(t *testing.T, dir string) Store

// Run runs the suite.
func Run(t *testing.T, open Open) {
	for _, c := range []struct {
		name string
		run  func(*testing.T, Store)
	}{
		{"records read back equal", recordsReadBack},
		{"a batch is all or nothing", allOrNothing},
		{"expectations", expectations},
		{"one writes of a card at a time", cardsAt},
		{"owners see their own only", owners},
		{"lineage", lineage},
		{"after", after},
		{"status", status},
		{"a turn in one batch", inOneBatch},
		{"late records", lateRecords},
		{"last chain", lastChain},
		{"calls", calls},
		{"sessions are listed by last change", sessionsByChange},
		{"leases", leases},
		{"oldest summaries first", oldestFirst},
		{"many writers", manyWriters},
		{"any text", anyText},
		{"runs", runs},
		{"shed", shed},
		{"one process goes on with a run", runLength},
		{"memory", memory},
		{"balances", balances},
		{"revisions", revisions},
		{"pointers", pointers},
		{"rows of the training service", mintRows},
		{"promises of the training service", mintOps},
		{"lists of the training service", mintOrder},
		{"ends of the training service", mintEnd},
		{"the training service is one process's", mintHold},
		{"names of what is elsewhere", mintRemotes},
		{"collection", collection},
		{"the ledger of the forge", forge},
		{"aliases of releases", forgeAliases},
		{"many write to the ledger", forgeRace},
		{"trials", trials},
		{"erase", erase},
		{"erase waits", eraseWaits},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := open(t, t.TempDir())
			defer closeStore(t, s)
			c.run(t, s)
		})
	}
	t.Run("survives closing", func(t *testing.T) { survivesClosing(t, open) })
}

func closeStore(t *testing.T, s Store) {
	t.Helper()
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

var ctx = context.Background()

// at is the time of the n-th second.
func at(n int) time.Time { return time.Date(2026, 1, 1, 0, 0, n, 7, time.UTC) }

// rec makes a record of owner o in session s, of turn t after parent p, whose id is
// derived from what it is.
func rec(o, s, t, p string, second int, body record.Body) record.Record {
	return record.Record{Body: body, Head: record.Head{
		ID: fmt.Sprintf("rec_%s_%s_%s_%d", s, t, body.Kind(), second), Owner: o, Session: s, Turn: t, ParentTurn: p,
		Time: at(second), Purpose: record.Production, Consent: record.ConsentNone,
	}}
}

func opened(o, s string, second int) record.Record {
	return rec(o, s, "", "", second, record.SessionOpened{Root: s, Scope: "k", Title: "of " + s})
}

func turn(o, s, t, p string, second int) record.Record {
	return rec(o, s, t, p, second, record.TurnOpened{Messages: []chat.Message{chat.Text(chat.User, "hello "+t)}})
}

func closed(o, s, t string, second int, st record.Status) record.Record {
	return rec(o, s, t, "", second, record.TurnClosed{Status: st})
}

func put(t *testing.T, s Store, b record.Batch) {
	t.Helper()
	if err := s.Append(ctx, b); err != nil {
		t.Fatal(err)
	}
}

func records(r ...record.Record) record.Batch { return record.Batch{Records: r} }

// full is one record of every kind, with everything set that a head can have.
func full() []record.Record {
	hop := rec("o", "s", "t", "p", 3, record.Hop{ID: "hop_1", Hop: record.HopAnswer, Finish: chat.FinishStop})
	hop.Run, hop.Request, hop.Consent, hop.Purpose = "run", "req", record.ConsentTrain, record.Discovery
	hop.Contract, hop.Revision = ids.DigestOf([]byte("c")), ids.DigestOf([]byte("r"))
	hop.Blob = &record.Blob{Tokens: []int32{1, 2}, Logps: []float32{-1, -0.25}}
	return []record.Record{
		opened("o", "s", 1), turn("o", "s", "p", "", 2), turn("o", "s", "t", "p", 2), hop,
		rec("o", "s", "t", "p", 4, record.ToolResults{Messages: []chat.Message{{Role: chat.Tool, ToolCallID: "c"}}, Asked: &record.Asked{API: "a", Fields: []byte(`{"b":1,"a":"<é>"}`)}}),
		closed("o", "s", "t", 5, record.StatusDelivered),
		rec("o", "s", "t", "p", 6, record.Summary{Text: "<é>\u2028", Source: "model"}),
		rec("o", "s", "t", "p", 7, record.SummaryUsed{Text: "<é>\u2028"}),
		rec("o", "s", "t", "p", 8, record.Feedback{Score: 1, Reason: "r"}),
		rec("o", "s", "t", "p", 9, record.Deleted{Response: "resp_1"}),
		rec("o", "s", "t", "p", 9, record.CardRendered{Surface: "inline/t/0", Revision: ids.DigestOf([]byte("c")), Bytes: 1}),
		rec("o", "s", "t", "p", 9, record.CardState{Surface: "inline/t/0", Values: map[string]json.RawMessage{"a": []byte(`"<é>"`)}, Private: true}),
		rec("o", "s", "t", "p", 9, record.CardAction{Action: action.Action{ID: "act_1", State: map[string]json.RawMessage{}}, Receipt: action.Receipt{Saw: "<é>"}}),
		rec("o", "s", "t", "p", 9, record.CardOutcome{Surface: "inline/t/0", Outcome: record.CardErrored, Errors: []string{"e"}, Round: 1, Repair: "req_1"}),
		ofRun("s", 10, record.RunOpened{Task: record.RunTask{Instruction: "do <é>"}, Mode: "functions", Messages: []chat.Message{chat.Text(chat.User, "do")}, Seed: 1<<64 - 1}),
		ofRun("s", 11, record.ToolCalled{Call: "c", Name: "f", Arguments: []byte(`{"b":1,"a":"<é>"}`), Effect: "write", Attempt: 1}),
		ofRun("s", 12, record.ToolReturned{Call: "c", Name: "f", Value: []byte(`{"b":1,"a":"<é>"}`), Shown: "s"}),
		ofRun("s", 13, record.CellRan{Cell: "c", Code: "1", Shown: "1"}),
		ofRun("s", 14, record.RunNote{Note: record.NoteMemoryAdded, Name: "scope", Item: "m", Text: "<é>"}),
		ofRun("s", 15, record.RunClosed{Status: record.RunDone, Answer: "a"}),
	}
}
