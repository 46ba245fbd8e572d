package postgres

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"macaron/internal/chat"
	"macaron/internal/record"
	"macaron/internal/session"
	"macaron/internal/store/postgres/pgtest"
)

// talk serves turns until the process dies, once it is told to begin, and prints a line for each thing
// that the log has acknowledged.
func talk(url string) {
	store, err := Open(ctx, Options{URL: url, Lease: time.Second})
	if err != nil {
		panic(err)
	}
	log := session.New(store, session.Options{})
	fmt.Println("ready", "-")
	if _, err := bufio.NewReader(os.Stdin).ReadString('\n'); err != nil {
		panic(err)
	}
	for n := 0; ; n++ {
		p, err := log.Resolve(ctx, me, []chat.Message{chat.Text(chat.User, fmt.Sprintf("%d of %d", n, os.Getpid()))})
		if err != nil {
			panic(err)
		}
		turn, err := log.Begin(ctx, p, session.Opening{})
		if err != nil {
			panic(err)
		}
		fmt.Println("begun", turn.ID)
		if err := log.Close(ctx, turn, record.StatusDelivered, "", answer("answer of "+turn.ID)); err != nil {
			panic(err)
		}
		fmt.Println("delivered", turn.ID)
	}
}

// A process is killed at its n-th message to the database, before the server has it or after. What
// was acknowledged is there, nothing is there by half, and another process ends what it left open.
func TestKilledAtEveryMessage(t *testing.T) {
	database := pgtest.Database(t)
	c, behind := between(t, database)
	other := open(t, Options{URL: database})
	log := session.New(other, session.Options{})
	acked := map[string]string{} // turn to the last thing that was acknowledged of it
	for n := 1; n <= 36; n++ {   // two turns and more, each of the messages on one side or the other
		killed(t, c, behind, n, n%2 == 0, acked)
	}
	if _, err := other.pool.Exec(ctx, `UPDATE instances SET until = now() - interval '1 second' WHERE id <> $1`, other.instance); err != nil { // instead of a wait
		t.Fatal(err)
	}
	if _, err := log.SweepLost(ctx); err != nil {
		t.Fatal(err)
	}
	list, err := log.List(ctx, me.Owner, time.Time{}, 0)
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]session.Turn{}
	for _, s := range list {
		_, turns, err := log.Load(ctx, me.Owner, s.Session)
		if err != nil {
			t.Fatal(err)
		}
		for _, turn := range turns {
			found[turn.ID] = turn
			whole := turn.Status == record.StatusDelivered && turn.Answer() == "answer of "+turn.ID || turn.Status == record.StatusInterrupted && len(turn.Trace) == 0
			if !whole {
				t.Errorf("turn %s is %s with %q", turn.ID, turn.Status, turn.Answer())
			}
		}
	}
	delivered := 0
	for id, what := range acked {
		turn, there := found[id]
		if !there || what == "delivered" && turn.Status != record.StatusDelivered {
			t.Errorf("turn %s was %s and is %q", id, what, turn.Status)
		}
		if what == "delivered" {
			delivered++
		}
	}
	if delivered == 0 || len(found) <= delivered {
		t.Errorf("%d turns, %d of them acknowledged as delivered: the kills came at the wrong moments", len(found), delivered)
	}
}

// killed runs a talker and kills it at its n-th message from the first turn on.
func killed(t *testing.T, c *cutter, url string, n int, after bool, acked map[string]string) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "CRASH_TEST_URL="+url)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	limit := time.AfterFunc(time.Minute, func() { _ = cmd.Process.Kill() })
	defer limit.Stop()
	c.mu.Lock()
	c.struck = func() { _ = cmd.Process.Kill() }
	c.mu.Unlock()
	for scan := bufio.NewScanner(out); scan.Scan(); {
		what, turn, _ := strings.Cut(scan.Text(), " ")
		if what == "ready" {
			c.arm(n, after)
			fmt.Fprintln(in, "go")
			continue
		}
		acked[turn] = what
	}
	if err := cmd.Wait(); err == nil || !strings.Contains(err.Error(), "killed") {
		t.Fatalf("message %d: the talker ended with %v", n, err)
	}
	c.arm(0, false)
	c.mu.Lock()
	c.struck = nil
	c.mu.Unlock()
}
