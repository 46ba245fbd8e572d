package discovery_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"macaron/internal/bench"
	"macaron/internal/contract"
	"macaron/internal/mindforge"
	"macaron/internal/mindforge/discovery"
	"macaron/internal/mindforge/world"
	"macaron/internal/mindforge/world/compose"
	"macaron/internal/mindforge/world/terminal"
	"macaron/internal/mindforge/world/text"
)

var worlds = []world.World{compose.New(), terminal.New(), text.New()}

// actor solves so many of each eight attempts, by the task's family.
type actor func(t mindforge.Task, try int) (pass, infrastructure bool)

type counted struct {
	actor
	tries map[string]int
}

// Try implements mindforge.Actor.
func (c counted) Try(_ context.Context, _ mindforge.Pair, t mindforge.Task, _ uint64) (mindforge.Outcome, error) {
	pass, infra := c.actor(t, c.tries[t.ID])
	c.tries[t.ID]++
	o := mindforge.Outcome{Pass: pass, Cost: mindforge.Cost{Attempts: 1}}
	if infra {
		o.Failure = mindforge.Infrastructure
	}
	return o, nil
}

func solves(k int) actor {
	return func(_ mindforge.Task, try int) (bool, bool) { return try < k, false }
}

// open gives a discoverer whose sealed split is the family item_price, and tasks of it.
func open(t *testing.T, a actor, change func(*discovery.Settings)) *discovery.Discoverer {
	t.Helper()
	set := discovery.Defaults()
	if change != nil {
		change(&set)
	}
	shelf, err := discovery.NewShelf(set, nil)
	if err != nil {
		t.Fatal(err)
	}
	var sealed []mindforge.Task
	for seed := range uint64(3) {
		sealed = append(sealed, task(t, worlds[0], "item_price", 0, 9000+seed))
	}
	guard, err := discovery.NewGuard(t.Context(), sealed)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile("../../../macaron.toml")
	if err != nil {
		t.Fatal(err)
	}
	c, err := contract.Parse(raw)
	if err != nil {
		t.Fatal(err)
	}
	return &discovery.Discoverer{Shelf: shelf, Actor: counted{a, map[string]int{}}, Pair: mindforge.Pair{Contract: c}, Sealed: guard, Split: func(_, family string) string {
		if family == "item_price" {
			return "sealed"
		}
		return "train"
	}}
}

