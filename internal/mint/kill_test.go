package mint_test

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"macaron/internal/clock"
	"macaron/internal/engine"
	"macaron/internal/engine/enginetest"
	"macaron/internal/errs"
	"macaron/internal/ids"
	"macaron/internal/mint"
	"macaron/internal/mint/blob"
	"macaron/internal/mint/ledger"
	"macaron/internal/mint/local"
	"macaron/internal/store/postgres"
	"macaron/internal/store/postgres/pgtest"
	"macaron/internal/store/sqlite"
)

// serveUntilKilled is another process: it promises everything of the flood, says so, and
// works on it until it is killed.
func serveUntilKilled(home string) {
	fail := func(err error) {
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
	path := filepath.Join(home, "tiny.gguf")
	fail(os.WriteFile(path, enginetest.ModelBytes(1), 0o600))
	e, err := engine.Open(ctx, engine.Options{Model: path, Threads: 2, KVBytes: 16 << 20})
	fail(err)
	store, err := openStore(home, os.Getenv("MINT_TEST_STORE"))
	fail(err)
	blobs, err := blob.Open(filepath.Join(home, "mint"))
	fail(err)
	c := clock.System{}
	s, err := mint.Open(ctx, mint.Options{Store: store.Mint(), Blobs: blobs, Workers: []mint.Worker{local.New(e, local.Options{Name: tiny})}, Clock: c, IDs: ids.NewSource(c, nil),
		Limits: mint.Limits{SnapshotSteps: 7}, Instance: "killed"})
	fail(err)
	ses, err := s.CreateSession(ctx, "o", mint.NewSession{})
	fail(err)
	_, err = s.CreateModel(ctx, "o", mint.CreateModel{Session: ses.ID, Base: tiny, Spec: shape})
	fail(err)
	_, err = s.CreateSampler(ctx, "o", mint.NewSampler{Session: ses.ID, Base: tiny})
	fail(err)
	r := &room{Service: s}
	fail(r.flood(ses.ID))
	fmt.Println(ses.ID)
	for s.Stats().Pending >= (floodOps+floodSamples)/2 {
		time.Sleep(2 * time.Millisecond)
	}
	fail(syscall.Kill(os.Getpid(), syscall.SIGKILL)) // by itself: who looks on from outside may be late, and find nothing pending
}

// lease is short, since a third of it is between two looks of who waits for the work.
const lease = 6 * time.Second

// minted is a store of either kind.
type minted interface {
	Mint() ledger.Store
	Close() error
}

// openStore opens the database at a URL, or a home's own.
func openStore(home, url string) (minted, error) {
	if url != "" {
		return postgres.Open(ctx, postgres.Options{URL: url})
	}
	return sqlite.Open(ctx, sqlite.Options{Path: filepath.Join(home, "log.db")})
}

// What the flood has: operations of one model, and samples.
const floodOps, floodSamples = 600, 400

// flood promises everything at once; the operation that is first comes last.
func (r *room) flood(session string) error {
	failed := make(chan error, floodOps+floodSamples)
	var group sync.WaitGroup
	send := func(f func() error) {
		group.Go(func() {
			if err := f(); err != nil {
				failed <- err
			}
		})
	}
	ops := schedule(floodOps)
	for i := 1; i < floodOps; i++ {
		send(func() error { return second(r.send("o", session+":train:0", int64(i+1), ops[i])) })
	}
	for i := range int64(floodSamples) {
		send(func() error {
			return second(r.Sample(ctx, "o", mint.Sample{Sampler: session + ":sample:0", Seq: i, Prompt: []int32{5, 6, int32(10 + i%200)}, MaxTokens: 4, Temperature: 1, Stop: mint.Stop{None: true}}))
		})
	}
	group.Wait()
	close(failed)
	if err := <-failed; err != nil {
		return err
	}
	return second(r.send("o", session+":train:0", 1, ops[0]))
}

func second(_ mint.Promise, err error) error { return err }

// TestKilled: a server is killed with a thousand promises given and some of them kept. The
// next one keeps each of the others once: the state is that of a training which nothing
// disturbed, the steps are exact, and what was kept before stays as it was.
func TestKilled(t *testing.T) {
	home := t.TempDir()
	session, left := killed(t, home, "")
	t.Logf("%d of %d were pending", left, floodOps+floodSamples)
	r := &room{worker: local.New(openEngine(t), local.Options{Name: tiny}), clock: &hand{now: time.Now()}, home: home, limits: mint.Limits{SnapshotSteps: 7},
		more: func(o *mint.Options) { o.Instance = "killed" }} // a home's own store is for one process
	r.open(t)
	r.takesUp(t, session, left)
}

// TestAnotherTakesOver: with one database and one directory of blobs, another process that
// was waiting goes on when the one that trains is killed, in the same way.
func TestAnotherTakesOver(t *testing.T) {
	home, url := t.TempDir(), pgtest.Database(t)
	session, left := killed(t, home, url)
	r := &room{worker: local.New(openEngine(t), local.Options{Name: tiny})}
	store := must[minted](t)(openStore(home, url))
	r.blobs = must[*blob.Store](t)(blob.Open(filepath.Join(home, "mint")))
	r.ledger = store.Mint()
	c := clock.System{}
	hold := func(long time.Duration) { // in the name of the one that was killed: when its lease ends does not depend on how busy the machine is
		if held, err := r.ledger.Hold(ctx, c.Now().Add(long), c.Now(), "killed"); err != nil || !held {
			t.Fatal(held, err)
		}
	}
	hold(time.Hour)
	r.Service = must[*mint.Service](t)(mint.Open(ctx, mint.Options{Store: r.ledger, Blobs: r.blobs, Workers: []mint.Worker{r.worker}, Clock: c, IDs: ids.NewSource(c, nil),
		Limits: mint.Limits{SnapshotSteps: 7, Lease: lease}, Instance: "waiting"}))
	t.Cleanup(func() {
		for _, close := range []func() error{r.Close, store.Close, r.blobs.Close} {
			if err := close(); err != nil {
				t.Error(err)
			}
		}
	})
	if _, err := r.CreateSession(ctx, "o", mint.NewSession{}); errs.CodeOf(err) != errs.UpstreamUnavailable {
		t.Errorf("before its turn: %v", err)
	}
	hold(time.Millisecond)
	wait(t, func() bool { return r.Heartbeat(ctx, "o", session) == nil })
	r.takesUp(t, session, left)
}

// takesUp checks that what another process promised is kept, once each.
func (r *room) takesUp(t *testing.T, session string, left int) {
	t.Helper()
	if err := r.flood(session); err != nil { // clients that heard nothing send all again
		t.Fatal(err)
	}
	for i := range floodOps {
		r.result(t, "o", mint.Promise{Request: fmt.Sprintf("%s:train:0:%d", session, i+1)})
	}
	for i := range floodSamples {
		out := r.result(t, "o", mint.Promise{Request: fmt.Sprintf("%s:sample:0:%d", session, i)})
		if len(out.Sample.Sequences) != 1 || len(out.Sample.Sequences[0].Tokens) != 4 {
			t.Errorf("sample %d: %+v", i, out.Sample)
		}
	}
	if m := must[mint.Model](t)(r.Model(ctx, "o", session+":train:0")); m.Steps != floodOps/3 {
		t.Errorf("%d steps, not %d", m.Steps, floodOps/3)
	}
	if got, want := r.state(t, "o", session+":train:0", "end"), alone(t, r.worker, schedule(floodOps)); got != want {
		t.Errorf("the state is %s, undisturbed %s", got, want)
	}
	if done := r.Stats().Resolved; done[mint.OpBack]+done[mint.OpStep]+done[mint.OpSample] != int64(left) {
		t.Errorf("%v were resolved by the second process, %d were left", done, left)
	}
}

// killed runs the other process until it has promised everything, kept some, and is killed.
// It gives the session and how many promises are left by the store.
func killed(t *testing.T, home, url string) (session string, left int) {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^$")
	cmd.Env = append(os.Environ(), "MINT_TEST_HOME="+home, "MINT_TEST_STORE="+url)
	cmd.Stderr = os.Stderr
	out := must[interface {
		Read([]byte) (int, error)
	}](t)(cmd.StdoutPipe())
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if lines := bufio.NewScanner(out); lines.Scan() {
		session = lines.Text()
	}
	if err := cmd.Wait(); err == nil || !strings.Contains(err.Error(), "killed") {
		t.Fatalf("it ended with %v", err)
	}
	store := must[minted](t)(openStore(home, url))
	defer store.Close()
	ops, err := store.Mint().Pending(ctx)
	if err != nil || len(ops) == 0 {
		t.Fatalf("%d are pending: %v", len(ops), err)
	}
	return session, len(ops)
}
