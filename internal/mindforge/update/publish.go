package update

import (
	"context"
	"strconv"

	"github.com/pelletier/go-toml/v2"

	"macaron/internal/adapter"
	"macaron/internal/errs"
	"macaron/internal/ids"
	"macaron/internal/mint/catalogue"
)

// recipe is the text that a revision's recipe is: what was done, without what it was done to.
type recipe struct {
	Run        string   `toml:"run"`
	Generation int      `toml:"generation"`
	Operator   string   `toml:"operator"`
	Seed       uint64   `toml:"seed"`
	Rows       int      `toml:"rows"`
	Steps      int      `toml:"steps"`
	Tokens     int64    `toml:"tokens"`
	Update     Settings `toml:"update"`
}

// text is the recipe of a job.
func (j *Job) text() (string, error) {
	steps, tokens := j.Settings.plan(j.Selected.Rows, j.Seed)
	b, err := toml.Marshal(recipe{j.Run, j.Generation, string(j.Operator), j.Seed, len(j.Selected.Rows), len(steps), tokens, j.Settings})
	if err != nil {
		return "", errs.Wrap(errs.Internal, err, "the recipe has no form", "")
	}
	return string(b), nil
}

// published finds the revision that an earlier try of the job has published.
func (u *Updater) published(ctx context.Context, j *Job, data, recipe ids.Digest) (adapter.Published, bool, error) {
	const portion = 200
	search := adapter.Search{Name: j.Settings.Adapter, Parent: j.from().Hash, Limit: portion}
	for {
		all, err := u.Catalogue.Revisions(ctx, u.Owner, search)
		if err != nil {
			return adapter.Published{}, false, err
		}
		for _, p := range all {
			if p.Data == data && p.Recipe == recipe && p.Contract == j.Contract && p.Parent == j.from().Hash {
				return p.Published, true, nil
			}
		}
		if len(all) < portion {
			return adapter.Published{}, false, nil
		}
		search.Before = all[len(all)-1].Seq
	}
}

// publish takes the adapter of a checkpoint into the catalogue. Where the training service has
// done so, it is there with the same links, and nothing changes.
func (u *Updater) publish(ctx context.Context, j *Job, path, recipe string, data ids.Digest, metrics map[string]float64) (adapter.Published, error) {
	f, err := u.Client.Adapter(ctx, path)
	if err != nil {
		return adapter.Published{}, err
	}
	return u.Catalogue.Publish(ctx, u.Owner, catalogue.Draft{Files: f, Name: j.Settings.Adapter, Parent: j.from().Hash,
		Contract: j.Contract, Data: data, Recipe: recipe, Metrics: metrics})
}

// says are the metadata by which a training service publishes the revision itself.
func (j *Job) says(recipe string, data ids.Digest, metrics map[string]float64) map[string]string {
	out := map[string]string{"data": string(data), "recipe": recipe, "contract": string(j.Contract)}
	for name, v := range metrics {
		out["metric."+name] = strconv.FormatFloat(v, 'g', -1, 64)
	}
	return out
}
