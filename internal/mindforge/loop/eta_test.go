package loop

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"macaron/internal/jobs"
	"macaron/internal/mindforge/edit"
	"macaron/internal/mindforge/expansion"
)

// The rest of a run is what its stages took: of the generation's those that are to come, and all of
// each other generation. Before each was done once, nothing is told.
func TestLeftIsByStagesThatWereDone(t *testing.T) {
	const s = time.Second
	took := map[string]time.Duration{"begin": 0, "discovery": 10 * s, "expansion": 100 * s, "update": 30 * s, "gate": 50 * s, "close": 2 * s}
	run := func(of, generation int, stage string, worked time.Duration) (all []jobs.Status) {
		for g := 1; ; g++ {
			for _, name := range stages {
				raw, err := json.Marshal(place{"r", g, name, of})
				must(t, err)
				j := jobs.Status{Job: jobs.Job{Args: raw}, State: jobs.Done, Worked: took[name]}
				if g == 2 {
					j.Worked += 2 * s
				}
				if g == generation && name == stage {
					j.State, j.Worked = jobs.Running, worked
					return append(all, j)
				}
				all = append(all, j)
			}
		}
	}
	for _, c := range []struct {
		name  string
		all   []jobs.Status
		left  time.Duration
		known bool
	}{
		{"the first generation", run(3, 1, "gate", s), 0, false},
		{"its end", run(3, 1, "close", 0), 0, false},
		{"the second begins", run(3, 2, "begin", 0), 384 * s, true},
		{"in its search", run(3, 2, "expansion", 40*s), 60*s + 30*s + 50*s + 2*s + 194*s, true}, // begin and discovery took 2 s more in the second
		{"longer than before", run(3, 2, "expansion", 500*s), 30*s + 50*s + 2*s + 194*s, true},
		{"the last one", run(2, 2, "gate", 20*s), 30*s + 2*s, true},
		{"a third", run(3, 3, "update", 0), 31*s + 51*s + 3*s, true},
		{"how many is not known", run(0, 2, "gate", 0), 0, false},
		{"no jobs", nil, 0, false},
	} {
		if left, known := Left(c.all); left != c.left || known != c.known {
			t.Errorf("%s: %v %v, not %v %v", c.name, left, known, c.left, c.known)
		}
	}
}

// listens keeps what a stage tells of its progress.
type listens struct{ told []jobs.Progress }

func (l *listens) Step(_ context.Context, done, total int, note string) error {
	l.told = append(l.told, jobs.Progress{Done: done, Total: total, Note: note})
	return nil
}

// What a stage tells of its progress is true of the whole stage: tasks that are kept of those that
// are looked for; attempts with those of controls, each part with as many as it may make.
func TestProgressIsOfTheWholeStage(t *testing.T) {
	over(t, t.TempDir(), &halves{}, &chooses{}, func(l *Loop) {
		l.Catalogue, l.Proposer = edit.Committed(), expansion.Uniform{}
		l.Expansion.Attempts, l.Expansion.Minibatch, l.Expansion.Coverage, l.Expansion.Variety = 40, 1, 2, 3
		told := map[string][]jobs.Progress{}
		for _, stage := range []string{"begin", "discovery", "expansion"} {
			args, err := json.Marshal(place{"found-1", 1, stage, 1})
			must(t, err)
			hear := &listens{}
			must(t, l.Handle(t.Context(), jobs.Job{Args: args}, hear))
			told[stage] = hear.told
			last := 0
			for _, p := range hear.told {
				if p.Done < last || p.Done > p.Total {
					t.Errorf("%s: %+v behind %d", stage, p, last)
				}
				last = p.Done
			}
		}
		if end := told["discovery"][len(told["discovery"])-1]; end.Done != 12 || end.Total != 12 {
			t.Errorf("discovery ends at %+v", end)
		}
		all := told["expansion"]
		// 40 of the search, 40 of its control; two rounds of 6 items each by four arms, two of which
		// learn from 3 contracts at 6 tasks each
		if first := all[0]; first.Total != 40+40+4*12+2*18 || first.Note != "expansion: search (1 of 6, at most 40 attempts)" {
			t.Errorf("it begins with %+v", first)
		}
		w, err := l.open(t.Context(), 1, "update", quiet{})
		must(t, err)
		made := 0
		for key, b := range w.bodies {
			if !strings.HasPrefix(key, "g001/discovery/") {
				made += costOf(b).Attempts
			}
		}
		if end := all[len(all)-1]; end.Done != made || end.Note != "expansion: coverage-portfolio (6 of 6, at most 30 attempts)" {
			t.Errorf("%d attempts were made, and it ends with %+v", made, end)
		}
	})
}
