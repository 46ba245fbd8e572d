package session_test

import (
	"bufio"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"macaron/internal/chat"
	"macaron/internal/errs"
	"macaron/internal/record"
	"macaron/internal/session"
	"macaron/internal/store/sqlite"
)

var (
	seeds = flag.Int("seeds", 3, "how many conversations TestKilledAtNamedPoints kills at each point")
	kills = flag.Int("kills", 8, "how often TestKilledAtAnyMoment kills")
)

// The test binary runs itself as a process that talks until it is killed: at a
// named point of a write, or whenever the parent likes.
func TestMain(m *testing.M) {
	if dir := os.Getenv("CRASH_TEST_DIR"); dir != "" {
		seed, err := strconv.ParseUint(os.Getenv("CRASH_TEST_SEED"), 10, 64)
		if err != nil {
			panic(err)
		}
		talk(dir, os.Getenv("CRASH_TEST_AT"), seed)
		return
	}
	if err := flag.Set("rapid.checks", "50"); err != nil { // the command line still decides
		panic(err)
	}
	os.Exit(m.Run())
}

// conversational are the kinds of record that conversations are made of.
var conversational = []record.Kind{
	record.KindSessionOpened, record.KindTurnOpened, record.KindHop, record.KindToolResults, record.KindTurnClosed, record.KindSummary,
	record.KindSummaryUsed, record.KindFeedback, record.KindDeleted, record.KindJoined, record.KindCompacted,
	record.KindCardRendered, record.KindCardAction, record.KindCardState, record.KindCardOutcome,
}

// Every kind of record, killed at each stage of its write: in the transaction, before its
// commit, and behind it, before anybody is told.
func TestKilledAtNamedPoints(t *testing.T) {
	for seed := range uint64(*seeds) {
		t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) {
			t.Parallel()
			w := newWitness(t.TempDir(), seed)
			for _, stage := range []sqlite.Stage{sqlite.BeforeRecord, sqlite.BeforeCommit, sqlite.AfterCommit} {
				for _, kind := range conversational {
					at := string(stage) + " " + string(kind)
					w.listen(t, at, nil)
					w.check(t, at)
				}
			}
			w.checkAll(t)
		})
	}
}

func TestKilledAtAnyMoment(t *testing.T) {
	w := newWitness(t.TempDir(), 0)
	random := rand.New(rand.NewPCG(1, 2))
	for round := range *kills {
		w.seed = random.Uint64()
		after := 1 + random.IntN(30)
		w.listen(t, "", func(line int, kill func()) {
			if line == after {
				time.AfterFunc(time.Duration(random.IntN(2000))*time.Microsecond, kill)
			}
		})
		w.check(t, fmt.Sprintf("round %d, line %d", round, after))
	}
	w.checkAll(t)
}

// witness remembers over all runs what was acknowledged: turn or session to things, and
// what was said of each.
type witness struct {
	dir    string
	seed   uint64
	acked  map[string]map[string]string
	read   map[string]int64 // sessions and turns to the last record that their session had
	seen   map[string]bool  // record ids
	latest int64            // seq of all runs before
	newest int64            // seq of this run
}

func newWitness(dir string, seed uint64) *witness {
	return &witness{dir: dir, seed: seed, acked: map[string]map[string]string{}, read: map[string]int64{}, seen: map[string]bool{}}
}

// listen runs the talker until it dies.
func (w *witness) listen(t *testing.T, at string, each func(line int, kill func())) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "CRASH_TEST_DIR="+w.dir, "CRASH_TEST_AT="+at, "CRASH_TEST_SEED="+strconv.FormatUint(w.seed, 10))
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	kill := func() { _ = cmd.Process.Kill() } // it may be dead already
	limit := time.AfterFunc(time.Minute, func() {
		t.Errorf("%s: nothing killed the talker within a minute", at)
		kill()
	})
	defer limit.Stop()
	lines := 0
	for scan := bufio.NewScanner(out); scan.Scan(); lines++ {
		said := strings.Fields(scan.Text() + " -")
		if len(said) < 3 {
			t.Fatalf("the talker said %q", scan.Text())
		}
		what, id := said[0], said[1]
		if w.acked[id] == nil {
			w.acked[id] = map[string]string{}
		}
		w.acked[id][what] = said[2]
		if each != nil {
			each(lines+1, kill)
		}
	}
	if err := cmd.Wait(); err == nil || lines == 0 || !strings.Contains(err.Error(), "killed") {
		t.Fatalf("%s: the talker ended after %d lines: %v", at, lines, err)
	}
}

