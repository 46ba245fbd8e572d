package postgres

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"macaron/internal/chat"
	"macaron/internal/record"
	"macaron/internal/session"
)

// While others fork a conversation it is deleted: no turn is left whose beginning is gone,
// and none of what was deleted.
func TestForksOfADeletedSession(t *testing.T) {
	stores := two(t)
	log := session.New(stores[0], session.Options{})
	for round := range 6 {
		h := []chat.Message{chat.Text(chat.User, fmt.Sprint("u", round))}
		first := begin(t, log, h)
		if err := log.Close(ctx, first, record.StatusDelivered, "", answer("a")); err != nil {
			t.Fatal(err)
		}
		var group sync.WaitGroup
		for i := range 4 {
			group.Go(func() {
				head := record.Head{Owner: me.Owner, Session: fmt.Sprintf("f%d_%d", round, i), Time: time.Unix(1, 0), Purpose: record.Production, Consent: record.ConsentNone}
				opened, turned := head, head
				opened.ID, turned.ID, turned.Turn, turned.ParentTurn = "o"+head.Session, "t"+head.Session, "t"+head.Session, first.ID
				_ = stores[i%2].Append(ctx, record.Batch{Records: []record.Record{ // refused once the parent is gone
					{Head: opened, Body: record.SessionOpened{Root: first.Session, Scope: me.Scope}}, {Head: turned, Body: record.TurnOpened{}},
					{Head: record.Head{ID: "c" + head.Session, Owner: me.Owner, Session: head.Session, Turn: turned.Turn, Time: head.Time, Purpose: record.Production, Consent: record.ConsentNone}, Body: record.TurnClosed{Status: record.StatusDelivered}},
				}})
			})
		}
		group.Go(func() {
			if _, err := stores[1].Erase(ctx, me.Owner, first.Session, record.Erase{Why: "w", Time: time.Unix(2, 0)}); err != nil {
				t.Error(err)
			}
		})
		group.Wait()
	}
	var orphans, turns int
	if err := stores[0].pool.QueryRow(ctx, `SELECT count(*), count(*) FILTER (WHERE parent <> '' AND NOT EXISTS (SELECT 1 FROM turns p WHERE p.owner = t.owner AND p.id = t.parent)) FROM turns t`).Scan(&turns, &orphans); err != nil || orphans > 0 {
		t.Errorf("%d of %d turns have no beginning: %v", orphans, turns, err)
	}
}
