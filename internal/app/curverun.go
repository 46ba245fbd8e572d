package app

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"macaron/internal/auth"
	"macaron/internal/errs"
	"macaron/internal/mint"
	"macaron/internal/train/curve"
	"macaron/internal/train/recipe"
)

// TrainingRun is one training run, whoever trains it.
type TrainingRun struct {
	ID      string
	Metrics string // its file, which may be there later
	// Model tells of it as the training service does.
	Model func(context.Context) (mint.Model, error)
}

// RecipeRun is the run whose metrics are in a file: of a recipe, while it trains or afterwards. It
// has the name of its directory. Steps are those that it will have; 0: what its lines say.
func RecipeRun(metrics string, steps int64) TrainingRun {
	dir := filepath.Dir(metrics)
	name := "run"
	if abs, err := filepath.Abs(dir); err == nil && filepath.Dir(abs) != abs {
		name = strings.ToValidUTF8(filepath.Base(abs), "?")
	}
	return fileRun(metrics, name, steps, func() bool { return recipe.Trains(dir) })
}

// HomeRun is a run of a home's training service, which may be served by another process meanwhile.
func HomeRun(s Store, home, tenant, id string, steps int64) TrainingRun {
	run := fileRun(Curves(home).Path(tenant, id), id, steps, func() bool { return false })
	bare := run.Model
	run.Model = func(ctx context.Context) (mint.Model, error) {
		row, err := s.Mint().Model(ctx, tenant, id)
		if errs.CodeOf(err) == errs.NotFound { // collected, without its metrics
			return bare(ctx)
		}
		if err != nil {
			return mint.Model{}, err
		}
		m, err := mint.ModelOf(row)
		if steps > 0 {
			m.Metadata = planned(steps)
		}
		return m, err
	}
	return run
}

// fileRun is a run of which nothing is known but its metrics.
func fileRun(metrics, id string, steps int64, trains func() bool) TrainingRun {
	ends, begun := curve.NewEnds(metrics), time.Now()
	return TrainingRun{id, metrics, func(context.Context) (mint.Model, error) {
		m := mint.Model{ID: id, Owner: auth.Local, Base: id, Created: begun, Used: begun, Metadata: planned(steps)}
		m.Unloaded = !trains()
		first, last, err := ends.Look()
		if err != nil || first == nil {
			return m, err
		}
		m.Steps, m.Created, m.Used = int64(last["step"]), when(first), when(last)
		if steps == 0 {
			m.Metadata = planned(int64(last["planned"]))
		}
		return m, nil
	}}
}

// planned is what a client says of the steps that its run will have.
func planned(steps int64) []byte { return fmt.Appendf(nil, `{"steps":%d}`, steps) }

// when is the time of a line, within the years that JSON has words for.
func when(l curve.Line) time.Time {
	const most = 2e11
	return time.UnixMilli(int64(1000 * min(max(l["time"], 0), most)))
}
