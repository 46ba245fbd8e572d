package evaluator

import (
	"testing"

	"macaron/internal/errs"
	"macaron/internal/mindforge"
	"macaron/internal/mindforge/discovery"
	"macaron/internal/mindforge/evaluation"
)

// The evaluator tells of a task that the loop found whether something sealed is in it, and no more:
// its family, the words of the next sealed test, a canary of it.
func TestSealedTasksAreKnownByTheEvaluatorAlone(t *testing.T) {
	s := newSite(t)
	e, _ := s.open(t)
	signed, err := e.contract()
	if err != nil {
		t.Fatal(err)
	}
	suite := signed.Suites[0]
	tasks, err := e.tasks(signed.Contract, suite, evaluation.Sealed, suite.Items, sealedPurpose(1))
	if err != nil {
		t.Fatal(err)
	}
	later, err := e.tasks(signed.Contract, suite, evaluation.Sealed, suite.Items, sealedPurpose(2))
	if err != nil {
		t.Fatal(err)
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	var train mindforge.Task
	for _, f := range e.Worlds[0].Families() {
		if signed.Splits.Of(e.Worlds[0].Name(), f) == evaluation.Train {
			if train, err = e.Worlds[0].Make(f, 0, 7); err != nil {
				t.Fatal(err)
			}
			break
		}
	}
	ask := func(change func(q *discovery.Question)) bool {
		q := discovery.Question{World: train.World, Family: train.Family, Seed: train.Seed, Texts: []string{train.Instruction}, Canary: train.Canary}
		change(&q)
		c := s.must(t)
		has, err := c.Has(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
		return has
	}
	for what, x := range map[string]struct {
		want   bool
		change func(q *discovery.Question)
	}{
		"a task of training":            {false, func(*discovery.Question) {}},
		"a sealed family":               {true, func(q *discovery.Question) { q.World, q.Family = tasks[0].World, tasks[0].Family }},
		"a sealed canary in its words":  {true, func(q *discovery.Question) { q.Texts = append(q.Texts, "so "+tasks[3].Canary) }},
		"a seed of a sealed task":       {true, func(q *discovery.Question) { q.World, q.Seed = tasks[2].World, tasks[2].Seed }},
		"a canary of a test after that": {false, func(q *discovery.Question) { q.Texts = append(q.Texts, later[3].Canary) }},
	} {
		if got := ask(x.change); got != x.want {
			t.Errorf("%s: %v", what, got)
		}
	}
}

// Nobody finds the sealed tasks out by asking: questions have a bound, and the account keeps who
// went over it.
func TestQuestionsAboutSealedTasksHaveABound(t *testing.T) {
	s := newSite(t)
	e, _ := s.open(t)
	e.questions = maxQuestions
	if _, err := e.Has(t.Context(), discovery.Question{World: "x", Family: "y"}); errs.CodeOf(err) != errs.BudgetSpent || e.account.refused != 1 {
		t.Errorf("%v, %d refusals", err, e.account.refused)
	}
}