// check opens the log as the next process does and looks for everything that was
// acknowledged, for halves, and for ids given twice. Sessions without new records are not folded again.
func (w *witness) check(t *testing.T, at string) {
	t.Helper()
	path := filepath.Join(w.dir, "log.db")
	if err := sqlite.Check(t.Context(), path); err != nil {
		t.Fatalf("%s: %v", at, err)
	}
	store, err := sqlite.Open(t.Context(), sqlite.Options{Path: path, Durability: sqlite.Normal})
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
	list, err := store.Sessions(t.Context(), me.Owner, time.Time{}, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range list {
		last := w.checkRecords(t, store, s.Session, at)
		if w.read[s.Session] == last {
			continue
		}
		w.read[s.Session] = last
		c, err := log.Conversation(t.Context(), me.Owner, s.Session)
		if err != nil {
			t.Fatal(err)
		}
		for _, turn := range c.Turns {
			w.read[turn.ID] = last
			w.checkTurn(t, log, turn, at)
			w.checkAcked(t, log, turn, at)
		}
		if asked, ok := w.acked[s.Session]; ok && (c.Asked == nil || string(c.Asked.Fields) != asked["session"]) {
			t.Errorf("%s: session %s was opened with %s and has %v", at, s.Session, asked["session"], c.Asked)
		}
	}
	w.latest = w.newest
	for id, things := range w.acked {
		if w.read[id] == 0 {
			t.Errorf("%s: %s is lost, of which was acknowledged %v", at, id, things)
		}
	}
}

// checkAll reads every session once more: later runs have left the earlier ones as they were.
func (w *witness) checkAll(t *testing.T) {
	t.Helper()
	clear(w.read)
	w.check(t, "at the end")
}

// checkAcked compares a turn with what the log acknowledged of it.
func (w *witness) checkAcked(t *testing.T, log *session.Log, turn session.Turn, at string) {
	t.Helper()
	for what, said := range w.acked[turn.ID] {
		var ok bool
		switch what {
		case "opened":
			ok = encode(t, turn.User[:1]) == encode(t, []chat.Message{user(said)})
		case "awaiting":
			ok = turn.Status == record.StatusAwaiting || turn.Status == record.StatusDelivered
		case "delivered":
			ok = turn.Status == record.StatusDelivered && w.conversation(t, log, turn.ID) == said
		case "summary":
			ok = turn.SummarySource == record.SummaryModel && turn.Summary == "summary of "+turn.ID
		case "joined":
			ok = len(turn.Joined) == 2 && turn.Joined[1].Text == "half of "+turn.ID && (turn.Status == record.StatusInterrupted || turn.Answer() == "answer of "+turn.ID)
		case "compacted":
			ok = len(turn.Compacted) == 1 && turn.Compacted[0] == shortening
		case "judged":
			ok = turn.Score == -1
		case "used":
			card := turn.Cards["inline/"+turn.ID+"/0"]
			ok = string(card.State["a"]) == "1" && card.Sequence == 7 && card.Ends[card.Rendered] == record.CardCompleted
		case "deleted":
			_, steps, err := log.Steps(t.Context(), me.Owner, turn.ID)
			ok = err == nil && slices.Equal(steps[len(steps)-1].Deleted, []string{"response of " + turn.ID})
		}
		if !ok {
			t.Errorf("%s: %s %q of %s was acknowledged and is not there: %+v", at, what, said, turn.ID, turn)
		}
	}
}

// conversation is the digest of what a client has said and heard until the end of a turn.
func (w *witness) conversation(t *testing.T, log *session.Log, turn string) string {
	t.Helper()
	history, err := log.History(t.Context(), me.Owner, turn)
	if err != nil {
		t.Error(err)
	}
	return digest(failure{}, client(history))
}

func client(history []session.Turn) (all []chat.Message) {
	for _, h := range history {
		all = append(append(all, h.User...), h.Trace...)
	}
	return all
}

// checkTurn looks for halves: a turn is whole or it is not there.
func (w *witness) checkTurn(t *testing.T, log *session.Log, turn session.Turn, at string) {
	t.Helper()
	messages := map[record.Status]int{record.StatusInterrupted: len(turn.Trace), record.StatusAwaiting: 1, record.StatusDelivered: 3}
	if turn.Joined != nil {
		messages[record.StatusDelivered] = 1
	}
	n, ok := messages[turn.Status]
	if !ok || len(turn.Trace) != n {
		t.Errorf("%s: %s turn %s with %d messages", at, turn.Status, turn.ID, len(turn.Trace))
		return
	}
	history, err := log.History(t.Context(), me.Owner, turn.ID)
	if err != nil {
		t.Error(err)
		return
	}
	said := client(history)
	switch turn.Status {
	case record.StatusDelivered:
		if got := turn.Answer(); got != "answer of "+turn.ID {
			t.Errorf("%s: %s answers %q", at, turn.ID, got)
		}
		p, err := log.Resolve(t.Context(), me, append(said, user("next")))
		if err != nil || p.Parent != turn.ID {
			t.Errorf("%s: after %s the client is at %q: %v", at, turn.ID, p.Parent, err)
		}
	case record.StatusAwaiting:
		p, err := log.Resolve(t.Context(), me, append(said, result("call of "+turn.ID, "r")))
		if err != nil || p.Continue == nil || p.Continue.ID != turn.ID {
			t.Errorf("%s: the calls of %s do not wait: %v", at, turn.ID, err)
		}
	case record.StatusInterrupted:
		if _, err := log.Resolve(t.Context(), session.Where{Owner: me.Owner, Scope: me.Scope, ParentTurn: turn.ID}, said); errs.CodeOf(err) != errs.NotFound {
			t.Errorf("%s: interrupted %s is history: %v", at, turn.ID, err)
		}
	}
}

// checkRecords sees that a session's records of this run come after all before, and gives
// the last.
func (w *witness) checkRecords(t *testing.T, store *sqlite.Store, id, at string) (last int64) {
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
		last = max(last, r.Seq)
	}
	w.newest = max(w.newest, last)
	return last
}
