package loop

import (
	"context"
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	"macaron/internal/jobs"
	"macaron/internal/mindforge"
	"macaron/internal/mindforge/edit"
	"macaron/internal/mindforge/evaluation"
	"macaron/internal/mindforge/expansion"
)

// took is what the stages of a run of the tests took in its first generation; in the second each took
// 2 s more.
var took = map[string]time.Duration{"begin": 0, "discovery": 10 * time.Second, "expansion": 100 * time.Second, "update": 30 * time.Second, "gate": 50 * time.Second, "close": 2 * time.Second}

// jobsOf are the jobs of a run that is at a stage, on which it has worked for a while.
func jobsOf(t *testing.T, of, generation int, stage string, worked time.Duration, p *planned) (all []jobs.Status) {
	t.Helper()
	for g := 1; ; g++ {
		for _, name := range stages {
			raw, err := json.Marshal(place{"r", g, name, of, p})
			must(t, err)
			j := jobs.Status{Job: jobs.Job{Args: raw}, State: jobs.Done, Worked: took[name]}
			if g == 2 {
				j.Worked += 2 * time.Second
			}
			if g == generation && name == stage {
				j.State, j.Worked = jobs.Running, worked
				return append(all, j)
			}
			all = append(all, j)
		}
	}
}

// The rest of a run is what its stages took: of the generation's those that are to come, and all of
// each other generation. Where one was never done, and another build did not say what is planned,
// nothing is told.
func TestLeftIsByStagesThatWereDone(t *testing.T) {
	const s = time.Second
	run := func(of, generation int, stage string, worked time.Duration) []jobs.Status {
		return jobsOf(t, of, generation, stage, worked, nil)
	}
	for _, c := range []struct {
		name string
		all  []jobs.Status
		left time.Duration
		by   string
	}{
		{"the first generation", run(3, 1, "gate", s), 0, ""},
		{"its end", run(3, 1, "close", 0), 0, ""},
		{"the second begins", run(3, 2, "begin", 0), 384 * s, ByStages},
		{"in its search", run(3, 2, "expansion", 40*s), 60*s + 30*s + 50*s + 2*s + 194*s, ByStages}, // begin and discovery took 2 s more in the second
		{"longer than before", run(3, 2, "expansion", 500*s), 30*s + 50*s + 2*s + 194*s, ByStages},
		{"the last one", run(2, 2, "gate", 20*s), 30*s + 2*s, ByStages},
		{"a third", run(3, 3, "update", 0), 31*s + 51*s + 3*s, ByStages},
		{"how many is not known", run(0, 2, "gate", 0), 0, ""},
		{"no jobs", nil, 0, ""},
	} {
		if left, by := Left(c.all, Spent{Tried: mindforge.Cost{Attempts: 7}}); left != c.left || by != c.by {
			t.Errorf("%s: %v %q, not %v %q", c.name, left, by, c.left, c.by)
		}
	}
}

