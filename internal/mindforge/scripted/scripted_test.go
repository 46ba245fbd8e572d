package scripted

import (
	"context"
	"encoding/json"
	"math"
	"testing"

	"macaron/internal/adapter"
	"macaron/internal/mindforge"
	"macaron/internal/mindforge/edit"
	"macaron/internal/mindforge/expansion"
)

var ctx = context.Background()

func planted(t testing.TB, seed uint64) (*Problem, World) {
	t.Helper()
	p, err := Plant(seed, DefaultPlan)
	if err != nil {
		t.Fatal(err)
	}
	return p, World{p.Policy}
}

func with(t testing.TB, p mindforge.Pair, edits ...mindforge.Edit) mindforge.Pair {
	t.Helper()
	c, err := edit.Apply(p.Contract, edits...)
	if err != nil {
		t.Fatal(err)
	}
	return mindforge.Pair{Contract: c, Revisions: p.Revisions}
}

// committed finds the catalogue's edit of a planted one: what an entry holds is not in it.
func committed(t testing.TB, p *Problem, e mindforge.Edit) mindforge.Edit {
	t.Helper()
	for _, c := range p.Catalogue.Edits() {
		if c.Component == e.Component && (c.Kind == "tool.add" || c.Kind == "hook.add" || c.Kind == "skill.add" || c.Value == e.Value) {
			return c
		}
	}
	t.Fatalf("the catalogue has no %v", e)
	return e
}

// What is planted is so: improving edits raise the true rate, null ones do not move it, and
// harmful ones lower it, on every planted problem.
func TestPlantedEditsDoWhatTheyAreSaidTo(t *testing.T) {
	for seed := range uint64(4) {
		p, w := planted(t, seed)
		tasks := w.Tasks(3, 0)
		rate := func(pair mindforge.Pair) float64 {
			r, err := p.Policy.Rate(pair, tasks)
			if err != nil {
				t.Fatal(err)
			}
			return r
		}
		all := p.Base
		for _, e := range p.Improving {
			more := with(t, all, committed(t, p, e))
			if rate(more) <= rate(all) {
				t.Errorf("seed %d: %v does not help", seed, e)
			}
			all = more
		}
		if rate(all) < rate(p.Base)+0.4 || p.Recall(all.Contract) != 1 || p.Recall(p.Base.Contract) != 0 {
			t.Errorf("seed %d: %.2f with all, %.2f without", seed, rate(all), rate(p.Base))
		}
		for _, e := range p.Null {
			if math.Abs(rate(with(t, all, committed(t, p, e)))-rate(all)) > 1e-12 && e.Component != "sampling.temperature" {
				t.Errorf("seed %d: %v does something", seed, e)
			}
		}
		for _, e := range p.Harmful {
			if e.Component != "agent.max_turns" && rate(with(t, all, committed(t, p, e))) >= rate(all) {
				t.Errorf("seed %d: %v does no harm", seed, e)
			}
		}
	}
}

// Outcomes come as often as is true, are equal for equal arguments, and other for other ones.
func TestOutcomesFollowTheTruth(t *testing.T) {
	p, w := planted(t, 1)
	for _, task := range w.Tasks(1, 0) {
		want, err := p.Policy.Chance(p.Base, task)
		if err != nil {
			t.Fatal(err)
		}
		passes, n := 0, 400
		for seed := range uint64(n) {
			a, err := p.Policy.Try(ctx, p.Base, task, seed)
			if err != nil {
				t.Fatal(err)
			}
			if b, _ := p.Policy.Try(ctx, p.Base, task, seed); b.Pass != a.Pass || b.Failure != a.Failure {
				t.Fatal("equal arguments, other outcomes")
			}
			if a.Pass {
				passes++
			} else if a.Failure == "" || len(a.Evidence) == 0 {
				t.Fatalf("a failure without a class: %+v", a)
			}
		}
		got := float64(passes) / float64(n)
		if sd := math.Sqrt(want*(1-want)/float64(n)) + 1e-9; math.Abs(got-want) > 4.5*sd {
			t.Errorf("%s: %.3f, true is %.3f", task.Family, got, want)
		}
	}
}

