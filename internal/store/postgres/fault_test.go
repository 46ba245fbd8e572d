package postgres

import (
	"fmt"
	"io"
	"net"
	"net/url"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"macaron/internal/chat"
	"macaron/internal/errs"
	"macaron/internal/record"
	"macaron/internal/session"
	"macaron/internal/store/postgres/pgtest"
)

// cutter stands between the store and the real server and breaks the connection at the n-th message of
// the client: before the server has it, or after it has it and before it answers.
type cutter struct {
	t      *testing.T
	to     string
	mu     sync.Mutex
	left   int // messages until the cut; negative: none is made
	after  bool
	made   bool
	struck func() // what happens then beside
	closed sync.WaitGroup
}

// between gives the URL of a database behind a cutter.
func between(t *testing.T, database string) (*cutter, string) {
	t.Helper()
	u, err := url.Parse(database)
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	c := &cutter{t: t, to: filepath.Join(u.Query().Get("host"), ".s.PGSQL.5432"), left: -1}
	c.closed.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			c.closed.Go(func() { c.carry(conn) })
		}
	})
	t.Cleanup(func() {
		l.Close()
		c.closed.Wait()
	})
	return c, (&url.URL{Scheme: "postgres", User: u.User, Host: l.Addr().String(), Path: u.Path, RawQuery: "sslmode=disable"}).String()
}

func (c *cutter) carry(client net.Conn) {
	defer client.Close()
	server, err := net.Dial("unix", c.to)
	if err != nil {
		c.t.Error(err)
		return
	}
	defer server.Close()
	done := make(chan struct{})
	defer func() { <-done }()
	go func() {
		defer close(done)
		_, _ = io.Copy(client, server)
		client.Close()
	}()
	for buf := make([]byte, 64<<10); ; {
		n, err := client.Read(buf)
		if err != nil {
			server.Close()
			return
		}
		cut, after := c.next()
		if cut && after {
			client.Close() // first, so that no answer comes through
			_, _ = server.Write(buf[:n])
			select { // the server does what it was told
			case <-done: // and its answer found nobody
			case <-time.After(time.Second): // and has nothing to say to it yet
			}
		}
		if cut {
			client.Close()
			server.Close()
			return
		}
		if _, err := server.Write(buf[:n]); err != nil {
			return
		}
	}
}

func (c *cutter) next() (cut, after bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.left >= 0 {
		c.left--
	}
	if c.left == 0 {
		c.left, c.made = -1, true
		if c.struck != nil {
			c.struck()
		}
		return true, c.after
	}
	return false, false
}

// arm has the n-th message from now cut; 0 has none.
func (c *cutter) arm(n int, after bool) (made bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	made = c.made
	c.left, c.after, c.made = n, after, false
	if n == 0 {
		c.left = -1
	}
	return made
}

// The connection to the database breaks at every message of a turn, once: what was acknowledged is
// there, nothing is there by half, and the client's retry goes through.
func TestTheConnectionBreaksAtEveryMessage(t *testing.T) {
	database := pgtest.Database(t)
	c, behind := between(t, database)
	direct := session.New(open(t, Options{URL: database}), session.Options{})
	for _, after := range []bool{false, true} {
		log := session.New(open(t, Options{URL: behind}), session.Options{})
		tried := 0
		for n := 1; n < 200; n++ {
			where := session.Where{Owner: fmt.Sprintf("o%d%v", n, after), Scope: "key"}
			c.arm(n, after)
			begun, closed := turnOnce(t, log, where, n)
			if !c.arm(0, false) {
				break
			}
			tried++
			for try := 0; !closed; try++ {
				if try == 4 { // one try for each connection of the pool that was broken
					t.Fatalf("cut %d: no retry goes through", n)
				}
				_, closed = turnOnce(t, log, where, n)
			}
			check(t, direct, where, n, after, begun)
		}
		if tried < 6 {
			t.Errorf("only %d messages were tried", tried)
		}
	}
}

// turnOnce serves one turn and tells what was acknowledged: that it began, by its id, and that it closed.
func turnOnce(t *testing.T, l *session.Log, where session.Where, n int) (begun string, closed bool) {
	t.Helper()
	coded := func(err error) bool {
		if code := errs.CodeOf(err); err != nil && code != errs.StorageFailed {
			t.Errorf("cut %d gives %v", n, err)
		}
		return err == nil
	}
	p, err := l.Resolve(ctx, where, []chat.Message{chat.Text(chat.User, "u")})
	if !coded(err) {
		return "", false
	}
	turn, err := l.Begin(ctx, p, session.Opening{})
	if !coded(err) {
		return "", false
	}
	return turn.ID, coded(l.Close(ctx, turn, record.StatusDelivered, "", answer("a")))
}

func check(t *testing.T, l *session.Log, where session.Where, n int, after bool, begun string) {
	t.Helper()
	list, err := l.List(ctx, where.Owner, time.Time{}, 0)
	if err != nil {
		t.Fatal(err)
	}
	delivered, found := 0, begun == ""
	for _, s := range list {
		_, turns, err := l.Load(ctx, where.Owner, s.Session)
		if err != nil {
			t.Fatal(err)
		}
		for _, turn := range turns {
			found = found || turn.ID == begun
			if turn.Status == record.StatusDelivered {
				delivered++
				if turn.Answer() != "a" || len(turn.User) != 1 {
					t.Errorf("cut %d: half a turn: %+v", n, turn)
				}
			}
		}
	}
	if !found {
		t.Errorf("cut %d: the turn that was begun is lost", n)
	}
	// A commit whose answer was lost may have been made: then the retry is one more.
	if delivered != 1 && !(after && delivered == 2) {
		t.Errorf("cut %d, after %v: %d turns are delivered", n, after, delivered)
	}
}