// In the first generation it is what is planned, at the mean time of the attempts so far; of
// discovery and search what their own pace says. A training has the time of what was written until
// one was measured.
func TestLeftIsByWhatIsPlannedAtFirst(t *testing.T) {
	const s = time.Second
	plan := &planned{Attempts: map[string]int{"discovery": 20, "expansion": 50, "update": 10, "gate": 30}, Trained: 400}
	unbound := &planned{Attempts: plan.Attempts, Trained: -1}
	at := func(of int, stage string, worked time.Duration, p *planned, done, total int) []jobs.Status {
		all := jobsOf(t, of, 1, stage, worked, p)
		j := &all[len(all)-1]
		j.Progress = jobs.Progress{Done: done, Total: total, Timed: done, Took: worked}
		return all
	}
	tried := func(attempts int, output int64) Spent {
		return Spent{Tried: mindforge.Cost{Attempts: attempts, Output: output}}
	}
	trained := tried(160, 800)
	trained.Trained = mindforge.Cost{Trained: 100, WallMS: 10_000}
	for _, c := range []struct {
		name string
		all  []jobs.Status
		so   Spent
		left time.Duration
		by   string
	}{
		{"it begins", at(1, "begin", 0, plan, 0, 1), Spent{}, 0, ""},
		{"no attempt was made", at(1, "discovery", s, plan, 0, 12), Spent{}, 0, ""},
		{"none has come to its time", at(1, "discovery", 0, plan, 0, 12), tried(4, 20), 0, ""},
		// 2 s an attempt, 400 ms a token that was written: 20 + 50 + 10 + 30 attempts, 400 tokens
		{"nothing is kept yet", at(1, "discovery", 8*s, plan, 0, 12), tried(4, 20), 32*s + 100*s + 20*s + 160*s + 60*s, ByPlan},
		{"its own pace", at(1, "discovery", 8*s, plan, 2, 12), tried(4, 20), 40*s + 100*s + 20*s + 160*s + 60*s, ByPlan},
		{"and another generation", at(2, "discovery", 8*s, plan, 2, 12), tried(4, 20), 40*s + 48*s + 2*(100*s+20*s+160*s+60*s), ByPlan},
		// discovery took 10 s; 30 s of the search: 1 s an attempt, 200 ms a token
		{"in the search", at(1, "expansion", 30*s, plan, 30, 50), tried(40, 200), 20*s + 10*s + 80*s + 30*s, ByPlan},
		{"with discovery as it was", at(2, "expansion", 30*s, plan, 30, 50), tried(40, 200), 20*s + 10*s + 80*s + 30*s + (10*s + 50*s + 10*s + 80*s + 30*s), ByPlan},
		// 10 + 100 + 20 s of attempts, 10 s of a training: 812.5 ms and 100 ms
		{"a training was measured", at(1, "update", 30*s, plan, 0, 0), trained, 130*s*10/160 + 40*s - 30*s + 130*s*30/160, ByPlan},
		{"longer than planned", at(1, "update", 500*s, plan, 0, 0), trained, 600 * s * 30 / 160, ByPlan},
		{"before the gate's end", at(1, "gate", 500*s, plan, 30, 30), tried(640, 1), 0, ByPlan},
		{"a training without a bound", at(1, "expansion", 30*s, unbound, 30, 50), tried(40, 200), 0, ""},
		{"that is behind", at(1, "gate", 20*s, unbound, 2, 8), tried(160, 1), 10 * s, ByPlan},
		{"and comes again", at(2, "gate", 20*s, unbound, 2, 8), tried(160, 1), 10*s + (10*s + 100*s + 30*s + 30*s), ByPlan},
	} {
		if left, by := Left(c.all, c.so); left != c.left || by != c.by || left < 0 {
			t.Errorf("%s: %v %q, not %v %q", c.name, left, by, c.left, c.by)
		}
	}
}

// What is planned is what the settings allow.
func TestPlannedIsWhatTheSettingsAllow(t *testing.T) {
	over(t, t.TempDir(), &halves{}, &chooses{}, func(l *Loop) {
		l.Discovery.Tasks, l.Discovery.Attempts, l.Expansion = 9, 4, Expansion{Attempts: 40, Controls: true, Coverage: 2, Variety: 3}
		l.Settings.Update.Attempts, l.Settings.Update.Tokens, l.Budget.Trained, l.Cases = 6, 500, 0, 5
		research, err := evaluation.Research()
		must(t, err)
		l.Evaluation.Contract, err = evaluation.Parse(research)
		must(t, err)
		l.Decoys = nil
		for _, c := range []struct {
			name   string
			change func()
			want   planned
		}{
			{"no updater", func() { l.Updater = nil }, planned{map[string]int{"discovery": 36, "expansion": 2*40 + 4*10 + 2*12, "gate": 242}, 0}},
			{"trains", func() { l.Updater = &Rehearsal{} }, planned{map[string]int{"discovery": 36, "expansion": 2*40 + 4*10 + 2*12, "update": 30, "gate": 242}, 500}},
			{"a budget", func() { l.Budget.Trained = 300 }, planned{map[string]int{"discovery": 36, "expansion": 2*40 + 4*10 + 2*12, "update": 30, "gate": 242}, 300}},
			{"absorbs", func() { l.Settings.Update.Absorb, l.Settings.Update.Held = true, 7 }, planned{map[string]int{"discovery": 36, "expansion": 2*40 + 4*10 + 2*12, "update": 51, "gate": 242}, 300}},
			{"no bound", func() { l.Budget.Trained, l.Settings.Update.Tokens = 0, 0 }, planned{map[string]int{"discovery": 36, "expansion": 2*40 + 4*10 + 2*12, "update": 51, "gate": 242}, -1}},
			{"weights alone", func() { l.Arm = Weights }, planned{map[string]int{"discovery": 36, "expansion": 10, "update": 51, "gate": 242}, -1}},
			{"nothing is proposed", func() { l.Arm = None }, planned{map[string]int{"discovery": 36}, 0}},
		} {
			c.change()
			if got := l.planned(); !reflect.DeepEqual(*got, c.want) {
				t.Errorf("%s: %+v, not %+v", c.name, *got, c.want)
			}
		}
	})
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
			args, err := json.Marshal(place{"found-1", 1, stage, 1, nil})
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
