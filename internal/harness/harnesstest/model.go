package harnesstest

import (
	"context"
	"encoding/json"
	"path/filepath"
	"testing"

	"macaron/internal/backend"
	"macaron/internal/backend/backendtest"
	"macaron/internal/chat"
	"macaron/internal/errs"
	"macaron/internal/record"
	"macaron/internal/store/sqlite"
)

// Policy plays a model. What it says next follows from the conversation alone, as with a model: from
// the request, how often the model has spoken in it, and what tools have answered. So a run that is
// resumed gets the right answer. nil is ErrBroken.
type Policy func(r backend.Request, said int, results []string) []chat.Event

// ErrBroken is what an engine fails with for good.
var ErrBroken = errs.New(errs.InvalidRequest, "the engine takes no such request", "")

// Model is an engine that a policy plays.
func Model(p Policy) *backendtest.Scripted {
	return &backendtest.Scripted{On: func(_ context.Context, r backend.Request, emit func(chat.Event) bool) (bool, error) {
		said, results := 0, []string(nil)
		for _, m := range r.Messages {
			switch m.Role {
			case chat.Assistant:
				said++
			case chat.Tool:
				results = append(results, m.Text())
			}
		}
		events := p(r, said, results)
		if events == nil {
			return false, ErrBroken
		}
		backendtest.Emit(emit, events...)
		return true, nil
	}}
}

// Call is the n-th call of an answer.
func Call(n int, name string, args any) chat.Event {
	b, err := json.Marshal(args)
	if err != nil {
		panic(err)
	}
	return backendtest.Call(n, "", name, string(b))
}

// Log is a record log in a directory, until the test ends. fault, if it is not nil, is called at
// every write.
func Log(t testing.TB, dir string, fault func(sqlite.Stage, record.Kind) error) *sqlite.Store {
	t.Helper()
	store, err := sqlite.Open(context.Background(), sqlite.Options{Path: filepath.Join(dir, "log.db"), Durability: sqlite.Normal, Fault: fault})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	return store
}
