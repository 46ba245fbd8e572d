package repl

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"macaron/internal/clock"
	"macaron/internal/errs"
)

func TestSnapshotOfPlainData(t *testing.T) {
	p := pool(t, Options{PoolSize: 2})
	o := SessionOptions{Seed: 7}
	s := session(t, p, o)
	run(t, s, "import math as m\nimport random\na = {'x': [1, (2, b'3'), {4.5}]}\nb = a['x']\nk = 3")
	run(t, s, "def twice(n=k):\n    return n * 2\n\nclass Point:\n    def __init__(self, x): self.x = x")
	run(t, s, "random.random()")
	snap, err := s.Snapshot(t.Context())
	if err != nil || snap.Kept == nil || len(snap.Lost) > 0 || len(snap.Journal) != 3 {
		t.Fatalf("%+v, %v", snap, err)
	}
	next := run(t, s, "random.random()").Value
	text, err := json.Marshal(snap)
	if err != nil {
		t.Fatal(err)
	}
	var again Snapshot
	if err := json.Unmarshal(text, &again); err != nil {
		t.Fatal(err)
	}
	r, err := p.Restore(t.Context(), o, again)
	if err != nil {
		t.Fatal(err)
	}
	if out := run(t, r, "b.append(5); (a['x'][-1], twice(), twice(k + 1), m.pi > 3, Point(9).x)"); out.Value != "(5, 6, 8, True, 9)" {
		t.Errorf("%+v", out)
	}
	if got := run(t, r, "random.random()").Value; got != next {
		t.Errorf("the random state is %s, it was %s", got, next)
	}
}

// What cannot be kept is named, and a replay brings it back without calling a tool again.
func TestSnapshotByReplay(t *testing.T) {
	var asked atomic.Int64
	p := pool(t, Options{PoolSize: 2, Clock: &clock.Fixed{T: time.Unix(1_700_000_000, 0)}})
	o := SessionOptions{Frozen: true, Stubs: []Stub{{Name: "ask", Params: []string{"n"}}}, Call: func(_ context.Context, _, _ string, args json.RawMessage) (json.RawMessage, error) {
		if n := asked.Add(1); n == 2 {
			return nil, &CallError{Code: "busy", Message: "try again", Retryable: true}
		}
		return args, nil
	}}
	s := session(t, p, o)
	run(t, s, "import time, datetime\ngot = [ask(1)]\ntry: ask(2)\nexcept ToolError as e: got.append((e.code, e.retryable))\ngen = (i for i in range(10)); next(gen)\nwhen = time.time(), datetime.datetime.now().year, time.strftime('%Y')")
	run(t, s, "1 / 0")
	run(t, s, "def outer():\n    n = [0]\n    def inner():\n        n[0] += 1; return n[0]\n    return inner\nf = outer(); f()")
	snap, err := s.Snapshot(t.Context())
	if err != nil || snap.Kept != nil || !slices.Equal(snap.Lost, []string{"f", "gen"}) {
		t.Fatalf("%+v, %v", snap, err)
	}
	r, err := p.Restore(t.Context(), o, snap)
	if err != nil {
		t.Fatal(err)
	}
	want := run(t, s, "got, next(gen), f(), when").Value
	if out := run(t, r, "got, next(gen), f(), when"); out.Value != want || !strings.Contains(want, "('busy', True)], 1, 2, (1700000000.0, 2023, '2023')") || asked.Load() != 2 {
		t.Errorf("%s, before %s; %d calls", out.Value, want, asked.Load())
	}
	ended := snap.Journal[1].Status
	snap.Journal[1].Status = OK
	if _, err := p.Restore(t.Context(), o, snap); err == nil || !strings.Contains(err.Error(), "it ended as "+string(ended)+", recorded was ok") {
		t.Errorf("a replay that ends otherwise: %v", err)
	}
	snap.Journal[1].Status = ended
	snap.Journal[0].Calls[0].Args = json.RawMessage(`{"n":3}`)
	if _, err := p.Restore(t.Context(), o, snap); err == nil || !strings.Contains(err.Error(), "does not do what was recorded") {
		t.Errorf("a replay that does otherwise: %v", err)
	}
	o.Seed++
	if _, err := p.Restore(t.Context(), o, snap); errs.CodeOf(err) != errs.InvalidRequest || !strings.Contains(err.Error(), "another policy") {
		t.Errorf("another policy: %v", err)
	}
}

