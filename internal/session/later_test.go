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
