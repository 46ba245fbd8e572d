package session_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"macaron/internal/chat"
	"macaron/internal/errs"
	"macaron/internal/ownview"
	"macaron/internal/record"
	"macaron/internal/session"
	"macaron/internal/store/sqlite"
)

// Every write of a conversation fails once: nothing half-made is ever seen, and the
// client's retry makes the conversation whole.
func TestEveryWriteOfAConversationFailsOnce(t *testing.T) {
	for n := 1; ; n++ {
		count, broken := 0, errors.New("injected")
		store, err := sqlite.Open(t.Context(), sqlite.Options{Path: filepath.Join(t.TempDir(), "log.db"), Durability: sqlite.Normal, Fault: func(at sqlite.Stage, _ record.Kind) error {
			if at == sqlite.BeforeCommit {
				if count++; count == n {
					return broken
				}
			}
			return nil
		}})
		if err != nil {
			t.Fatal(err)
		}
		failed := conversation(t, rigOn(t, store), broken)
		if err := store.Close(); err != nil {
			t.Fatal(err)
		}
		if !failed {
			if n < 8 {
				t.Errorf("the conversation has only %d writes", n)
			}
			return
		}
	}
}

// When the disk is full, turns fail with a clear code, what was said can still be
// read, and with room again the client's retry goes on where it was.
func TestFullDiskStopsTurnsNotReading(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log.db")
	open := func(most int64) (*rig, *sqlite.Store) {
		store, err := sqlite.Open(t.Context(), sqlite.Options{Path: path, Durability: sqlite.Normal, MaxBytes: most})
		if err != nil {
			t.Fatal(err)
		}
		return rigOn(t, store), store
	}
	r, store := open(512 << 10)
	var h []chat.Message
	var full error
	turns := 0
	for ; full == nil && turns < 1000; turns++ {
		q := user(fmt.Sprintf("%d %s", turns, strings.Repeat("x", 4000)))
		if full = attempt(r, with(h, q), "L0", said("a")); full == nil {
			h = with(h, q, said("a"))
		}
	}
	if errs.CodeOf(full) != errs.StorageFull || len(h) == 0 {
		t.Fatalf("after %d turns: %v", turns, full)
	}
	pos, err := r.log.Resolve(ctx, me, with(h, user("next")))
	if err != nil || len(pos.History) != len(h)/2 {
		t.Errorf("%d turns are left: %v", len(pos.History), err)
	}
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	r, store = open(0)
	if _, err := r.log.Sweep(ctx); err != nil {
		t.Error(err)
	}
	b := r.begin(t, me, with(h, user("next")), "L0")
	if b.Parent != pos.Parent || len(b.view) != len(h)+2 {
		t.Errorf("after %s, not %s", b.Parent, pos.Parent)
	}
	if err := store.Close(); err != nil {
		t.Error(err)
	}
}

// conversation holds two turns with a tool loop, trying each request again after a
// failure, and reports whether there was one.
func conversation(t *testing.T, r *rig, broken error) (failed bool) {
	t.Helper()
	try := func(messages []chat.Message, label string, m chat.Message) []chat.Message {
		t.Helper()
		for range 3 {
			err := attempt(r, messages, label, m)
			if err == nil {
				return with(messages, m)
			}
			if !errors.Is(err, broken) {
				t.Fatal(err)
			}
			failed = true
		}
		t.Fatal("no attempt came through")
		return nil
	}
	h := try([]chat.Message{user("u1")}, "L1", calls("c"))
	h = try(with(h, result("c", "r")), "", said("A1"))
	try(with(h, user("u2")), "L2", said("A2"))
	if !failed { // the fault is still to come
		return false
	}
	wantView(t, r.begin(t, me, with(h[:4:4], user("u2")), "L1"), "user:u1", "assistant: call c", "tool:r for c", "assistant:A1", "user:u2")
	wantView(t, r.begin(t, me, with(h[:4:4], user("u2")), "L2"), "user:u1", "assistant:[A1]", "user:u2")
	return failed
}

// attempt is one request of a client, as the turn room serves it.
func attempt(r *rig, messages []chat.Message, label string, m chat.Message) error {
	pos, err := r.log.Resolve(ctx, me, messages)
	if err != nil {
		return err
	}
	turn, err := r.log.Begin(ctx, pos, session.Opening{})
	if err != nil {
		return err
	}
	if pos.Continue != nil {
		label = turn.Revision.Name
	}
	err = r.serve(pos, turn, label, m)
	if err == nil {
		return nil
	}
	return errors.Join(err, r.log.Close(ctx, turn, record.StatusInterrupted, "storage_failed"))
}

func (r *rig) serve(pos session.Position, turn *session.Turn, label string, m chat.Message) error {
	var foreign []*session.Turn
	for i := range pos.History {
		if pos.History[i].Revision.Name != label {
			foreign = append(foreign, &pos.History[i])
		}
	}
	if err := r.log.UseSummaries(ctx, foreign, r.extract); err != nil {
		return err
	}
	if _, err := ownview.Build(r.c, session.Views(pos.History), turn.View(), label); err != nil {
		return err
	}
	status := record.StatusDelivered
	if len(m.ToolCalls) > 0 {
		status = record.StatusAwaiting
	}
	return r.log.Close(ctx, turn, status, "", answer(label, m))
}
