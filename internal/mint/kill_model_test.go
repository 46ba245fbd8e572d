package mint_test

import (
	"bufio"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"macaron/internal/clock"
	"macaron/internal/engine"
	"macaron/internal/ids"
	"macaron/internal/mint"
	"macaron/internal/mint/blob"
	"macaron/internal/mint/local"
	"macaron/internal/store/sqlite"
	"macaron/internal/testmodel"
)

var kills = flag.Int("kills", 1, "how often the training of the default model is killed; make kill-training")

// TestTheDefaultModelIsKilled: a process that trains the default model is killed, again and
// again, each time another one goes on, and at the end the state is that of a training which
// nothing disturbed, bit for bit.
func TestTheDefaultModelIsKilled(t *testing.T) {
	home, path := t.TempDir(), testmodel.Path(t)
	ops := schedule(6 * (*kills + 1))
	var session string
	for n := range *kills {
		session = trainedUntil(t, home, path, session, len(ops), 3*(n+1))
	}
	e := serve(t, path)
	r := &room{worker: local.New(e, local.Options{Name: tiny}), clock: &hand{now: time.Now()}, home: home, limits: mint.Limits{SnapshotSteps: 2}}
	r.open(t)
	model := session + ":train:0"
	for i := range ops {
		r.result(t, "o", mint.Promise{Request: fmt.Sprintf("%s:%d", model, i+1)})
	}
	if m := must[mint.Model](t)(r.Model(ctx, "o", model)); m.Steps != int64(len(ops)/3) {
		t.Errorf("%d steps, not %d", m.Steps, len(ops)/3)
	}
	if got, want := r.state(t, "o", model, "end"), alone(t, r.worker, ops); got != want {
		t.Errorf("the state is %s, undisturbed %s", got, want)
	}
	t.Logf("%d operations, killed %d times, %d left for the last process", len(ops), *kills, r.Stats().Resolved[mint.OpBack]+r.Stats().Resolved[mint.OpStep])
}

// trainedUntil runs another process on the home, the first one to promise everything, until
// so many operations are carried out, and kills it. It gives the session.
func trainedUntil(t *testing.T, home, path, session string, ops, resolved int) string {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^$")
	cmd.Env = append(os.Environ(), "MINT_TEST_HOME="+home, "MINT_TEST_MODEL="+path, "MINT_TEST_SESSION="+session, fmt.Sprint("MINT_TEST_OPS=", ops))
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	for pending := ops; lines.Scan() && pending > ops-resolved; {
		if _, err := fmt.Sscan(lines.Text(), &pending); err != nil {
			session = lines.Text()
		}
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // it was killed
	return session
}

// trainUntilKilled is that process.
func trainUntilKilled(home, path string) error {
	var n int
	if _, err := fmt.Sscan(os.Getenv("MINT_TEST_OPS"), &n); err != nil {
		return err
	}
	e, err := engine.Open(ctx, engine.Options{Model: path, Threads: 2, KVBytes: 16 << 20})
	if err != nil {
		return err
	}
	store, err := sqlite.Open(ctx, sqlite.Options{Path: filepath.Join(home, "log.db")})
	if err != nil {
		return err
	}
	blobs, err := blob.Open(filepath.Join(home, "mint"))
	if err != nil {
		return err
	}
	c := clock.System{}
	s, err := mint.Open(ctx, mint.Options{Store: store.Mint(), Blobs: blobs, Workers: []mint.Worker{local.New(e, local.Options{Name: tiny})}, Clock: c, IDs: ids.NewSource(c, nil), Limits: mint.Limits{SnapshotSteps: 2}})
	if err != nil {
		return err
	}
	if session := os.Getenv("MINT_TEST_SESSION"); session == "" {
		if err := promiseAll(s, n); err != nil {
			return err
		}
	}
	for {
		fmt.Println(s.Stats().Pending)
		time.Sleep(5 * time.Millisecond)
	}
}

// promiseAll says in which session it has promised a schedule.
func promiseAll(s *mint.Service, n int) error {
	session, err := s.CreateSession(ctx, "o", mint.NewSession{})
	if err != nil {
		return err
	}
	if _, err := s.CreateModel(ctx, "o", mint.CreateModel{Session: session.ID, Base: tiny, Spec: shape}); err != nil {
		return err
	}
	r := &room{Service: s}
	for i, o := range schedule(n) {
		if _, err := r.send("o", session.ID+":train:0", int64(i+1), o); err != nil {
			return err
		}
	}
	fmt.Println(session.ID)
	return nil
}