// A pickle that would run code runs it in the sandbox that loads it, and nowhere else.
func TestSnapshotRunsNothingHere(t *testing.T) {
	p := pool(t, Options{})
	s := session(t, p, SessionOptions{})
	mark := filepath.Join(t.TempDir(), "mark")
	run(t, s, "class Bomb:\n    def __reduce__(self): return (__import__('os').system, ('touch "+mark+"',))\nb = Bomb()")
	snap, err := s.Snapshot(t.Context())
	if err != nil || !slices.Equal(snap.Lost, []string{"b"}) {
		t.Fatalf("%+v, %v", snap, err)
	}
	run(t, s, "import pickle, base64\nblob = base64.b64encode(pickle.dumps({'b': b})).decode()")
	blob := strings.Trim(run(t, s, "blob").Value, "'")
	snap.Kept, snap.Lost = &Kept{Data: blob, Random: "(3, (0,) * 625, None)"}, nil
	r, err := p.Restore(t.Context(), SessionOptions{}, snap)
	if err == nil {
		t.Cleanup(func() { r.Close() })
	}
	if _, err := os.Stat(mark); !errors.Is(err, os.ErrNotExist) {
		t.Error("a pickle of the sandbox ran code on this machine")
	}
}

func TestInterruptKeepsTheNamespace(t *testing.T) {
	then := func() {}
	s := session(t, pool(t, Options{}), SessionOptions{Stubs: []Stub{{Name: "wait"}, {Name: "begun"}}, Call: func(ctx context.Context, _, name string, _ json.RawMessage) (json.RawMessage, error) {
		if name == "begun" { // soon, also this call has ended
			time.AfterFunc(50*time.Millisecond, then)
			return json.RawMessage("null"), nil
		}
		<-ctx.Done()
		return nil, ctx.Err()
	}})
	then = s.Interrupt
	run(t, s, "x = 2") // before: an interrupt may come as a cell begins
	for _, code := range []string{"while True: x += 1", "import time; time.sleep(60)", "wait()"} {
		if out := run(t, s, "begun()\n"+code); out.Status != Interrupted || out.Exception != "KeyboardInterrupt" || out.Reason != "it was interrupted" {
			t.Errorf("%q: %+v", code, out)
		}
	}
	if out := run(t, s, "x > 1"); out.Value != "True" {
		t.Errorf("%+v", out)
	}
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	then = stop
	if out, err := s.Run(ctx, Cell{Code: "begun()\nwhile True: pass"}); err != nil || out.Status != Interrupted || out.Reason != "it was canceled" {
		t.Errorf("%+v, %v", out, err)
	}
	s.Interrupt() // nothing runs
	if out := run(t, s, "x = 5; x"); out.Value != "5" {
		t.Errorf("%+v", out)
	}
}

// One cell at a time, also from within a tool: the second is refused and the first goes on.
func TestSecondCellIsRefused(t *testing.T) {
	var s *Session
	s = session(t, pool(t, Options{}), SessionOptions{Stubs: []Stub{{Name: "again"}}, Call: func(ctx context.Context, _, _ string, _ json.RawMessage) (json.RawMessage, error) {
		_, err := s.Run(ctx, Cell{Code: "1"})
		return nil, err
	}})
	out := run(t, s, "try: again()\nexcept ToolError as e: print(e.code)\nimport threading\nthreading.Timer(.2, lambda: again()).start()")
	if out.Status != OK || out.Output != string(errs.InvalidRequest)+"\n" {
		t.Errorf("%+v", out)
	}
	if out = run(t, s, "import time; time.sleep(.01); 3"); out.Value != "3" {
		t.Errorf("%+v", out)
	}
}

