package session_test

import (
	"bufio"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"macaron/internal/chat"
	"macaron/internal/errs"
	"macaron/internal/record"
	"macaron/internal/session"
	"macaron/internal/store/sqlite"
)

// The test binary runs itself as a process that talks until it is killed: at a
// named point of a write, or whenever the parent likes.
func TestMain(m *testing.M) {
	if dir := os.Getenv("CRASH_TEST_DIR"); dir != "" {
		talk(dir, os.Getenv("CRASH_TEST_AT"))
		return
	}
	if err := flag.Set("rapid.checks", "50"); err != nil { // the command line still decides
		panic(err)
	}
	os.Exit(m.Run())
}

// failure lets the rig report from outside a test.
type failure struct{}

func (failure) Helper()                   {}
func (failure) Fatal(a ...any)            { panic(fmt.Sprint(a...)) }
func (failure) Fatalf(f string, a ...any) { panic(fmt.Sprintf(f, a...)) }

// talk holds a conversation for ever and prints a line for each thing that the log
// has acknowledged: what, turn, text.
func talk(dir, at string) {
	hits := 0
	store, err := sqlite.Open(ctx, sqlite.Options{Path: filepath.Join(dir, "log.db"), Durability: sqlite.Normal, Fault: func(s sqlite.Stage, k record.Kind) error {
		if at == string(s)+" "+string(k) {
			if hits++; hits == 2 {
				die()
			}
		}
		return nil
	}})
	if err != nil {
		panic(err)
	}
	r := rigOn(failure{}, store)
	r.log = session.New(store, session.Options{})
	var h []chat.Message
	for i := 0; ; i++ {
		h = r.talkOnce(with(h, user(fmt.Sprintf("u%d of %d", i, os.Getpid()))), []string{"L1", "L2"}[i%2])
	}
}

func die() {
	self, err := os.FindProcess(os.Getpid())
	if err == nil {
		err = self.Kill()
	}
	if err != nil {
		panic(err)
	}
	select {}
}

// talkOnce runs one turn with a tool loop and its summary.
func (r *rig) talkOnce(h []chat.Message, label string) []chat.Message {
	t := failure{}
	b := r.begin(t, me, h, label)
	fmt.Println("opened", b.ID)
	route := session.Served{Hop: record.Hop{Hop: record.HopRoute, Adapter: revision("L0"), Route: &record.RouteDecision{Label: label}}}
	if err := r.log.RecordHop(ctx, b.Turn, route); err != nil {
		t.Fatal(err)
	}
	asks := calls("call of " + b.ID)
	r.finish(t, b, asks)
	fmt.Println("awaiting", b.ID)
	h = with(h, asks, result(asks.ToolCalls[0].ID, "found"))
	b = r.begin(t, me, h, "")
	a := said("answer of " + b.ID)
	served := answer(label, a)
	served.Blob = &record.Blob{Tokens: []int32{1, 2, 3}}
	if err := r.log.Close(ctx, b.Turn, record.StatusDelivered, "", served); err != nil {
		t.Fatal(err)
	}
	fmt.Println("delivered", b.ID)
	tasks, err := r.log.LeaseSummaries(ctx, 1, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	for _, task := range tasks {
		r.summarize(t, task.Turn, "summary of "+task.Turn)
		fmt.Println("summary", task.Turn)
	}
	return with(h, a)
}

func TestKilledAtNamedPoints(t *testing.T) {
	dir := t.TempDir()
	w := &witness{acked: map[string]map[string]bool{}, seen: map[string]bool{}}
	for _, stage := range []sqlite.Stage{sqlite.BeforeRecord, sqlite.BeforeCommit, sqlite.AfterCommit} {
		for _, kind := range []record.Kind{record.KindTurnOpened, record.KindHop, record.KindToolResults, record.KindTurnClosed, record.KindSummary, record.KindSummaryUsed} {
			at := string(stage) + " " + string(kind)
			w.listen(t, dir, at, nil)
			w.check(t, dir, at)
		}
	}
}

func TestKilledAtAnyMoment(t *testing.T) {
	dir := t.TempDir()
	w := &witness{acked: map[string]map[string]bool{}, seen: map[string]bool{}}
	random := rand.New(rand.NewPCG(1, 2))
	for round := range 8 {
		after := 1 + random.IntN(30)
		w.listen(t, dir, "", func(line int, kill func()) {
			if line == after {
				time.AfterFunc(time.Duration(random.IntN(2000))*time.Microsecond, kill)
			}
		})
		w.check(t, dir, fmt.Sprintf("round %d, line %d", round, after))
	}
}

// witness remembers over all runs what was acknowledged: turn to things.
type witness struct {
	acked  map[string]map[string]bool
	seen   map[string]bool // record ids
	latest int64           // seq of all runs before
	newest int64           // seq of this run
}

// listen runs the talker until it dies.
func (w *witness) listen(t *testing.T, dir, at string, each func(line int, kill func())) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "CRASH_TEST_DIR="+dir, "CRASH_TEST_AT="+at)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	kill := func() { _ = cmd.Process.Kill() } // it may be dead already
	limit := time.AfterFunc(time.Minute, kill)
	defer limit.Stop()
	lines := 0
	for scan := bufio.NewScanner(out); scan.Scan(); lines++ {
		what, turn, ok := strings.Cut(scan.Text(), " ")
		if !ok {
			t.Fatalf("the talker said %q", scan.Text())
		}
		if w.acked[turn] == nil {
			w.acked[turn] = map[string]bool{}
		}
		w.acked[turn][what] = true
		if each != nil {
			each(lines+1, kill)
		}
	}
	if err := cmd.Wait(); err == nil || lines == 0 || !strings.Contains(err.Error(), "killed") {
		t.Fatalf("%s: the talker ended after %d lines: %v", at, lines, err)
	}
}

