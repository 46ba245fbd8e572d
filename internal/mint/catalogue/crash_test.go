package catalogue

import (
	"context"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"macaron/internal/adapter"
	"macaron/internal/clock"
	"macaron/internal/store/sqlite"
)

func TestMain(m *testing.M) {
	if home := os.Getenv("CATALOGUE_TEST_HOME"); home != "" {
		publishForEver(home)
		return
	}
	os.Exit(m.Run())
}

// publishForEver publishes, moves and collects until it is killed.
func publishForEver(home string) {
	ctx := context.Background()
	fail := func(err error) {
		if err != nil {
			panic(err)
		}
	}
	store, err := sqlite.Open(ctx, sqlite.Options{Path: filepath.Join(home, "log.db")})
	fail(err)
	c, err := Open(Options{Home: home, Store: store, Clock: clock.System{}, Parents: 2})
	fail(err)
	seed := rand.Float32()
	for n := 0; ; n++ {
		var drafts []Draft
		for i := range 5 {
			drafts = append(drafts, Draft{Files: files(nil, seed+float32(5*n+i), 64), Name: "a"})
		}
		drafts = append(drafts, Draft{Files: files(nil, seed+float32(n), packed), Name: "a"})
		all, err := c.PublishAll(ctx, "o", drafts)
		fail(err)
		_, err = c.Promote(ctx, "o", Move{Name: "a", Revision: all[n%6].Hash, Version: -1})
		fail(err)
		if n%4 == 3 {
			_, err = c.Collect(ctx, Collection{Retention: time.Second, Grace: 20 * time.Millisecond})
			fail(err)
		}
	}
}

// A process that is killed wherever it stands leaves no row that names what is not there,
// and no name that names no row.
func TestKilledPublishersLeaveNothingDangling(t *testing.T) {
	r := newRig(t)
	for round := range 5 {
		r.shut()
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), "CATALOGUE_TEST_HOME="+r.home)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Duration(150+130*round) * time.Millisecond)
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		if err := cmd.Wait(); err == nil {
			t.Fatal("it ended by itself")
		}
		r.open()
		r.whole()
	}
}

// whole reads every revision, and what every pointer names.
func (r *rig) whole() {
	r.t.Helper()
	ctx := r.t.Context()
	all, err := r.Revisions(ctx, "o", adapter.Search{Limit: 1 << 20})
	if err != nil {
		r.t.Fatal(err)
	}
	for _, p := range all {
		if _, err := r.Files(ctx, "o", p.Hash); err != nil {
			r.t.Errorf("%s at %v: %v", p.Hash.Short(), p.Place, err)
		}
	}
	names, err := r.Pointers(ctx, "o", "")
	if err != nil {
		r.t.Fatal(err)
	}
	for _, n := range names {
		if n.Alias == adapter.Previous && n.Revision == "" { // before the first champion was the contract's own source
			continue
		}
		if _, err := r.Revision(ctx, "o", n.Revision); err != nil {
			r.t.Errorf("%s@%s: %v", n.Name, n.Alias, err)
		}
	}
	r.t.Logf("%d revisions, %d names", len(all), len(names))
}
