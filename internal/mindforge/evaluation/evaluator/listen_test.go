package evaluator

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"macaron/internal/errs"
	"macaron/internal/mindforge"
	"macaron/internal/mindforge/evaluation"
)

const askerEnv = "MACARON_TEST_ASKER"

// wanted is what an asker's process asks about, as it lies in the directory.
type wanted struct {
	Key                 ed25519.PublicKey
	Champion, Candidate Arm
}

// asker is a loop's process: it asks up to the sealed test, of which its evaluator makes no end.
func asker(dir string) error {
	var w wanted
	text, err := os.ReadFile(filepath.Join(dir, "wanted.json"))
	if err == nil {
		err = json.Unmarshal(text, &w)
	}
	if err != nil {
		return err
	}
	cmd := exec.Command(os.Args[0])
	cmd.Env, cmd.Stderr = []string{childEnv + "=" + dir, "STALL=" + filepath.Join(dir, "stalled")}, os.Stderr
	c, err := Start(cmd, Verifier{Key: w.Key})
	for _, stage := range evaluation.Stages {
		if err == nil {
			_, err = c.Decide(context.Background(), stage, w.Champion, w.Candidate)
		}
	}
	return err
}

// A loop that is killed in a sealed test leaves no evaluator behind: that hears the end, and leaves the
// test undecided. Whoever asks again is let in, and gets the decision under the same number: alpha is
// spent once.
func TestAnEvaluatorEndsWithItsLoop(t *testing.T) {
	s := newSite(t)
	w := wanted{s.key, pair(t, "You act.", ""), pair(t, "You act. Think first.", "")}
	text, err := json.Marshal(w)
	if err == nil {
		err = os.WriteFile(filepath.Join(s.dir, "wanted.json"), text, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	loop := exec.Command(os.Args[0])
	loop.Env, loop.Stderr = []string{askerEnv + "=" + s.dir}, os.Stderr
	if err := loop.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- loop.Wait() }()
	for {
		if _, err := os.Stat(filepath.Join(s.dir, "stalled")); err == nil {
			break
		}
		select {
		case err := <-ended:
			t.Fatalf("the sealed test was not begun: %v", err)
		case <-time.After(10 * time.Millisecond):
		}
	}
	if err := loop.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	<-ended
	c, err := Await(t.Context(), func() *exec.Cmd {
		cmd := exec.Command(os.Args[0])
		cmd.Env, cmd.Stderr = []string{childEnv + "=" + s.dir}, os.Stderr
		return cmd
	}, Verifier{Key: s.key})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	if n := s.lines(t, decided); n != 4 {
		t.Errorf("%d stages were decided before", n)
	}
	r, err := c.Decide(t.Context(), mindforge.Sealed, w.Champion, w.Candidate)
	if err != nil || !r.Pass || r.Count != 1 || s.lines(t, asked) != 1 || s.lines(t, decided) != 5 {
		t.Errorf("%+v %v: %d tests were begun", r.Decision, err, s.lines(t, asked))
	}
}

// Lines that came before the end of the input are answered all the same, except for what takes attempts.
func TestTheEndOfAnInputIsHeard(t *testing.T) {
	s := newSite(t)
	e, a := s.open(t)
	var lines []string
	for i, stage := range []mindforge.Stage{mindforge.Lint, mindforge.Smoke} {
		text, err := json.Marshal(request{ID: int64(i + 2), Op: "decide", Ask: &Ask{Nonce: newNonce(), Stage: stage, Champion: pair(t, "You act.", ""), Candidate: pair(t, "You act. Think first.", "")}})
		if err != nil {
			t.Fatal(err)
		}
		lines = append(lines, string(text))
	}
	in := strings.NewReader(`{"id":1,"op":"hello"}` + "\n" + strings.Join(lines, "\n") + "\n")
	ctx, questions := Listen(t.Context(), in)
	var out bytes.Buffer
	a.fail = func(mindforge.Task) bool { <-ctx.Done(); return false }
	if err := e.Answer(ctx, questions, &out); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(out.String(), "\n"); n != 2 || s.lines(t, decided) != 1 || errs.CodeOf(context.Cause(ctx)) != errs.Canceled {
		t.Errorf("%d answers, %d decisions: %s", n, s.lines(t, decided), &out)
	}
}