func TestExecBindsAndLimits(t *testing.T) {
	p := openForAttack(t)
	if p == nil {
		return
	}
	app, tests := filepath.Join(p.root, "app"), filepath.Join(p.root, "tests")
	for _, dir := range []string{app, tests} {
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(tests, "test.sh"), []byte("#!/bin/sh\ncat; echo made > /app/out; touch /tests/x; echo $KEY; env | grep -c .; exit 3\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	exit, err := p.Exec(t.Context(), Command{Args: []string{"sh", "/tests/test.sh"}, Dir: "/app", Stdin: bytes.NewReader([]byte("given\n")), Env: map[string]string{"KEY": "value"},
		Binds: []Bind{{From: app, To: "/app", Writable: true}, {From: tests, To: "/tests"}}})
	made, readErr := os.ReadFile(filepath.Join(app, "out"))
	if err != nil || exit.Code != 3 || !strings.HasPrefix(exit.Output, "given\ntouch: ") || !strings.Contains(exit.Output, "Read-only file system\nvalue\n") || readErr != nil || string(made) != "made\n" {
		t.Errorf("%+v, %v; %q %v", exit, err, made, readErr)
	}
	for _, c := range []struct {
		args   []string
		limits Limits
		code   int
		reason string
	}{
		{[]string{"sleep", "60"}, Limits{WallMS: 100}, 137, "longer than"},
		{[]string{"no-such-program"}, Limits{}, 127, ""},
		{[]string{"sh", "-c", "sleep 60 & exit 0"}, Limits{}, 0, ""},
	} {
		if exit, err := p.Exec(t.Context(), Command{Args: c.args, Limits: c.limits}); err != nil || exit.Code != c.code || !strings.Contains(exit.Reason, c.reason) {
			t.Errorf("%q: %+v, %v", c.args, exit, err)
		}
	}
	link := filepath.Join(app, "link")
	if err := os.Symlink("/etc", link); err != nil {
		t.Fatal(err)
	}
	for _, b := range []Bind{{From: link, To: "/x"}, {From: app, To: "/usr/x"}, {From: "app", To: "/app"}, {From: app, To: "/app/../etc"}, {From: filepath.Join(app, "none"), To: "/x"}} {
		if _, err := p.Exec(t.Context(), Command{Args: []string{"true"}, Binds: []Bind{b}}); err == nil {
			t.Errorf("%+v was bound", b)
		}
	}
}

func TestLayersOfThisUser(t *testing.T) {
	p := openForAttack(t)
	if p == nil {
		return
	}
	for _, l := range p.backend.layers(t.Context()) {
		t.Logf("%+v", l)
		if l.Needed && !l.Holds {
			t.Errorf("%s does not hold: %s", l.Name, l.Detail)
		}
	}
	broken := []Layer{{"seccomp", false, true, "no filter"}, {"cgroup", false, false, ""}}
	if err := refuse(broken, nil); errs.CodeOf(err) != errs.Unsupported || !strings.Contains(err.Error(), "seccomp (no filter)") {
		t.Errorf("%v", err)
	}
	if err := refuse(broken, []string{"seccomp"}); err != nil {
		t.Errorf("an accepted absence: %v", err)
	}
	if err := refuse(broken, []string{"secomp"}); errs.CodeOf(err) != errs.InvalidRequest {
		t.Errorf("an unknown layer: %v", err)
	}
	// A bwrap that makes no namespaces: the pool refuses to open.
	fake := filepath.Join(t.TempDir(), "bwrap")
	if err := os.WriteFile(fake, []byte("#!/bin/sh\n[ \"$1\" = --version ] && echo bubblewrap 0.9.0\nexit 1\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(t.Context(), Options{Root: t.TempDir(), Bubblewrap: fake}); errs.CodeOf(err) != errs.Unsupported {
		t.Errorf("a bwrap that does nothing: %v", err)
	}
}
