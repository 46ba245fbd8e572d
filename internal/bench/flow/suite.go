package flow

import (
	"context"
	"strings"

	"macaron/internal/bench"
	"macaron/internal/errs"
)

// Suite is the tasks of one salt.
type Suite struct{ tasks []Task }

// NewSuite makes the tasks of a salt, in windows of each family, at most depth deep
// (0: all) and of one split ("": all).
func NewSuite(salt string, windows, depth int, only Split) Suite {
	var s Suite
	for _, t := range Tasks(salt, windows) {
		if (depth == 0 || t.Depth <= depth) && (only == "" || t.Split == only) {
			s.tasks = append(s.tasks, t)
		}
	}
	return s
}

// Name implements bench.Suite.
func (Suite) Name() string { return "flow" }

// Items implements bench.Suite.
func (s Suite) Items() []bench.Item {
	var out []bench.Item
	for _, t := range s.tasks {
		out = append(out, bench.Item{ID: t.ID, Family: t.Family, Cluster: t.Family, Split: string(t.Split), Depth: t.Depth, Guess: t.Label})
	}
	return bench.Spread(out)
}

// Open implements bench.Suite.
func (s Suite) Open(_ context.Context, item string) (bench.Case, error) {
	for _, t := range s.tasks {
		if t.ID == item {
			return question{t}, nil
		}
	}
	return nil, errs.New(errs.NotFound, "the suite has no task "+errs.Clip(item), "")
}

// question is a task under way. It has no state: tools are functions of their arguments.
type question struct{ Task }

func (question) Steps() int { return 1 }

func (q question) Step(context.Context, int, []string) (bench.Step, error) {
	return bench.Step{Instruction: q.Instruction, Tools: q.Tools()}, nil
}

// Score is exact: the label and nothing else, white space at the ends left out.
func (q question) Score(_ context.Context, answers []string) (bench.Score, error) {
	switch {
	case len(answers) == 0 || strings.TrimSpace(answers[0]) == "":
		return bench.Score{Note: "no answer"}, nil
	case strings.TrimSpace(answers[0]) != q.Label:
		return bench.Score{Note: "another number, or words"}, nil
	}
	return bench.Score{Points: 1}, nil
}

func (question) Close() error { return nil }
