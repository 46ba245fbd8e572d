package update

import (
	"context"
	"strconv"
	"time"

	"macaron/internal/adapter"
	"macaron/internal/errs"
	"macaron/internal/ids"
	"macaron/internal/mindforge"
	"macaron/internal/mindforge/update/tinkerclient"
	"macaron/internal/train"
)

// Job is one update.
type Job struct {
	Run        string
	Generation int
	Operator   mindforge.Operator // Train or Absorb
	Seed       uint64
	Settings   Settings
	From       adapter.Revision // that training begins from; zero: the base
	Contract   ids.Digest       // that the revision is trained for
	Selected   Selected
}

// from is what training begins from.
func (j *Job) from() adapter.Revision {
	if j.Settings.Fresh {
		return adapter.Revision{}
	}
	return j.From
}

// key names the job in a journal.
func (j *Job) key(step string) string {
	return j.Run + "/" + string(j.Operator) + "/" + strconv.Itoa(j.Generation) + "/" + step
}

// Made is what an update came to.
type Made struct {
	Revision adapter.Published  `json:"revision"`
	Data     ids.Digest         `json:"data"`
	Recipe   ids.Digest         `json:"recipe"`
	Metrics  map[string]float64 `json:"metrics"`
	Cost     mindforge.Cost     `json:"cost"`
	Again    bool               `json:"again,omitempty"` // it had been published before: nothing was trained now
}

// Do trains and publishes. A job that was done gives its revision and trains nothing; one
// that was stopped goes on in the session that its journal names, where every operation is
// carried out once, or trains anew.
func (u *Updater) Do(ctx context.Context, j Job) (Made, error) {
	if err := j.check(); err != nil {
		return Made{}, err
	}
	began, cpu := u.Now(), u.cpu()
	m, err := u.done(ctx, &j)
	if err != nil || m.Again {
		return m, err
	}
	session, model, err := u.model(ctx, &j)
	if err != nil {
		return m, err
	}
	if m.Metrics, err = descend(ctx, model, &j); err != nil {
		return m, err
	}
	text, err := j.text()
	if err != nil {
		return m, err
	}
	path, err := model.Save(ctx, j.Settings.Adapter, j.says(text, m.Data, m.Metrics))
	if err != nil {
		return m, err
	}
	if m.Revision, err = u.publish(ctx, &j, path, text, m.Data, m.Metrics); err != nil {
		return m, err
	}
	_, m.Cost.Trained = j.Settings.plan(j.Selected.Rows, j.Seed)
	m.Cost.WallMS, m.Cost.CPUMS = u.Now().Sub(began).Milliseconds(), (u.cpu() - cpu).Milliseconds()
	return m, u.over(ctx, session)
}

func (j *Job) check() error {
	if err := j.Settings.Check(); err != nil {
		return err
	}
	if why := j.Selected.Report.Why; why != "" || len(j.Selected.Rows) == 0 {
		return errs.New(errs.InvalidRequest, "there is nothing to train on: "+why, "find more trajectories first")
	}
	return nil
}

// done names the data and the recipe, and finds what an earlier try has published of them.
func (u *Updater) done(ctx context.Context, j *Job) (m Made, err error) {
	if m.Data, err = digest(j.Selected.Rows); err != nil {
		return m, err
	}
	text, err := j.text()
	if err != nil {
		return m, err
	}
	m.Recipe = ids.DigestOf([]byte(text))
	if m.Revision, m.Again, err = u.published(ctx, j, m.Data, m.Recipe); err == nil && m.Again {
		m.Metrics = m.Revision.Metrics
		_, m.Cost.Trained = j.Settings.plan(j.Selected.Rows, j.Seed)
	}
	return m, err
}

// model gives the adapter under training, of the session of an earlier try if that lives.
func (u *Updater) model(ctx context.Context, j *Job) (session string, m *tinkerclient.Model, err error) {
	start := tinkerclient.Start{Base: j.Settings.Base, Spec: train.Spec{Rank: j.Settings.Rank, Seed: j.Seed, Attn: true, MLP: true}}
	if session, start.Path, err = u.session(ctx, j); err == nil {
		m, err = u.Client.Model(ctx, session, 0, start)
	}
	return session, m, err
}

// session gives a session and the checkpoint that training begins from, which is uploaded
// once.
func (u *Updater) session(ctx context.Context, j *Job) (session, path string, err error) {
	if session, err = u.recall(j.key("session")); err != nil {
		return "", "", err
	}
	if session != "" {
		err = u.Client.Alive(ctx, session)
		if code := errs.CodeOf(err); code != errs.Gone && code != errs.NotFound {
			if err == nil {
				path, err = u.recall(j.key("begin"))
			}
			return session, path, err
		}
	}
	if path, err = u.upload(ctx, j); err != nil {
		return "", "", err
	}
	if session, err = u.Client.Begin(ctx, []string{"forge"}, map[string]string{"run": j.Run}); err != nil {
		return "", "", err
	}
	if err := u.note(j.key("begin"), path); err != nil {
		return "", "", err
	}
	return session, path, u.note(j.key("session"), session)
}

// upload takes the adapter that training begins from to the training service.
func (u *Updater) upload(ctx context.Context, j *Job) (string, error) {
	if j.from().Hash == "" {
		return "", nil
	}
	f, err := u.Catalogue.Files(ctx, u.Owner, j.from().Hash)
	if err != nil {
		return "", err
	}
	return u.Client.Upload(ctx, f)
}

// over ends a session; one that has ended was ended by an earlier try, or by silence.
func (u *Updater) over(ctx context.Context, session string) error {
	err := u.Client.Finish(ctx, session)
	if code := errs.CodeOf(err); code == errs.Gone || code == errs.NotFound {
		return nil
	}
	return err
}

func (u *Updater) recall(key string) (string, error) {
	if u.Journal == nil {
		return "", nil
	}
	v, ok, err := u.Journal.Recall(key)
	if !ok {
		v = ""
	}
	return v, err
}

func (u *Updater) note(key, value string) error {
	if u.Journal == nil {
		return nil
	}
	return u.Journal.Note(key, value)
}

func (u *Updater) cpu() time.Duration {
	if u.CPU == nil {
		return 0
	}
	return u.CPU()
}
