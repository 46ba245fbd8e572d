package evaluator

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"macaron/internal/contract/sign"
	"macaron/internal/errs"
	"macaron/internal/mindforge"
)

// Each test here is an attack of a proposer that wants to be promoted without being better.
// tried is a sign that the attack was made as it is told; without it the test says nothing.
func tried(t *testing.T, ok bool) {
	t.Helper()
	if !ok {
		t.Fatal("the attack was not made")
	}
}

func refusedAs(t *testing.T, err error, code errs.Code) {
	t.Helper()
	if errs.CodeOf(err) != code || errs.As(err).Message == "" {
		t.Errorf("%v, want %s", err, code)
	}
}

var bg = context.Background()

// lines of the account, of a kind.
func (s site) lines(t *testing.T, kind string) int {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(s.dir, "evaluator", "account.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	return bytes.Count(b, []byte(`"kind":"`+kind+`"`))
}

// 1. It changes the evaluation contract: a threshold, a comment, the sealed set's size. The
// evaluator stops at the next question, and says so in its account.
func TestAttackChangesTheEvaluationContract(t *testing.T) {
	for from, to := range map[string]string{"gain = 0.02": "gain = -1.0", "# By what": "# by what", "sealed = 50": "sealed = 10", "budget = 0.05": "budget = 0.2"} {
		s := newSite(t)
		c := s.must(t)
		text := strings.Replace(s.text(), from, to, 1)
		tried(t, text != s.text())
		if err := os.WriteFile(s.path(), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := c.Decide(bg, mindforge.Lint, pair(t, "a", ""), pair(t, "b", ""))
		if code := errs.CodeOf(err); code != errs.ChecksumMismatch && code != errs.FormatInvalid {
			t.Errorf("%s: %v", to, err)
		}
		if s.lines(t, refused) != 1 {
			t.Error("nobody wrote it down")
		}
	}
}

// 2. It signs a contract with a smaller sealed set with its own key.
func TestAttackSignsItsOwnContract(t *testing.T) {
	s := newSite(t)
	c := s.must(t)
	_, own, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	s.write(t, strings.Replace(s.text(), "items = 100", "items = 1", 1), own)
	_, err = c.Decide(bg, mindforge.Lint, pair(t, "a", ""), pair(t, "b", ""))
	refusedAs(t, err, errs.ChecksumMismatch)
	if _, err := s.start(t, Verifier{Key: s.key}); err == nil {
		t.Error("an evaluator starts under it")
	}
}

// 3. It puts back an older contract of the right owner, under which more was left.
func TestAttackGoesBackToAnOlderContract(t *testing.T) {
	s := newSite(t)
	old := s.text()
	if err := s.must(t).Close(); err != nil {
		t.Fatal(err)
	}
	s.write(t, strings.Replace(old, "version = 2", "version = 3", 1), s.owner)
	c := s.must(t)
	s.write(t, old, s.owner)
	_, err := c.Decide(bg, mindforge.Lint, pair(t, "a", ""), pair(t, "b", ""))
	refusedAs(t, err, errs.ChecksumMismatch)
}

// must2 starts the evaluator again after the one before has let go.
func (s site) must2(t *testing.T, env ...string) *Client {
	t.Helper()
	for range 3000 {
		c, err := s.start(t, Verifier{Key: s.key}, env...)
		if err == nil {
			return c
		}
		time.Sleep(20 * time.Millisecond)
	}
	t.Fatal("the evaluator does not start")
	return nil
}

// 4. It shows an old decision again: of a pair that passed, for a pair that did not.
func TestAttackReplaysADecision(t *testing.T) {
	s := newSite(t)
	e, _ := s.open(t)
	champion, good, poor := pair(t, "You act.", ""), pair(t, "You act. Think first.", ""), pair(t, "You act. Say always the same.", "")
	h, err := e.contract()
	if err != nil {
		t.Fatal(err)
	}
	v := Verifier{Key: s.key, Evaluation: h.Digest}
	first := Ask{Nonce: newNonce(), Stage: mindforge.Lint, Champion: champion, Candidate: good}
	old, err := e.Decide(bg, first)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := v.Fresh(old, first); err != nil {
		t.Fatal(err)
	}
	_, err = v.Fresh(old, first)
	refusedAs(t, err, errs.ChecksumMismatch)
	again := first
	again.Nonce = newNonce()
	_, err = v.Fresh(old, again)
	refusedAs(t, err, errs.ChecksumMismatch)
	again.Candidate = poor
	again.Nonce = first.Nonce
	v.Last = 0
	_, err = v.Fresh(old, again)
	refusedAs(t, err, errs.ChecksumMismatch)
	_, err = e.Decide(bg, first) // its nonce, to have the evaluator sign it anew
	refusedAs(t, err, errs.InvalidRequest)
}

// 5. It changes a signed decision, and 6. signs one with a key of its own.
func TestAttackForgesADecision(t *testing.T) {
	s := newSite(t)
	e, _ := s.open(t)
	q := Ask{Nonce: newNonce(), Stage: mindforge.Lint, Champion: pair(t, "a", ""), Candidate: pair(t, "b", "")}
	b, err := e.Decide(bg, q)
	if err != nil {
		t.Fatal(err)
	}
	h, err := e.contract()
	if err != nil {
		t.Fatal(err)
	}
	var env sign.Envelope
	if err := json.Unmarshal(b, &env); err != nil {
		t.Fatal(err)
	}
	forgedPayload := bytes.Replace(env.Payload, []byte(`"stage":"lint"`), []byte(`"stage":"sealed"`), 1)
	tried(t, !bytes.Equal(forgedPayload, env.Payload))
	env.Payload = forgedPayload
	bent, err := json.Marshal(env)
	if err != nil {
		t.Fatal(err)
	}
	q.Stage = mindforge.Sealed
	v := Verifier{Key: s.key, Evaluation: h.Digest}
	_, err = v.Fresh(bent, q)
	refusedAs(t, err, errs.ChecksumMismatch)
	_, own, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	if bent, err = sign.Seal(PayloadType, forgedPayload, own, nil); err != nil {
		t.Fatal(err)
	}
	_, err = v.Fresh(bent, q)
	refusedAs(t, err, errs.ChecksumMismatch)
}

// 7. It puts an evaluator of its own in the place of the other, and swaps the key file.
func TestAttackSwapsTheKey(t *testing.T) {
	s, other := newSite(t), newSite(t)
	_, err := other.start(t, Verifier{Key: s.key})
	refusedAs(t, err, errs.ChecksumMismatch)
	b, err := os.ReadFile(filepath.Join(other.dir, "evaluator", "key"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(s.dir, "evaluator", "key"), b, 0o600); err != nil {
		t.Fatal(err)
	}
	_, err = s.start(t, Verifier{Key: s.key})
	refusedAs(t, err, errs.ChecksumMismatch)
}

// 8. It asks for the sealed test out of turn, and 9. under the name of a candidate that passed.
func TestAttackJumpsTheQueue(t *testing.T) {
	s := newSite(t)
	c := s.must(t)
	champion, good, poor := pair(t, "You act.", ""), pair(t, "You act. Think first.", ""), pair(t, "You act. Say always the same.", "")
	_, err := c.Decide(bg, mindforge.Sealed, champion, poor)
	refusedAs(t, err, errs.Forbidden)
	_, err = c.Decide(bg, mindforge.Champion, champion, poor)
	refusedAs(t, err, errs.Forbidden)
	if r := upTo(t, c, mindforge.Validation, champion, good); !r.Pass {
		t.Fatal(r.Decision)
	}
	borrowed := Arm{good.Candidate, poor.Contract}
	_, err = c.Decide(bg, mindforge.Sealed, champion, borrowed)
	refusedAs(t, err, errs.ChecksumMismatch)
	if s.lines(t, asked) != 0 || s.lines(t, refused) != 3 {
		t.Errorf("%d tests spent, %d refusals", s.lines(t, asked), s.lines(t, refused))
	}
}

// 10. It asks for a second sealed look: again, and 11. under another proposer's name. The answer is the same, and no
// attempt is made for it.
func TestAttackLooksTwice(t *testing.T) {
	s := newSite(t)
	e, a := s.open(t)
	champion, candidate := pair(t, "You act.", ""), pair(t, "You act. Think first.", "")
	renamed := candidate
	renamed.Candidate.Proposer, renamed.Candidate.Seed = "somebody else", 99
	h, err := e.contract()
	if err != nil {
		t.Fatal(err)
	}
	v := Verifier{Key: s.key, Evaluation: h.Digest}
	ask := func(stage mindforge.Stage, arm Arm) mindforge.Decision {
		q := Ask{Nonce: newNonce(), Stage: stage, Champion: champion, Candidate: arm}
		b, err := e.Decide(bg, q)
		if err != nil {
			t.Fatal(err)
		}
		st, err := v.Fresh(b, q)
		if err != nil {
			t.Fatal(err)
		}
		return st.Decision
	}
	for _, stage := range []mindforge.Stage{mindforge.Lint, mindforge.Smoke, mindforge.Minibatch, mindforge.Validation} {
		ask(stage, candidate)
	}
	first := ask(mindforge.Sealed, candidate)
	tries := a.tries
	tried(t, tries > 0)
	if second := ask(mindforge.Sealed, candidate); second != first {
		t.Errorf("%+v, then %+v", first, second)
	}
	if third := ask(mindforge.Sealed, renamed); third.Count != 1 || third.Pass != first.Pass || third.Candidate == first.Candidate {
		t.Errorf("%+v, then %+v", first, third)
	}
	if a.tries != tries || s.lines(t, asked) != 1 {
		t.Errorf("%d attempts more, %d tests", a.tries-tries, s.lines(t, asked))
	}
}

// 12. It kills the evaluator in the middle of a sealed test, again and again, to look anew: the
// test has its number and alpha on record before the first attempt, keeps them, and says what
// it would have said.
func TestAttackKillsInTheMiddle(t *testing.T) {
	s := newSite(t)
	champion, candidate := pair(t, "You act.", ""), pair(t, "You act. Think first.", "")
	c := s.must(t)
	if r := upTo(t, c, mindforge.Validation, champion, candidate); !r.Pass {
		t.Fatal(r.Decision)
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	for _, at := range []string{"asked", "attempt2", "attempt90", "judged"} {
		c := s.must2(t, "KILL="+at)
		_, err := c.Decide(bg, mindforge.Sealed, champion, candidate)
		tried(t, errs.CodeOf(err) == errs.UpstreamUnavailable)
	}
	r, err := s.must2(t).Decide(bg, mindforge.Sealed, champion, candidate)
	if err != nil || !r.Pass || r.Count != 1 || s.lines(t, asked) != 1 || s.lines(t, decided) != 5 {
		t.Errorf("%+v %v: %d tests", r.Decision, err, s.lines(t, asked))
	}
}

// 13. It puts the evaluator's account back to before a sealed test, and 14. takes a line out of it.
func TestAttackTurnsTheAccountBack(t *testing.T) {
	s := newSite(t)
	path := filepath.Join(s.dir, "evaluator", "account.jsonl")
	c := s.must(t)
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	upTo(t, c, mindforge.Sealed, pair(t, "You act.", ""), pair(t, "You act. Think first.", ""))
	v := c.Verifier()
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	after, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, before, 0o600); err != nil {
		t.Fatal(err)
	}
	_, err = s.start(t, v)
	refusedAs(t, err, errs.ChecksumMismatch)
	lines := bytes.SplitAfter(after, []byte("\n"))
	tried(t, len(lines) > 5)
	if err := os.WriteFile(path, bytes.Join(append(lines[:3:3], lines[4:]...), nil), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err = Open(options(s.dir, &actor{}))
	refusedAs(t, err, errs.ChecksumMismatch)
}

// 15. It asks for more sealed tests than there are, one candidate after the other.
func TestAttackSpendsTheBudget(t *testing.T) {
	s := newSite(t)
	c := s.must(t)
	champion := pair(t, "You act.", "")
	for i := range 3 {
		if r := upTo(t, c, mindforge.Sealed, champion, pair(t, fmt.Sprintf("You act. Think first. Way %d.", i), "")); r.Count != i+1 {
			t.Fatalf("%+v", r.Decision)
		}
	}
	arm := pair(t, "You act. Think first. Way 4.", "")
	upTo(t, c, mindforge.Validation, champion, arm)
	_, err := c.Decide(bg, mindforge.Sealed, champion, arm)
	refusedAs(t, err, errs.BudgetSpent)
}
