package session_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"macaron/internal/chat"
	"macaron/internal/record"
	"macaron/internal/session"
	"macaron/internal/store/sqlite"
)

// counted is a store that counts the queries of readers and the rows they give.
type counted struct {
	*sqlite.Store
	queries, rows int
}

func (c *counted) count(rows int) { c.queries++; c.rows += rows }

func (c *counted) LastChain(ctx context.Context, owner, scope, session string, hashes [][32]byte, limit int) (int, []record.Chain, error) {
	i, found, err := c.Store.LastChain(ctx, owner, scope, session, hashes, limit)
	c.count(len(found))
	return i, found, err
}

func (c *counted) Turn(ctx context.Context, owner, turn string) (record.TurnState, error) {
	c.count(1)
	return c.Store.Turn(ctx, owner, turn)
}

func (c *counted) Children(ctx context.Context, owner, turn string) ([]record.TurnState, error) {
	all, err := c.Store.Children(ctx, owner, turn)
	c.count(len(all))
	return all, err
}

func (c *counted) Lineage(ctx context.Context, owner, turn string, depth int) ([]record.Record, error) {
	all, err := c.Store.Lineage(ctx, owner, turn, depth)
	c.count(len(all))
	return all, err
}

func (c *counted) After(ctx context.Context, owner string, marks []record.Mark, limit int) ([]record.Record, error) {
	all, err := c.Store.After(ctx, owner, marks, limit)
	c.count(len(all))
	return all, err
}

// A turn of a long conversation costs no more at its end than at its start: neither in
// queries and rows read nor in bytes kept.
func TestLongConversationsCostTheSameATurn(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log.db")
	file := openAt(t, path)
	store := &counted{Store: file}
	r := rigOn(t, store.Store)
	r.log = session.New(store, session.Options{Clock: r.clock})
	size := func() int64 {
		if err := file.Reclaim(ctx); err != nil { // what is in the write-ahead log comes into the file
			t.Fatal(err)
		}
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		return info.Size()
	}
	const turns = 120
	var queries, rows [turns]int
	var bytes []int64 // at the beginning, half way and at the end
	var h []chat.Message
	for i := range turns {
		store.queries, store.rows = 0, 0
		var b begun
		h, b = r.say(t, with(h, user(fmt.Sprint(i, strings.Repeat(" word", 200)))), []string{"L0", "L1", "L2"}[i%3], strings.Repeat("answer ", 100))
		r.summarize(t, b.ID, "s")
		queries[i], rows[i] = store.queries, store.rows
		if i == 0 || i == turns/2 || i == turns-1 {
			bytes = append(bytes, size())
		}
	}
	early, late := turns/6, turns-1
	if queries[late] > queries[early] || rows[late] > rows[early] {
		t.Errorf("turn %d takes %d queries and %d rows, turn %d %d and %d", early, queries[early], rows[early], late, queries[late], rows[late])
	}
	first, second := bytes[1]-bytes[0], bytes[2]-bytes[1]
	if second > first*5/4 {
		t.Errorf("the log grows by %d bytes in the first half, by %d in the second", first, second)
	}
}

// What is kept in memory is what reading the whole lineage gives, whoever wrote
// meanwhile.
func TestKeptHistoryIsTheLogs(t *testing.T) {
	r := newRig(t)
	other := session.New(r.store, session.Options{Clock: r.clock}) // as another process
	check := func(turn string) {
		t.Helper()
		got, err := r.log.History(ctx, me.Owner, turn)
		if err != nil {
			t.Fatal(err)
		}
		want, err := session.New(r.store, session.Options{}).History(ctx, me.Owner, turn)
		if diff := cmp.Diff(want, got, cmpopts.IgnoreUnexported(session.Turn{})); err != nil || diff != "" {
			t.Errorf("%s: %v (-log +kept):\n%s", turn, err, diff)
		}
	}
	var h []chat.Message
	var all []begun
	for i := range 12 {
		var b begun
		before := h
		h, b = r.say(t, with(h, user(fmt.Sprint("u", i))), []string{"L0", "L1"}[i%2], "a")
		all = append(all, b)
		check(b.ID)
		if i%3 == 2 { // a retry is a fork, and the conversation goes on behind it
			h, b = r.say(t, with(before, user(fmt.Sprint("u", i))), "L2", fmt.Sprint("again ", i))
			all = append(all, b)
		}
		if err := other.Feedback(ctx, me.Owner, all[i/2].ID, record.Feedback{Score: 1 - i%3}); err != nil {
			t.Fatal(err)
		}
		if _, err := other.PutSummary(ctx, me.Owner, b.ID, session.Served{}, record.Summary{Text: fmt.Sprint("s", i), Source: "model"}); err != nil {
			t.Fatal(err)
		}
		for _, b := range all {
			check(b.ID)
		}
	}
}

// More happened than is read at once, and nothing of it is missed.
func TestKeptHistoryAfterALongAbsence(t *testing.T) {
	r := newRig(t)
	_, b := r.say(t, []chat.Message{user("u")}, "L0", "a")
	if _, err := r.log.History(ctx, me.Owner, b.ID); err != nil {
		t.Fatal(err)
	}
	var batch record.Batch
	for i := range 600 {
		batch.Records = append(batch.Records, record.Record{Head: record.Head{ID: fmt.Sprintf("rec_%04d", i), Owner: me.Owner, Session: b.Session, Turn: b.ID, Time: r.clock.Now(), Purpose: record.Production, Consent: record.ConsentNone}, Body: record.Feedback{Score: i % 2}})
	}
	if err := r.store.Append(ctx, batch); err != nil {
		t.Fatal(err)
	}
	if _, err := session.New(r.store, session.Options{Clock: r.clock}).PutSummary(ctx, me.Owner, b.ID, session.Served{}, record.Summary{Text: "at last", Source: "model"}); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		turns, err := r.log.History(ctx, me.Owner, b.ID)
		if err != nil || turns[0].Summary != "at last" {
			t.Fatalf("%q %v", turns[0].Summary, err)
		}
		if hops := turns[0].Hops; cap(hops) != len(hops) {
			t.Error("an append to one copy reaches another")
		}
	}
}

func BenchmarkTurnOfALongConversation(b *testing.B) {
	for _, turns := range []int{1, 120} {
		b.Run(fmt.Sprint(turns), func(b *testing.B) {
			store, err := sqlite.Open(b.Context(), sqlite.Options{Path: filepath.Join(b.TempDir(), "log.db"), Durability: sqlite.Normal})
			if err != nil {
				b.Fatal(err)
			}
			defer store.Close()
			r := rigOn(b, store)
			var h []chat.Message
			for i := range turns {
				h, _ = r.say(b, with(h, user(fmt.Sprint(i, strings.Repeat(" word", 100)))), "L0", strings.Repeat("answer ", 60))
			}
			h = with(h, user("next"))
			b.ResetTimer()
			for b.Loop() {
				if _, err := r.log.Resolve(ctx, me, h); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