// Training raises the families that it has rows of, forgets a little of others, costs, and
// gives one revision for equal arguments.
func TestTrainingRaisesSkill(t *testing.T) {
	p, w := planted(t, 2)
	l := Learner{Most: 2, Rows: 20, Forget: 0.1, Tokens: 100}
	rows := map[string]int{"f00": 40}
	skill, r, cost, err := p.Policy.Train(Skill{Adapter: "A"}, rows, l)
	if err != nil {
		t.Fatal(err)
	}
	if _, again, _, err := p.Policy.Train(Skill{Adapter: "A"}, rows, l); err != nil || again.Hash != r.Hash || cost.Trained != 4000 {
		t.Errorf("%v %v %+v", again, err, cost)
	}
	trained := mindforge.Pair{Contract: p.Base.Contract, Revisions: []adapter.Revision{r}}
	for _, task := range w.Tasks(1, 0) {
		was, err1 := p.Policy.Chance(p.Base, task)
		now, err2 := p.Policy.Chance(trained, task)
		if err1 != nil || err2 != nil || (now > was) != (task.Family == "f00" && was > 0) && was > 0 {
			t.Errorf("%s: %.2f, then %.2f, %v %v", task.Family, was, now, err1, err2)
		}
	}
	other := &Policy{Families: p.Policy.Families, Salt: p.Policy.Salt}
	if _, err := other.Chance(trained, w.Tasks(1, 0)[0]); err == nil {
		t.Error("a policy that has not learned the revision knows it")
	}
	if again, err := other.Learn(skill); err != nil || again.Hash != r.Hash {
		t.Error(again, err)
	}
}

// A reflective proposer with skill answers what it saw; its predictions name who failed so.
func TestReflectiveReadsEvidence(t *testing.T) {
	p, _ := planted(t, 3)
	a := expansion.Ask{Contract: p.Base.Contract, Traces: []expansion.Trace{{Family: "f01", Failure: mindforge.MissingTool, Evidence: []string{"the task needs convert, which the contract does not declare"}}}}
	for _, e := range p.Catalogue.Edits() {
		x, _ := p.Catalogue.Choice(e)
		a.Options = append(a.Options, expansion.Option{Edit: e, Answers: x.Answers})
	}
	hits := 0
	for seed := range uint64(200) {
		a.Seed = seed
		got, err := Reflective{Skill: 0.7}.Propose(ctx, a)
		if err != nil {
			t.Fatal(err)
		}
		if got.Edit.Component == "tools.convert" {
			hits++
			if len(got.Prediction.Fixes) > 1 {
				t.Errorf("%+v", got.Prediction)
			}
		}
	}
	if hits < 120 || hits > 170 {
		t.Errorf("%d of 200 proposals answer the evidence, with skill 0.7", hits)
	}
}

// What a writer spoils is refused as a whole, by a coded error, and never a panic; what it does
// not spoil reads back as what was meant.
func TestWrittenProposalsAreReadStrictly(t *testing.T) {
	p, _ := planted(t, 4)
	a := expansion.Ask{Contract: p.Base.Contract, Options: []expansion.Option{{Edit: p.Catalogue.Edits()[0]}}}
	good, err := Writer{Of: expansion.Uniform{}}.Write(ctx, a)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := expansion.ParseProposal(good); err != nil {
		t.Error(err)
	}
	for way := range spoils {
		if out, err := expansion.ParseProposal(spoil(good, way)); err == nil {
			t.Errorf("mistake %d is read as %+v", way, out)
		}
	}
	for _, text := range []string{"", "null", "[]", `{"edit":{"kind":"x"}}`, `{"edit":{"kind":"prompt.append","component":"agent.prompts.system#a","value":"x"},"prediction":{"gain":2}}`} {
		if _, err := expansion.ParseProposal(json.RawMessage(text)); err == nil {
			t.Errorf("%q is read", text)
		}
	}
}

// Nothing that a hostile proposer thinks of passes the lint.
func TestHostileProposalsAreRefused(t *testing.T) {
	_, w := planted(t, 5)
	tasks := w.Tasks(1, 0)
	c := edit.Committed()
	g, err := edit.NewGuard(c, tasks)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range (Hostile{tasks}).Attacks() {
		refused := false
		for _, f := range g.Lint([]mindforge.Edit{e}, true) {
			refused = refused || f.Refuses()
		}
		if !refused {
			t.Errorf("%v passes", e)
		}
	}
}