func task(t *testing.T, w world.World, family string, level int, seed uint64) mindforge.Task {
	t.Helper()
	out, err := w.Make(family, level, seed)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// consider gives the reason for which a candidate is refused, "" if it is kept.
func consider(t *testing.T, d *discovery.Discoverer, c discovery.Candidate) discovery.Reason {
	t.Helper()
	r, no, err := d.Consider(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	if no != nil {
		return no.Reason
	}
	if r.Verifier == "" || r.Structure == "" || len(r.Failing) < 3 {
		t.Errorf("%+v", r)
	}
	return ""
}

func of(w world.World, t mindforge.Task) discovery.Candidate {
	return discovery.Candidate{Task: t, World: w, Source: discovery.Source{Kind: discovery.Generated}}
}

// Solve rates of 0.2 to 0.8 are kept; never is kept apart; attempts that the machinery spoils
// are none.
func TestDifficulty(t *testing.T) {
	for k, want := range map[int]discovery.Reason{0: "", 1: "", 4: "", 5: discovery.TooEasy} {
		d := open(t, solves(k), nil)
		if got := consider(t, d, of(worlds[0], task(t, worlds[0], "item_room", 0, 1))); got != want {
			t.Errorf("%d of 5: %q, want %q", k, got, want)
		}
		if k == 0 && d.Kept()[0].Class != discovery.Failing || k == 1 && d.Kept()[0].Class != discovery.Frontier {
			t.Errorf("%d of 5 is %s", k, d.Kept()[0].Class)
		}
		if k == 1 {
			if s := d.Kept()[0].Solved; s.N != 5 || s.Low > 0.01 || s.High < 0.7 {
				t.Errorf("%+v", s)
			}
		}
	}
	spoiled := open(t, func(_ mindforge.Task, try int) (bool, bool) { return true, try%2 == 0 }, func(s *discovery.Settings) { s.High = 1 })
	if got := consider(t, spoiled, of(worlds[0], task(t, worlds[0], "item_room", 0, 1))); got != "" || spoiled.Kept()[0].Solved.N != 5 {
		t.Errorf("half of the attempts are spoiled: %q", got)
	}
	few := open(t, solves(0), func(s *discovery.Settings) { s.MostFailing = 1 })
	for i, want := range []discovery.Reason{"", discovery.Unsolved} {
		if got := consider(t, few, of(worlds[0], task(t, worlds[0], []string{"item_room", "busier"}[i], 0, 1))); got != want {
			t.Errorf("the unsolved task %d: %q, want %q", i, got, want)
		}
	}
	broken := open(t, func(mindforge.Task, int) (bool, bool) { return false, true }, nil)
	if got := consider(t, broken, of(worlds[0], task(t, worlds[0], "item_room", 0, 1))); got != discovery.Unmeasured {
		t.Errorf("all attempts are spoiled: %q", got)
	}
}

// What is drawn, with harder variants of what is solved, is the same twice, and survives a file.
func TestRoundsAreDeterministic(t *testing.T) {
	var first string
	for range 2 {
		d := open(t, func(t mindforge.Task, try int) (bool, bool) {
			return len(t.Ways) == 0 && len(t.Family)%2 == 0 || try < len(t.ID)%6, false
		}, func(s *discovery.Settings) { s.Plays = 2 })
		drawn, err := d.Draw(worlds[:1], 0)
		if err != nil || len(drawn) != len(worlds[0].Families())-1 {
			t.Fatalf("%d drawn, %v", len(drawn), err)
		}
		for _, c := range drawn {
			if consider(t, d, c) != discovery.TooEasy {
				continue
			}
			for _, harder := range d.Harder(c.World, c.Task) {
				consider(t, d, harder)
			}
		}
		raw, err := json.Marshal([]any{d.Kept(), d.Report()})
		if err != nil {
			t.Fatal(err)
		}
		if first == "" {
			first = string(raw)
		} else if first != string(raw) {
			t.Error("two rounds with one seed differ")
		}
		told := d.Report()
		if told.Kept < 12 || told.Refused[discovery.TooEasy] == 0 || told.Sources[discovery.Variant] == 0 || told.Splits["train"] != told.Kept || told.Diversity.Families.Effective < 6 {
			t.Errorf("%+v", told)
		}
		survives(t, d)
	}
}

func survives(t *testing.T, d *discovery.Discoverer) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "tasks.jsonl")
	if err := discovery.WriteRecords(path, d.Kept()); err != nil {
		t.Fatal(err)
	}
	back, err := discovery.ReadRecords(path)
	if err != nil || len(back) != len(d.Kept()) {
		t.Fatalf("%d records, %v", len(back), err)
	}
	score, err := world.Play(t.Context(), worlds[0], back[0].Task, back[0].Solution)
	if err != nil || score.Points != 1 {
		t.Error(score, err)
	}
	again, err := discovery.NewShelf(discovery.Defaults(), back)
	if err != nil || fmt.Sprint(again.Report().Classes) != fmt.Sprint(d.Report().Classes) {
		t.Error("the shelf is another one", err)
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for what, change := range map[string][2]string{"a verifier": {`"asked":true`, `"asked":false`}, "a schema": {"macaron.task/1", "macaron.task/9"}, "a field": {`"class":`, `"klass":`}} {
		if err := os.WriteFile(path, []byte(strings.Replace(string(raw), change[0], change[1], 1)), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := discovery.ReadRecords(path); err == nil {
			t.Errorf("%s that was changed is read", what)
		}
	}
}

// A loop that finds one easy shape and goes on with it is stopped; others are not.
func TestDiversityHasAFloor(t *testing.T) {
	d := open(t, solves(2), func(s *discovery.Settings) { s.PerStructure, s.Floor.After = 1000, 8 })
	refused := 0
	for seed := range uint64(30) {
		if got := consider(t, d, of(worlds[2], task(t, worlds[2], "case", 0, seed))); got == discovery.Monotone {
			refused++
		}
	}
	div := d.Report().Diversity
	if n := len(d.Kept()); n != 8 || refused == 0 || !div.BelowIt || div.Families.Effective != 1 || div.Families.Share != 1 {
		t.Errorf("%d kept, %d refused, %+v", len(d.Kept()), refused, div)
	}
	for _, f := range worlds[0].Families()[1:] {
		if got := consider(t, d, of(worlds[0], task(t, worlds[0], f, 0, 1))); got != "" {
			t.Errorf("%s is refused: %s", f, got)
		}
	}
	if div = d.Report().Diversity; div.Families.Effective < 6 {
		t.Errorf("%+v", div)
	}
}

// flips is a world whose verifier is a coin.
type flips struct {
	world.World
	n *int
}

func (f flips) Open(t mindforge.Task) (bench.Case, error) {
	c, err := f.World.Open(t)
	return coin{c, f.n}, err
}

type coin struct {
	bench.Case
	n *int
}

func (c coin) Score(context.Context, []string) (bench.Score, error) {
	*c.n++
	return bench.Score{Points: float64(*c.n / 5 % 2)}, nil
}
