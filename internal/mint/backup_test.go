package mint_test

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"macaron/internal/archive"
	"macaron/internal/mint"
	"macaron/internal/mint/local"
	"macaron/internal/store/sqlite"
)

// TestABackupOfAHomeThatTrains: a home is saved while it trains, and made anew elsewhere. What
// was promised by then is kept there too, each once, and training ends in the same state,
// bit for bit; the saved checkpoint is the same one.
func TestABackupOfAHomeThatTrains(t *testing.T) {
	e := openEngine(t)
	r := open(t, e, t.TempDir(), mint.Limits{SnapshotSteps: 7})
	model := r.model(t, "o", r.session(t, "o"))
	const before, all = 30, 120
	ops := schedule(all)
	for i := range before {
		must[mint.Promise](t)(r.send("o", model, int64(i+1), ops[i]))
	}
	p := must[mint.Promise](t)(r.Save(ctx, "o", mint.Save{Model: model, Seq: before + 1, Kind: mint.Training, Name: "middle"}))
	path := r.result(t, "o", p).Path
	for i := before; i < all; i++ {
		must[mint.Promise](t)(r.send("o", model, int64(i+2), ops[i]))
	}
	wait(t, func() bool { return r.Stats().Pending < all-before })
	file, home := filepath.Join(t.TempDir(), "b.tar.gz"), filepath.Join(t.TempDir(), "new")
	o := archive.Options{Snapshot: func(ctx context.Context, to string) error {
		return sqlite.Snapshot(ctx, filepath.Join(r.home, "log.db"), to)
	}}
	if _, err := archive.Backup(ctx, r.home, file, o); err != nil {
		t.Fatal(err)
	}
	if _, err := archive.Restore(ctx, file, home); err != nil {
		t.Fatal(err)
	}
	again := &room{worker: local.New(e, local.Options{Name: tiny}), clock: &hand{now: time.Now()}, home: home, limits: r.limits}
	again.open(t)
	t.Logf("%d were pending in the backup", again.Stats().Pending)
	for _, x := range []*room{r, again} {
		for i := before; i < all; i++ {
			x.result(t, "o", mint.Promise{Request: fmt.Sprintf("%s:%d", model, i+2)})
		}
		if m := must[mint.Model](t)(x.Model(ctx, "o", model)); m.Steps != all/3 {
			t.Errorf("%d steps, not %d", m.Steps, all/3)
		}
	}
	want, middle := alone(t, r.worker, ops), alone(t, r.worker, ops[:before])
	for name, x := range map[string]*room{"the home": r, "the one made anew": again} {
		if got := x.state(t, "o", model, "end"); got != want {
			t.Errorf("%s ends in %s, undisturbed %s", name, got, want)
		}
	}
	if c, err := again.ledger.Checkpoint(ctx, path); err != nil || c.State != middle {
		t.Errorf("the checkpoint is %+v, %v; undisturbed it is %s", c, err, middle)
	}
}
