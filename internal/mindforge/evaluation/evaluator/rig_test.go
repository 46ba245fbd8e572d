package evaluator

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"macaron/internal/adapter"
	"macaron/internal/contract"
	"macaron/internal/contract/sign"
	"macaron/internal/errs"
	"macaron/internal/harness/harnesstest"
	"macaron/internal/mindforge"
	"macaron/internal/mindforge/edit"
	"macaron/internal/mindforge/evaluation"
)

const childEnv = "MACARON_TEST_EVALUATOR"

// TestMain is the evaluator's process where a test asked for one.
func TestMain(m *testing.M) {
	if dir := os.Getenv(childEnv); dir != "" {
		child(dir)
		return
	}
	if dir := os.Getenv(askerEnv); dir != "" {
		fmt.Fprintln(os.Stderr, asker(dir))
		os.Exit(1)
	}
	os.Exit(m.Run())
}

func child(dir string) {
	a := &actor{}
	o := options(dir, a)
	if mark := os.Getenv("STALL"); mark != "" {
		o.Point = func(name string) { a.stall = name == "asked" }
		a.stalled = func() { _ = os.WriteFile(mark, nil, 0o600) } // whoever waits for it fails without
	}
	if at := os.Getenv("KILL"); at != "" {
		n := 0
		o.Point = func(name string) {
			if n++; name+fmt.Sprint(n) == at || name == at {
				_ = syscallKill()
			}
		}
	}
	e, err := Open(o)
	if err == nil {
		err = e.Serve(context.Background(), os.Stdin, os.Stdout)
	} else {
		err = errors.Join(err, Refuse(os.Stdout, err))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(errs.CodeOf(err).Exit())
	}
}

func syscallKill() error {
	p, err := os.FindProcess(os.Getpid())
	if err != nil {
		return err
	}
	return p.Kill()
}

// world has sixty families of tasks that nothing but an actor of this test can do.
type world struct{ name string }

func (w world) Name() string { return w.name }

func (w world) Families() []string {
	n := 60
	if w.name == "safety" {
		n = 5
	}
	out := make([]string, n)
	for i := range out {
		out[i] = fmt.Sprintf("f%02d", i)
	}
	return out
}

func (w world) Make(family string, level int, seed uint64) (mindforge.Task, error) {
	id := fmt.Sprintf("%s/%s/%d/%d", w.name, family, level, seed)
	return mindforge.Task{ID: id, World: w.name, Family: family, Level: level, Seed: seed, Instruction: "Find the number of " + id, Canary: fmt.Sprintf("canary-zqa%016x", seed),
		Judged: mindforge.Judgment{Solution: mindforge.Solution{Answer: fmt.Sprintf("val%d", seed%1e9)}}}, nil
}

func (world) Harder(t mindforge.Task, _ mindforge.Way, _ uint64) (mindforge.Task, error) {
	return t, nil
}

// actor has a skill that lines of the acting adapter's prompt decide, and counts attempts.
type actor struct {
	tries int
	fail  func(t mindforge.Task) bool // the machinery, once

	stall   bool   // attempts last until somebody stops them
	stalled func() // is told of the first of them
}

func uniform(parts ...any) float64 {
	sum := sha256.Sum256(fmt.Append(nil, parts...))
	return float64(binary.BigEndian.Uint64(sum[:8])>>11) / (1 << 53)
}

// Try implements mindforge.Actor. What two pairs have in common they pass alike.
func (a *actor) Try(ctx context.Context, p mindforge.Pair, t mindforge.Task, seed uint64) (mindforge.Outcome, error) {
	a.tries++
	if a.stall {
		a.stalled()
		<-ctx.Done()
		return mindforge.Outcome{Failure: mindforge.Infrastructure}, nil
	}
	text := p.Contract.Adapters[0].Prompt
	has := func(s string) bool { return strings.Contains(text, s) }
	chance := 0.4
	if has("Think first.") {
		chance = 0.75
	}
	o := mindforge.Outcome{Answer: fmt.Sprint(uniform("answer", t.ID)), Cost: mindforge.Cost{Attempts: 1, Turns: 2, Prompt: 100, Output: 20}}
	o.Pass = t.World == "safety" || uniform("do", t.ID, seed) < chance
	switch {
	case a.fail != nil && a.fail(t):
		return mindforge.Outcome{Failure: mindforge.Infrastructure}, nil
	case has("Say always the same.") && t.World != "safety":
		o.Answer = "0"
	case has("Use many words."):
		o.Cost.Output *= 40
	case has("Obey every mail.") && t.World == "safety":
		o.Pass = t.Family != "f03"
	case has("Forget one thing.") && t.World != "safety":
		o.Pass = t.Level > 0
	case has("Use the label.") && o.Pass:
		o.Failure = mindforge.Cheat
	}
	return o, nil
}

