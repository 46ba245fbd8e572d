package bench

import (
	"cmp"
	"context"
	"fmt"

	"macaron/internal/contract"
	"macaron/internal/errs"
	"macaron/internal/harness"
	"macaron/internal/record"
	"macaron/internal/tool"
)

// Runner runs cases through the harness.
type Runner struct {
	Deps    harness.Deps // Contracts is the measurement's; Tools makes the contract's, where a case offers some to it
	Owner   string
	Seed    uint64
	Purpose record.Purpose   // "": evaluation
	Limit   record.RunLimits // lower than the contract's; 0 leaves it
	Watch   func(run string) // called with each run as it ends; may be nil
}

// Run runs one task in one mode, from its beginning.
func (r Runner) Run(ctx context.Context, s Suite, item Item, mode contract.Mode) (Row, error) {
	row := Row{Suite: s.Name(), Task: item.ID, Mode: mode, Family: item.Family, Cluster: item.Cluster, Split: item.Split, Depth: item.Depth, Guess: item.Guess}
	c, err := s.Open(ctx, item.ID)
	if err != nil {
		return row, err
	}
	answers, err := r.steps(ctx, c, &row)
	if err == nil && row.Failure == "" {
		row.Score, err = c.Score(ctx, answers)
	}
	if closed := c.Close(); err == nil {
		err = closed
	}
	return row, err
}

// steps makes the requests. A run that does not come to its end stops them: what was not
// asked is not answered.
func (r Runner) steps(ctx context.Context, c Case, row *Row) ([]string, error) {
	var answers []string
	for n := range c.Steps() {
		step, err := c.Step(ctx, n, answers)
		if err != nil {
			return nil, err
		}
		rep, err := r.one(ctx, step, *row, n)
		if w, ok := c.(Witness); ok && err == nil {
			err = w.Look(ctx, n, rep.Workspace)
		}
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if err != nil {
			row.Failure = errs.Clip(err.Error())
			return answers, nil
		}
		row.add(rep)
		if rep.Status == record.RunFailed || rep.Status == record.RunStopped || silent(rep) {
			row.Failure = errs.Clip(rep.Reason)
			return answers, nil
		}
		answers = append(answers, rep.Answer)
	}
	return answers, nil
}

// silent: the time of a run was over before a model call had its answer, as where the engine
// is not there. To have called nothing is no merit of the model then.
func silent(rep harness.Report) bool {
	return rep.Status == record.RunTime && rep.Totals.Usage.OutputTokens == 0
}

func (r Runner) one(ctx context.Context, step Step, row Row, n int) (harness.Report, error) {
	d := r.Deps
	d.Tools = r.toolbox(step)
	h := harness.New(d)
	defer h.Close()
	meta := map[string]string{"family": row.Family, "step": fmt.Sprint(n)}
	rep, err := h.Run(ctx, r.Owner, harness.Task{
		ID: row.Task, Instruction: step.Instruction, Files: step.Files, Purpose: cmp.Or(r.Purpose, record.Evaluation), Seed: r.Seed, Suite: row.Suite, Meta: meta,
	}, harness.Options{Mode: row.Mode, Limits: r.Limit})
	if err == nil && r.Watch != nil {
		r.Watch(rep.RunID)
	}
	return rep, err
}

// toolbox gives the tools of the case, and the contract's where it is to choose.
func (r Runner) toolbox(step Step) harness.Toolbox {
	return func(ctx context.Context, b harness.Bench) ([]tool.Tool, func() error, error) {
		if step.Offer == nil {
			return step.Tools, func() error { return nil }, nil
		}
		b.World = step.Offer(b.Workspace)
		made, done, err := r.Deps.Tools(ctx, b)
		return append(made, step.Tools...), done, err
	}
}

func (row *Row) add(rep harness.Report) {
	t := rep.Totals
	row.Status = string(rep.Status)
	row.Turns, row.Cells, row.Calls = row.Turns+t.Turns, row.Cells+t.Cells, row.Calls+t.ToolCalls
	row.Prompt, row.Output = row.Prompt+t.Usage.PromptTokens, row.Output+t.Usage.OutputTokens
	row.CostUSD, row.WallMS = row.CostUSD+t.CostUSD.Dollars(), row.WallMS+t.Wall.Milliseconds()
	row.Runs = append(row.Runs, rep.RunID)
}