// check opens the log as the next process does and looks for everything that was
// acknowledged, for halves, and for ids given twice.
func (w *witness) check(t *testing.T, dir, at string) {
	t.Helper()
	store, err := sqlite.Open(t.Context(), sqlite.Options{Path: filepath.Join(dir, "log.db")})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	}()
	log := session.New(store, session.Options{})
	if _, err := log.Sweep(t.Context()); err != nil {
		t.Fatal(err)
	}
	states := map[string]session.Turn{}
	list, err := log.List(t.Context(), me.Owner, time.Time{}, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range list {
		_, turns, err := log.Load(t.Context(), me.Owner, s.Session)
		if err != nil {
			t.Fatal(err)
		}
		for _, turn := range turns {
			states[turn.ID] = turn
			w.checkTurn(t, log, turn, at)
		}
		w.checkRecords(t, store, s.Session, at)
	}
	w.latest = w.newest
	for id, things := range w.acked {
		turn, ok := states[id]
		switch {
		case !ok:
			t.Errorf("%s: turn %s is lost", at, id)
		case things["delivered"] && turn.Status != record.StatusDelivered:
			t.Errorf("%s: delivered turn %s is %s", at, id, turn.Status)
		case things["awaiting"] && turn.Status != record.StatusAwaiting && turn.Status != record.StatusDelivered:
			t.Errorf("%s: waiting turn %s is %s", at, id, turn.Status)
		case things["summary"] && turn.SummarySource == "":
			t.Errorf("%s: the summary of %s is lost", at, id)
		}
	}
}

// checkTurn looks for halves: a turn is whole or it is not there.
func (w *witness) checkTurn(t *testing.T, log *session.Log, turn session.Turn, at string) {
	t.Helper()
	want := map[record.Status]int{record.StatusInterrupted: 0, record.StatusAwaiting: 1, record.StatusDelivered: 3}
	n, ok := want[turn.Status]
	if !ok || turn.Status != record.StatusInterrupted && len(turn.Trace) != n {
		t.Errorf("%s: %s turn %s with %d messages", at, turn.Status, turn.ID, len(turn.Trace))
		return
	}
	history, err := log.History(t.Context(), me.Owner, turn.ID)
	if err != nil {
		t.Error(err)
		return
	}
	var client []chat.Message
	for _, h := range history {
		client = append(append(client, h.User...), h.Trace...)
	}
	switch turn.Status {
	case record.StatusDelivered:
		if got := turn.Answer(); got != "answer of "+turn.ID {
			t.Errorf("%s: %s answers %q", at, turn.ID, got)
		}
		p, err := log.Resolve(t.Context(), me, append(client, user("next")))
		if err != nil || p.Parent != turn.ID {
			t.Errorf("%s: after %s the client is at %q: %v", at, turn.ID, p.Parent, err)
		}
	case record.StatusAwaiting:
		p, err := log.Resolve(t.Context(), me, append(client, result("call of "+turn.ID, "r")))
		if err != nil || p.Continue == nil || p.Continue.ID != turn.ID {
			t.Errorf("%s: the calls of %s do not wait: %v", at, turn.ID, err)
		}
	case record.StatusInterrupted:
		if _, err := log.Resolve(t.Context(), session.Where{Owner: me.Owner, Scope: me.Scope, ParentTurn: turn.ID}, client); errs.CodeOf(err) != errs.NotFound {
			t.Errorf("%s: interrupted %s is history: %v", at, turn.ID, err)
		}
	}
}

// checkRecords sees that a session's records of this run come after all before.
func (w *witness) checkRecords(t *testing.T, store *sqlite.Store, id, at string) {
	t.Helper()
	all, err := store.Records(t.Context(), me.Owner, id, 0, 100_000)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range all {
		fresh := !w.seen[r.ID]
		w.seen[r.ID] = true
		if fresh && r.Seq <= w.latest {
			t.Errorf("%s: new record %s has seq %d, though %d was given", at, r.ID, r.Seq, w.latest)
		}
		w.newest = max(w.newest, r.Seq)
	}
}