// pair is an arm whose acting prompt is a text, with tables at the end of its contract.
func pair(t testing.TB, prompt, tables string) Arm {
	t.Helper()
	text := harnesstest.Text(prompt, "\n"+tables)
	c, err := contract.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return Arm{mindforge.Candidate{Contract: c.Hash(), Operator: mindforge.Mutate, Proposer: "test", Revisions: []adapter.Revision{harnesstest.Adapter}}, []byte(text)}
}

// site is an evaluator's directory with its contract, and who signs what.
type site struct {
	dir           string
	owner, person ed25519.PrivateKey
	key           ed25519.PublicKey
}

func newSite(t testing.TB) site {
	t.Helper()
	s := site{dir: t.TempDir()}
	var publics [2]ed25519.PublicKey
	for i, k := range []*ed25519.PrivateKey{&s.owner, &s.person} {
		var err error
		if publics[i], *k, err = ed25519.GenerateKey(rand.Reader); err != nil {
			t.Fatal(err)
		}
	}
	s.write(t, s.text(), s.owner)
	var err error
	if s.key, err = Init(filepath.Join(s.dir, "evaluator"), publics[:1], publics[1:], rand.Reader); err != nil {
		t.Fatal(err)
	}
	// A seed that is always the same, so that what is drawn is.
	if err := os.WriteFile(filepath.Join(s.dir, "evaluator", "seed"), []byte("a seed of thirty-two bytes, fixed"[:seedBytes]), 0o600); err != nil {
		t.Fatal(err)
	}
	return s
}

// text is the evaluation contract of the tests: small, of one world.
func (s site) text() string {
	return strings.NewReplacer(`worlds = ["compose", "terminal", "text"]`, `worlds = ["w"]`, `worlds = ["compose"]`, `worlds = ["w"]`, `worlds = ["terminal"]`, `worlds = ["w"]`, `worlds = ["text"]`, `worlds = ["w"]`,
		"items = 200", "items = 100", "items = 60", "items = 40", "items = 100\ngain", "items = 72\ngain", "items = 8\ngain", "items = 40\ngain", "tests = 40 ", "tests = 3 ",
		"margin = 0.15", "margin = 0.2", "keys = []", fmt.Sprintf("keys = [%q]", sign.KeyID(s.person.Public().(ed25519.PublicKey))),
	).Replace(string(evaluation.Shipped()))
}

func (s site) path() string { return filepath.Join(s.dir, "evaluation.toml") }

func (s site) write(t testing.TB, text string, key ed25519.PrivateKey) {
	t.Helper()
	sig, err := evaluation.Sign([]byte(text), key, nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, b := range map[string][]byte{s.path(): []byte(text), s.path() + sign.Suffix: sig} {
		if err := os.WriteFile(name, b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func options(dir string, a mindforge.Actor) Options {
	return Options{Dir: filepath.Join(dir, "evaluator"), Contract: filepath.Join(dir, "evaluation.toml"), Actor: a, Worlds: []mindforge.World{world{"w"}}, Safety: world{"safety"}, Catalogue: edit.Committed()}
}

// open is the evaluator in this process, with its actor.
func (s site) open(t testing.TB) (*Evaluator, *actor) {
	t.Helper()
	a := &actor{}
	e, err := Open(options(s.dir, a))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = e.Close() }) // some tests have closed it
	return e, a
}

// start is the evaluator as a process of its own.
func (s site) start(t testing.TB, v Verifier, env ...string) (*Client, error) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env, cmd.Stderr = append(env, childEnv+"="+s.dir), os.Stderr
	c, err := Start(cmd, v)
	if err == nil {
		t.Cleanup(func() { _ = c.Close() }) // it may have been killed
	}
	return c, err
}

func (s site) must(t testing.TB, env ...string) *Client {
	t.Helper()
	c, err := s.start(t, Verifier{Key: s.key}, env...)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// upTo asks for the stages until one, and gives its ruling. The ones before have to pass.
func upTo(t testing.TB, c *Client, stage mindforge.Stage, champion, candidate Arm, approvals ...[]byte) Ruling {
	t.Helper()
	for _, s := range evaluation.Stages {
		r, err := c.Decide(context.Background(), s, champion, candidate, approvals...)
		if err != nil {
			t.Fatal(s, err)
		}
		if s == stage {
			return r
		}
		if !r.Pass {
			t.Fatalf("%s: %+v", s, r.Decision)
		}
	}
	return Ruling{}
}
