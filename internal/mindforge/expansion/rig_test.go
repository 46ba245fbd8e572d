package expansion_test

import (
	"context"
	"testing"

	"macaron/internal/mindforge"
	"macaron/internal/mindforge/expansion"
	"macaron/internal/mindforge/scripted"
)

var ctx = context.Background()

// problem is a planted one, with the search over it.
func problem(t testing.TB, seed uint64, attempts int) (*scripted.Problem, *expansion.Search) {
	t.Helper()
	p, err := scripted.Plant(seed, scripted.DefaultPlan)
	if err != nil {
		t.Fatal(err)
	}
	w := scripted.World{Policy: p.Policy}
	return p, &expansion.Search{Settings: expansion.Settings{Seed: seed, Attempts: attempts}, Actor: p.Policy, Catalogue: p.Catalogue,
		Proposer: scripted.Reflective{Skill: 0.6}, Base: p.Base, Train: w.Tasks(3, 0), Valid: w.Tasks(2, 1000)}
}

// counting is an actor that counts, and may fail after so many attempts.
type counting struct {
	mindforge.Actor
	made, most int
	fail       error
}

func (c *counting) Try(x context.Context, p mindforge.Pair, t mindforge.Task, seed uint64) (mindforge.Outcome, error) {
	if c.made++; c.most > 0 && c.made > c.most {
		return mindforge.Outcome{}, c.fail
	}
	return c.Actor.Try(x, p, t, seed)
}
