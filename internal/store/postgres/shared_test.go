package postgres

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"macaron/internal/chat"
	"macaron/internal/errs"
	"macaron/internal/record"
	"macaron/internal/session"
	"macaron/internal/store/postgres/pgtest"
)

// two opens one database as two processes would.
func two(t *testing.T) [2]*Store {
	t.Helper()
	url := pgtest.Database(t)
	return [2]*Store{open(t, Options{URL: url}), open(t, Options{URL: url})}
}

var me = session.Where{Owner: "ann", Scope: "key"}

func answer(text string) session.Served {
	m := chat.Text(chat.Assistant, text)
	return session.Served{Hop: record.Hop{Hop: record.HopAnswer, Message: &m, Finish: chat.FinishStop}}
}

func with(messages []chat.Message, more ...chat.Message) []chat.Message {
	return append(messages[:len(messages):len(messages)], more...)
}

// begin resolves and opens a turn.
func begin(t *testing.T, l *session.Log, messages []chat.Message) *session.Turn {
	t.Helper()
	p, err := l.Resolve(ctx, me, messages)
	if err != nil {
		t.Error(err)
		return nil
	}
	turn, err := l.Begin(ctx, p, session.Opening{})
	if err != nil {
		t.Error(err)
	}
	return turn
}

// Conversations go on whichever process gets the next request, all at once, and none
// is split or joined with another.
func TestNoStickySessionIsNeeded(t *testing.T) {
	stores := two(t)
	logs := [2]*session.Log{session.New(stores[0], session.Options{}), session.New(stores[1], session.Options{})}
	const talks, turns = 8, 12
	var group sync.WaitGroup
	for talk := range talks {
		group.Go(func() {
			var h []chat.Message
			session, parent := "", ""
			for i := range turns {
				h = with(h, chat.Text(chat.User, fmt.Sprintf("%d of %d", i, talk)))
				turn := begin(t, logs[(talk+i)%2], h)
				if turn == nil {
					return
				}
				if turn.Parent != parent || session != "" && turn.Session != session {
					t.Errorf("talk %d, turn %d: in %s after %q, not in %s after %q", talk, i, turn.Session, turn.Parent, session, parent)
				}
				session, parent = turn.Session, turn.ID
				said := answer("yes " + turn.ID)
				if err := logs[(talk+i)%2].Close(ctx, turn, record.StatusDelivered, "", said); err != nil {
					t.Error(err)
				}
				h = with(h, *said.Hop.Message)
			}
		})
	}
	group.Wait()
	list, err := logs[0].List(ctx, me.Owner, time.Time{}, 0)
	if err != nil || len(list) != talks {
		t.Errorf("%d sessions: %v", len(list), err)
	}
	for _, s := range list {
		if s.Turns != turns {
			t.Errorf("%s has %d turns", s.Session, s.Turns)
		}
	}
}

// One of several processes that answer the same tool calls goes on with the turn; the
// others open siblings.
func TestOneProcessContinuesATurn(t *testing.T) {
	stores := two(t)
	logs := [2]*session.Log{session.New(stores[0], session.Options{}), session.New(stores[1], session.Options{})}
	ask := chat.Message{Role: chat.Assistant, ToolCalls: []chat.ToolCall{{ID: "c", Name: "f", Arguments: "{}"}}}
	h := []chat.Message{chat.Text(chat.User, "u")}
	first := begin(t, logs[0], h)
	if err := logs[0].Close(ctx, first, record.StatusAwaiting, "", session.Served{Hop: record.Hop{Hop: record.HopAnswer, Message: &ask}}); err != nil {
		t.Fatal(err)
	}
	found := chat.Text(chat.Tool, "r")
	found.ToolCallID = "c"
	h = with(h, ask, found)
	const racers = 6
	ids := make(chan string, racers)
	var group sync.WaitGroup
	for i := range racers {
		group.Go(func() {
			if turn := begin(t, logs[i%2], h); turn != nil {
				ids <- turn.ID
			}
		})
	}
	group.Wait()
	close(ids)
	same, all := 0, map[string]bool{}
	for id := range ids {
		all[id] = true
		if id == first.ID {
			same++
		}
	}
	if same != 1 || len(all) != racers {
		t.Errorf("%d continue the turn; %d turns", same, len(all))
	}
}

// Whichever process uses a turn's summary first, all see the same text ever after.
func TestFirstSummaryIsFinalForAll(t *testing.T) {
	stores := two(t)
	logs := [2]*session.Log{session.New(stores[0], session.Options{}), session.New(stores[1], session.Options{})}
	for round := range 10 {
		h := []chat.Message{chat.Text(chat.User, fmt.Sprint("u", round))}
		turn := begin(t, logs[0], h)
		if err := logs[0].Close(ctx, turn, record.StatusDelivered, "", answer("a")); err != nil {
			t.Fatal(err)
		}
		texts := make([]string, 6)
		var group sync.WaitGroup
		for i := range texts {
			group.Go(func() {
				mine, err := logs[i%2].Turn(ctx, me.Owner, turn.ID)
				if err == nil {
					err = logs[i%2].UseSummaries(ctx, []*session.Turn{&mine}, func(*session.Turn) string { return fmt.Sprint("by ", i) })
				}
				if err != nil {
					t.Error(err)
				}
				texts[i] = mine.Summary
			})
		}
		group.Wait()
		for _, text := range texts {
			if text != texts[0] || text == "" {
				t.Fatalf("round %d: %q", round, texts)
			}
		}
	}
}

