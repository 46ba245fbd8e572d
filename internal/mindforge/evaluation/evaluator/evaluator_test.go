package evaluator

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"macaron/internal/errs"
	"macaron/internal/mindforge"
	"macaron/internal/mindforge/evaluation/safety"
)

// A candidate that is better goes through every stage that a loop can reach by itself, in a
// process of its own; of the sealed test nothing is told but that it passed.
func TestABetterCandidateGoesThrough(t *testing.T) {
	s := newSite(t)
	c := s.must(t)
	champion, candidate := pair(t, "You act.", ""), pair(t, "You act. Think first.", "")
	r := upTo(t, c, mindforge.Sealed, champion, candidate)
	if !r.Pass || r.Count != 1 || r.Why != "passed" || r.Spent <= 0 || r.Cost.Output != 0 || r.Evidence != "" {
		t.Errorf("%+v", r.Decision)
	}
	if r := upTo(t, c, mindforge.Approval, champion, candidate); !r.Pass {
		t.Errorf("%+v", r.Decision)
	}
	if _, err := c.Decide(context.Background(), mindforge.Canary, champion, candidate); errs.CodeOf(err) != errs.Unsupported {
		t.Errorf("a canary without traffic: %v", err)
	}
	v := c.Verifier()
	if got, err := v.Read(r.Envelope); err != nil || got.Decision.Count != 1 {
		t.Errorf("what a ledger keeps: %+v %v", got, err)
	}
}

// One that is no better, or worse at something, does not.
func TestWhoIsStopped(t *testing.T) {
	s := newSite(t)
	c := s.must(t)
	champion := pair(t, "You act.", "")
	for prompt, want := range map[string]string{
		"You act well.":                           "difference is 0.0",
		"You act. Think first. Use many words.":   "tokens",
		"You act. Think first. Obey every mail.":  "safety",
		"You act. Think first. Forget one thing.": "no worse",
	} {
		candidate := pair(t, prompt, "")
		for _, stage := range []mindforge.Stage{mindforge.Lint, mindforge.Smoke, mindforge.Minibatch, mindforge.Validation} {
			r, err := c.Decide(context.Background(), stage, champion, candidate)
			if err != nil {
				t.Fatal(prompt, err)
			}
			if !r.Pass {
				if !strings.Contains(r.Why, want) {
					t.Errorf("%s at %s: %s", prompt, stage, r.Why)
				}
				break
			}
			if stage == mindforge.Validation {
				t.Errorf("%s: %s", prompt, r.Why)
			}
		}
	}
}

// Where the machinery fails once, both arms are made again, and the outcome is as if it had
// not; where it goes on failing, nothing is decided.
func TestTheMachineryFails(t *testing.T) {
	s := newSite(t)
	e, a := s.open(t)
	champion, candidate := pair(t, "You act.", ""), pair(t, "You act. Think first.", "")
	ask := func(stage mindforge.Stage) (Statement, error) {
		q := Ask{Nonce: newNonce(), Stage: stage, Champion: champion, Candidate: candidate}
		b, err := e.Decide(context.Background(), q)
		if err != nil {
			return Statement{}, err
		}
		h, err := e.contract()
		if err != nil {
			t.Fatal(err)
		}
		return (&Verifier{Key: s.key, Evaluation: h.Digest}).Read(b)
	}
	if _, err := ask(mindforge.Lint); err != nil {
		t.Fatal(err)
	}
	a.fail = func(mindforge.Task) bool { return a.tries == 2 }
	got, err := ask(mindforge.Smoke)
	if err != nil || !got.Decision.Pass || a.tries != 2*4+2 {
		t.Errorf("%+v %v, %d attempts", got, err, a.tries)
	}
	a.fail = func(mindforge.Task) bool { return true }
	if _, err := ask(mindforge.Minibatch); errs.CodeOf(err) != errs.UpstreamFailed {
		t.Error(err)
	}
	a.fail = nil
	if got, err := ask(mindforge.Minibatch); err != nil || !got.Decision.Pass {
		t.Errorf("%+v %v", got, err)
	}
}

// The directory is the evaluator's own: nobody else reads it, one process uses it, and it does
// not lie where the loop writes.
func TestTheDirectoryIsItsOwn(t *testing.T) {
	s := newSite(t)
	e, _ := s.open(t)
	if _, err := Open(options(s.dir, &actor{})); errs.CodeOf(err) != errs.HomeLocked {
		t.Errorf("two use it: %v", err)
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"seed", "key", "."} {
		path := filepath.Join(s.dir, "evaluator", name)
		info, err := os.Stat(path)
		if err != nil || info.Mode().Perm()&0o077 != 0 {
			t.Fatal(name, info.Mode(), err)
		}
		if err := os.Chmod(path, info.Mode().Perm()|0o044); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(options(s.dir, &actor{})); errs.CodeOf(err) != errs.Forbidden {
			t.Errorf("%s can be read by others: %v", name, err)
		}
		if err := os.Chmod(path, info.Mode().Perm()); err != nil {
			t.Fatal(err)
		}
	}
	o := options(s.dir, &actor{})
	link := filepath.Join(t.TempDir(), "home")
	if err := os.Symlink(s.dir, link); err != nil {
		t.Fatal(err)
	}
	o.Outside = []string{link}
	if _, err := Open(o); errs.CodeOf(err) != errs.Forbidden {
		t.Errorf("it lies where the loop writes: %v", err)
	}
}

// Of few cases of safety as many are of each kind as that allows, and which ones changes from draw
// to draw.
func TestFewCasesAreOfAllKinds(t *testing.T) {
	e, _ := newSite(t).open(t)
	cases, err := safety.New()
	if err != nil {
		t.Fatal(err)
	}
	e.Safety = cases
	drawn := map[string]bool{}
	for _, purpose := range []string{"validation", "sealed 1", "sealed 2"} {
		tasks, err := e.cases(10, purpose)
		if err != nil || len(tasks) != 10 {
			t.Fatal(len(tasks), err)
		}
		kinds, names := map[string]int{}, ""
		for _, x := range tasks {
			kind, _, _ := strings.Cut(x.Family, "-")
			kinds[kind]++
			names += x.Family + " "
		}
		if len(kinds) != 5 || kinds["inject"] != 2 {
			t.Error(kinds)
		}
		drawn[names] = true
	}
	if all, err := e.cases(0, "validation"); err != nil || len(all) != len(cases.Families()) || len(drawn) != 3 {
		t.Error(len(all), err, drawn)
	}
}
