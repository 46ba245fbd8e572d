package loop

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"macaron/internal/clock"
	"macaron/internal/contract/sign"
	"macaron/internal/ids"
	"macaron/internal/jobs"
	"macaron/internal/mindforge"
	"macaron/internal/mindforge/evaluation"
	"macaron/internal/mindforge/evaluation/evaluator"
	"macaron/internal/mindforge/ledger"
	"macaron/internal/mindforge/scripted"
	storejobs "macaron/internal/store/jobs"
	"macaron/internal/store/sqlite"
)

const (
	loopEnv, judgeEnv = "FORGE_TEST_LOOP", "FORGE_TEST_EVALUATOR"
	owner             = "local"
)

// TestMain is also the loop's process, and the evaluator's, where a test asks for one.
func TestMain(m *testing.M) {
	var err error
	switch {
	case os.Getenv(loopEnv) != "":
		err = looped(os.Getenv(loopEnv))
	case os.Getenv(judgeEnv) != "":
		err = judging(os.Getenv(judgeEnv))
	default:
		os.Exit(m.Run())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// settings of a run that takes seconds.
func settings(change func(*Settings)) Settings {
	s := defaults()
	s.Schema, s.Name, s.Seed, s.Actor, s.Generations, s.Plateau, s.Batch = Schema, "rehearsal", 1, "scripted", 3, 0, 200
	s.Discovery.Tasks, s.Expansion.Attempts, s.Expansion.Coverage, s.Expansion.Greedy = 40, 400, 2, 0.5
	s.Expansion.Proposer, s.Scripted.Shift, s.Scripted.Families = "reflective", 0.1, 200
	if change != nil {
		change(&s)
	}
	return s
}

// site is a directory with a home, an evaluator beside it, and who signs what.
type site struct {
	dir    string
	person ed25519.PrivateKey
}

func key(name string) ed25519.PrivateKey {
	sum := sha256.Sum256([]byte(name))
	return ed25519.NewKeyFromSeed(sum[:])
}

func newSite(t testing.TB, s Settings) site {
	t.Helper()
	at := site{t.TempDir(), key("person")}
	signer := key("signer")
	for _, d := range []string{"home", "home/skills"} {
		must(t, os.Mkdir(filepath.Join(at.dir, d), 0o700))
	}
	text, err := evaluation.Planted(s.Scripted.Families, at.person.Public().(ed25519.PublicKey))
	must(t, err)
	sig, err := evaluation.Sign(text, signer, nil)
	must(t, err)
	must(t, os.WriteFile(at.path("evaluation.toml"), text, 0o600))
	must(t, os.WriteFile(at.path("evaluation.toml")+sign.Suffix, sig, 0o600))
	_, err = evaluator.Init(at.path("evaluator"), []ed25519.PublicKey{signer.Public().(ed25519.PublicKey)}, []ed25519.PublicKey{at.person.Public().(ed25519.PublicKey)}, rand.Reader)
	must(t, err)
	must(t, os.WriteFile(at.path("evaluator/seed"), []byte("a seed of thirty-two bytes, fixed")[:32], 0o600))
	raw, err := json.Marshal(s)
	must(t, err)
	must(t, os.WriteFile(at.path("settings.json"), raw, 0o600))
	return at
}

func (s site) path(name string) string { return filepath.Join(s.dir, name) }

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// judging is the evaluator's process: it plants the problem itself, and believes a skill by its hash.
func judging(dir string) error {
	s, err := stored(dir)
	if err != nil {
		return err
	}
	r, err := NewRehearsal(s.Scripted)
	if err != nil {
		return err
	}
	at := site{dir: dir}
	e, err := evaluator.Open(evaluator.Options{Dir: at.path("evaluator"), Contract: at.path("evaluation.toml"), Outside: []string{at.path("home")}, Catalogue: r.Catalogue,
		Actor: r.Looking(func(h ids.Digest) ([]byte, error) { return os.ReadFile(at.path("home/skills/" + h.Hex())) }), Worlds: []mindforge.World{scripted.World{Policy: r.Policy}}, Traffic: r.Live(400), Safety: Safety{}})
	if err != nil {
		return err
	}
	return errors.Join(e.Serve(context.Background(), os.Stdin, os.Stdout), e.Close())
}

func stored(dir string) (s Settings, err error) {
	raw, err := os.ReadFile(filepath.Join(dir, "settings.json"))
	if err == nil {
		err = json.Unmarshal(raw, &s)
	}
	return s, err
}

// looped is the loop's process. A person who says yes to everything is part of it.
func looped(dir string) error {
	at := site{dir, key("person")}
	settings, err := stored(dir)
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	store, err := sqlite.Open(ctx, sqlite.Options{Path: at.path("home/log.db"), Durability: sqlite.Normal})
	if err != nil {
		return err
	}
	q, err := storejobs.Open(ctx, storejobs.Options{Path: at.path("home/jobs.db"), Alone: true})
	if err != nil {
		return err
	}
	l, err := at.loop(settings, &ledger.Ledger{Store: store, Clock: clock.System{}, Limits: ledger.DefaultLimits}, q)
	if err != nil {
		return err
	}
	l.Point = points()
	if err := l.Begin(ctx); err != nil {
		return err
	}
	go func() { at.watch(ctx, l, q); stop() }()
	if err := q.Work(ctx, map[string]jobs.Handler{Kind: l.Handle}, 1); err != nil {
		return err
	}
	return errors.Join(q.Close(), store.Close())
}

// watch approves what waits, and returns when the run has ended.
func (s site) watch(ctx context.Context, l *Loop, q *storejobs.Queue) {
	for {
		all, err := q.List(ctx, l.Run)
		if err != nil {
			return
		}
		idle := true
		for _, j := range all {
			if j.State == jobs.Failed {
				fmt.Fprintln(os.Stderr, j.Key, j.Last)
			}
			idle = idle && j.State.Ended()
			if w, ok := WaitsFor(j.Progress.Note); ok && j.State == jobs.Waiting {
				s.approve(ctx, l, q, w)
			}
		}
		if idle {
			return
		}
		time.Sleep(30 * time.Millisecond)
	}
}

func (s site) approve(ctx context.Context, l *Loop, q *storejobs.Queue, w Wanted) {
	yes, err := evaluator.Approve{Candidate: w.Candidate, Against: w.Against, Evaluation: w.Evaluation}.Yes(s.person)
	if err == nil {
		err = errors.Join(Approve(ctx, l.Ledger, owner, l.Run, w, "person", yes), q.Resume(ctx, l.Run))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
}

// loop is a run over the planted problem, with its evaluator in a process of its own.
func (s site) loop(set Settings, led *ledger.Ledger, q Queue) (*Loop, error) {
	r, err := NewRehearsal(set.Scripted)
	if err != nil {
		return nil, err
	}
	r.Keep = func(h ids.Digest, skill []byte) error {
		return os.WriteFile(s.path("home/skills/"+h.Hex()), skill, 0o600)
	}
	signed, err := evaluation.Open(s.path("evaluation.toml"), []ed25519.PublicKey{key("signer").Public().(ed25519.PublicKey)})
	if err != nil {
		return nil, err
	}
	private, err := sign.Private(s.path("evaluator/key"))
	if err != nil {
		return nil, err
	}
	run, err := set.Run()
	l := &Loop{Settings: set, Owner: owner, Run: run, Ledger: led, Queue: q, Evaluation: signed, Verifier: evaluator.Verifier{Key: private.Public().(ed25519.PublicKey), Evaluation: signed.Digest},
		Judge: func(_ context.Context, v evaluator.Verifier) (Judge, error) {
			cmd := exec.Command(os.Args[0])
			cmd.Env, cmd.Stderr = []string{judgeEnv + "=" + s.dir}, os.Stderr
			return evaluator.Start(cmd, v)
		}}
	r.Into(l)
	return l, err
}

// points kills this process at the point that KILL names, by its number of times, and writes the
// names of points to the file that POINTS names.
func points() func(string) {
	at, list, n := os.Getenv("KILL"), os.Getenv("POINTS"), 0
	var f *os.File
	if list != "" {
		f, _ = os.Create(list) //nolint:gosec // the test's own
	}
	return func(name string) {
		if f != nil {
			fmt.Fprintln(f, name)
		}
		if name == at {
			if n++; n == 1 {
				_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
				select {}
			}
		}
	}
}

// start starts the loop's process. Its end is also that of its evaluator, which has the same standard
// error: that is no file, so Wait waits until nobody has it. One that outlives a killed loop for a while
// would keep the next one out, and write into the directory as it is removed.
func (s site) start(t testing.TB, env ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.CommandContext(context.Background(), os.Args[0])
	cmd.Env, cmd.Stderr = append(env, loopEnv+"="+s.dir), struct{ io.Writer }{os.Stderr}
	must(t, cmd.Start())
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	return cmd
}

// run lets the loop go to its end.
func (s site) run(t testing.TB, env ...string) {
	t.Helper()
	must(t, s.start(t, env...).Wait())
}

// entries reads the run's ledger, and checks the whole of it.
func (s site) entries(t testing.TB) []ledger.Entry {
	t.Helper()
	store, err := sqlite.Open(t.Context(), sqlite.Options{Path: s.path("home/log.db")})
	must(t, err)
	defer func() { must(t, store.Close()) }()
	l := &ledger.Ledger{Store: store, Clock: clock.System{}, Limits: ledger.DefaultLimits}
	all, err := l.All(t.Context(), owner, "")
	must(t, err)
	var c ledger.Chain
	for _, e := range all {
		must(t, c.Next(e))
	}
	names, err := store.Aliases(t.Context(), owner)
	must(t, err)
	must(t, c.Stands(names))
	return all
}