// Two processes never hold one summary at once, and each is done by one of them.
func TestLeasesAreNotShared(t *testing.T) {
	stores := two(t)
	var b record.Batch
	for i := range 200 {
		b.Queue = append(b.Queue, record.Ref{Owner: "o", Session: "s", Turn: fmt.Sprint(i)})
	}
	if err := stores[0].Append(ctx, b); err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	taken := map[string]int{}
	var group sync.WaitGroup
	for i := range 6 {
		group.Go(func() {
			for {
				tasks, err := stores[i%2].Lease(ctx, time.Unix(1, 0), time.Unix(1000, 0), 3)
				if err != nil {
					t.Error(err)
				}
				if len(tasks) == 0 {
					return
				}
				mu.Lock()
				for _, task := range tasks {
					taken[task.Turn]++
				}
				mu.Unlock()
			}
		})
	}
	group.Wait()
	for turn, n := range taken {
		if n != 1 {
			t.Errorf("%s was taken %d times", turn, n)
		}
	}
	if len(taken) != 200 {
		t.Errorf("%d taken", len(taken))
	}
}

// A process that lives keeps its open turns and leases, however often others start. Of
// one that has ended they are taken over, and what it still tries to write is refused.
func TestOpenTurnsBelongToTheirProcess(t *testing.T) {
	url := pgtest.Database(t)
	mine, other := open(t, Options{URL: url}), open(t, Options{URL: url})
	log, theirs := session.New(mine, session.Options{}), session.New(other, session.Options{})
	held := begin(t, log, []chat.Message{chat.Text(chat.User, "u")})
	if err := mine.Append(ctx, record.Batch{Queue: []record.Ref{{Owner: me.Owner, Session: held.Session, Turn: held.ID}}}); err != nil {
		t.Fatal(err)
	}
	if tasks, err := mine.Lease(ctx, time.Now(), time.Now().Add(time.Hour), 1); err != nil || len(tasks) != 1 {
		t.Fatal(tasks, err)
	}
	leased := func() int {
		tasks, err := other.Lease(ctx, time.Now(), time.Now(), 9)
		if err != nil {
			t.Error(err)
		}
		return len(tasks)
	}
	if n, err := theirs.Sweep(ctx); err != nil || n != 0 || leased() != 0 {
		t.Fatalf("%d turns of a living process were swept: %v", n, err)
	}
	if n, err := theirs.SweepLost(ctx); err != nil || n != 0 {
		t.Fatalf("%d turns of a living process are lost: %v", n, err)
	}
	crash(t, mine)
	if n, err := theirs.SweepLost(ctx); err != nil || n != 1 {
		t.Fatalf("%d turns of a process that ended were swept: %v", n, err)
	}
	if err := other.ReleaseAll(ctx); err != nil || leased() != 1 {
		t.Errorf("its lease was not taken over: %v", err)
	}
	if err := log.Close(ctx, held, record.StatusDelivered, "", answer("too late")); !errors.Is(err, record.ErrConflict) {
		t.Errorf("a turn that was taken over was delivered: %v", err)
	}
	if turn, err := theirs.Turn(ctx, me.Owner, held.ID); err != nil || turn.Status != record.StatusInterrupted || len(turn.Trace) > 0 {
		t.Errorf("%s %v", turn.Status, err)
	}
}

// crash lets a store's lease end, as that of a process does which beats no more.
func crash(t *testing.T, s *Store) {
	t.Helper()
	s.stop()
	s.beats.Wait()
	if _, err := s.pool.Exec(ctx, `UPDATE instances SET until = now() - interval '1 second' WHERE id = $1`, s.instance); err != nil {
		t.Fatal(err)
	}
}

// The lease is renewed before it ends.
func TestLeaseOfLifeIsRenewed(t *testing.T) {
	url := pgtest.Database(t)
	mine, other := open(t, Options{URL: url, Lease: 300 * time.Millisecond}), open(t, Options{URL: url})
	begin(t, session.New(mine, session.Options{}), []chat.Message{chat.Text(chat.User, "u")})
	var first, later time.Time
	read := func(at *time.Time) {
		if err := other.pool.QueryRow(ctx, `SELECT until FROM instances WHERE id = $1`, mine.instance).Scan(at); err != nil {
			t.Fatal(err)
		}
	}
	for read(&first); !later.After(first); read(&later) {
		time.Sleep(20 * time.Millisecond)
	}
}

func TestLogIsAppendOnly(t *testing.T) {
	s := two(t)[0]
	begin(t, session.New(s, session.Options{}), []chat.Message{chat.Text(chat.User, "u")})
	for _, q := range []string{"UPDATE records SET body = '{}'", "DELETE FROM records", "TRUNCATE records"} {
		if _, err := s.pool.Exec(ctx, q); err == nil || !strings.Contains(err.Error(), "append-only") {
			t.Errorf("%s: %v", q, err)
		}
	}
}

func TestForeignDatabasesAreRefused(t *testing.T) {
	url := pgtest.Database(t)
	s := open(t, Options{URL: url})
	if _, err := s.pool.Exec(ctx, "INSERT INTO goose_db_version (version_id, is_applied) VALUES (999, true)"); err != nil {
		t.Fatal(err)
	}
	for at, want := range map[string]struct {
		code errs.Code
		text string
	}{
		url: {errs.Unsupported, "newer build"},
		strings.Replace(url, "/test", "/none", 1): {errs.StorageFailed, "does not exist"},
		"postgres://a:hush@127.0.0.1:1/x":         {errs.StorageFailed, "cannot be reached"},
		"postgres://a:hush@127.0.0.1:x/x":         {errs.InvalidRequest, "not a Postgres URL"},
	} {
		_, err := Open(ctx, Options{URL: at})
		if e := errs.As(err); err == nil || e.Code != want.code || !strings.Contains(e.Message, want.text) || strings.Contains(err.Error(), "hush") {
			t.Errorf("%s: %v", at, err)
		}
	}
}
