package session_test

import (
	"testing"
	"time"

	"macaron/internal/chat"
	"macaron/internal/record"
	"macaron/internal/session"
)

// A hop that is noted is in the log once the turn is closed, before the end; of a turn that
// takes long it is there before.
func TestANotedHopIsWritten(t *testing.T) {
	for _, long := range []bool{false, true} {
		r := newRig(t)
		position, err := r.log.Resolve(ctx, me, []chat.Message{user("hello")})
		if err != nil {
			t.Fatal(err)
		}
		turn, err := r.log.Begin(ctx, position, session.Opening{})
		if err != nil {
			t.Fatal(err)
		}
		route := session.Served{Hop: record.Hop{Hop: record.HopRoute, Route: &record.RouteDecision{Label: "L1"}}}
		if err := r.log.NoteHop(ctx, turn, route); err != nil {
			t.Fatal(err)
		}
		if turn.Route == nil {
			t.Error("the turn in hand does not have it")
		}
		for long && len(kinds(t, r, turn.Session)) < 3 {
			time.Sleep(time.Millisecond)
		}
		if err := r.log.Close(ctx, turn, record.StatusInterrupted, "test"); err != nil {
			t.Fatal(err)
		}
		want := []record.Kind{record.KindSessionOpened, record.KindTurnOpened, record.KindHop, record.KindTurnClosed}
		if got := kinds(t, r, turn.Session); len(got) != 4 || got[2] != want[2] || got[3] != want[3] {
			t.Errorf("long %t: %v", long, got)
		}
	}
}

// A turn that nobody asks for while it goes on is in the log with its end, in one commit, and
// before that when it takes long.
func TestASoonTurnIsWritten(t *testing.T) {
	for _, long := range []bool{false, true} {
		r := newRig(t)
		position, err := r.log.Resolve(ctx, me, []chat.Message{user("hello")})
		if err != nil {
			t.Fatal(err)
		}
		turn, err := r.log.Begin(ctx, position, session.Opening{Soon: true})
		if err != nil {
			t.Fatal(err)
		}
		if turn.Status != record.StatusOpen || turn.Session == "" || len(turn.User) != 1 {
			t.Errorf("the turn in hand is %+v", turn)
		}
		for long && len(kinds(t, r, turn.Session)) < 2 {
			time.Sleep(time.Millisecond)
		}
		answer := chat.Text(chat.Assistant, "there")
		if err := r.log.Close(ctx, turn, record.StatusDelivered, "", session.Served{Hop: record.Hop{Hop: record.HopAnswer, Message: &answer}}); err != nil {
			t.Fatal(err)
		}
		if got := kinds(t, r, turn.Session); len(got) != 4 || got[1] != record.KindTurnOpened || got[3] != record.KindTurnClosed {
			t.Errorf("long %t: %v", long, got)
		}
		next, err := r.log.Resolve(ctx, me, []chat.Message{user("hello"), answer, user("more")})
		if err != nil || next.Parent != turn.ID || next.Session != turn.Session {
			t.Errorf("long %t: it goes on after %q in %q: %v", long, next.Parent, next.Session, err)
		}
		if err := r.log.Close(ctx, turn, record.StatusInterrupted, ""); err == nil {
			t.Error("it was closed twice")
		}
	}
}

// What waits is written with whatever is written next of the turn, before it.
func TestWhatWaitsComesFirst(t *testing.T) {
	r := newRig(t)
	position, err := r.log.Resolve(ctx, me, []chat.Message{user("hello")})
	if err != nil {
		t.Fatal(err)
	}
	turn, err := r.log.Begin(ctx, position, session.Opening{Soon: true})
	if err != nil {
		t.Fatal(err)
	}
	if err := r.log.RecordHop(ctx, turn, session.Served{Hop: record.Hop{Hop: record.HopRoute}}); err != nil {
		t.Fatal(err)
	}
	if got := kinds(t, r, turn.Session); len(got) != 3 || got[2] != record.KindHop {
		t.Error(got)
	}
}

func kinds(t *testing.T, r *rig, session string) (all []record.Kind) {
	t.Helper()
	records, err := r.store.Records(ctx, me.Owner, session, 0, 99)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range records {
		all = append(all, r.Body.Kind())
	}
	return all
}

// What a client can name is in the log: Settle does not wait for the turn's end.
func TestASettledTurnIsFound(t *testing.T) {
	r := newRig(t)
	position, err := r.log.Resolve(ctx, me, []chat.Message{user("hello")})
	if err != nil {
		t.Fatal(err)
	}
	turn, err := r.log.Begin(ctx, position, session.Opening{Soon: true})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := r.log.Settle(ctx, turn); err != nil {
			t.Fatal(err)
		}
		if got := kinds(t, r, turn.Session); len(got) != 2 || got[1] != record.KindTurnOpened {
			t.Error(got)
		}
	}
}
