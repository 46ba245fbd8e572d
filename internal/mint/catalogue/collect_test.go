package catalogue

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"macaron/internal/adapter"
	"macaron/internal/errs"
	"macaron/internal/ids"
)

const (
	grace     = time.Hour
	retention = 3 * time.Hour
)

// truth is what a collection must not remove, told without the store.
type truth struct {
	*rig
	made    []adapter.Published
	at      map[ids.Digest]time.Time // when it was published
	parent  map[ids.Digest]ids.Digest
	alias   map[string]ids.Digest
	moved   []move
	held    map[ids.Digest]time.Time
	outside map[ids.Digest]bool
}

type move struct {
	to ids.Digest
	at time.Time
}

// reachable are the revisions that must be there.
func (m *truth) reachable() map[ids.Digest]bool {
	now, out := m.clock.Now(), map[ids.Digest]bool{}
	reach := func(d ids.Digest) {
		for n := 0; n <= m.Parents && d != ""; n++ {
			out[d] = true
			d = m.parent[d]
		}
	}
	for _, d := range m.alias {
		reach(d)
	}
	for _, x := range m.moved {
		if !x.at.Before(now.Add(-retention)) {
			reach(x.to)
		}
	}
	for d, until := range m.held {
		if until.After(now) {
			reach(d)
		}
	}
	for d := range m.outside {
		reach(d)
	}
	for d, at := range m.at {
		if at.After(now.Add(-grace)) {
			reach(d)
		}
	}
	return out
}

// check reads everything that must be there.
func (m *truth) check(t *rapid.T) {
	for d := range m.reachable() {
		if _, gone := m.at[d]; !gone {
			continue // it went while nothing reached it
		}
		if _, err := m.Files(context.Background(), "o", d); err != nil {
			t.Fatalf("%s is reached and gone: %v", d.Short(), err)
		}
	}
}

func (m *truth) collect(t *rapid.T) {
	must := m.reachable()
	_, err := m.Collect(context.Background(), Collection{Retention: retention, Grace: grace, Roots: func(context.Context) ([]ids.Digest, error) {
		var all []ids.Digest
		for d := range m.outside {
			all = append(all, d)
		}
		return all, nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	for d := range m.at {
		_, err := m.Revision(context.Background(), "o", d)
		if errs.CodeOf(err) == errs.NotFound && !must[d] {
			delete(m.at, d)
			delete(m.parent, d)
			m.made = slices.DeleteFunc(m.made, func(p adapter.Published) bool { return p.Hash == d })
		} else if err != nil {
			t.Fatalf("%s: %v", d.Short(), err)
		}
	}
}

// Whatever is published, moved, held and collected in whatever order: what a name, a recent
// move, a reader or the outside reaches is there, with its parents, byte for byte.
func TestCollectionKeepsWhatIsReached(t *testing.T) {
	r := newRig(t)
	number := float32(0)
	rapid.Check(t, func(t *rapid.T) {
		m := &truth{rig: r, at: map[ids.Digest]time.Time{}, parent: map[ids.Digest]ids.Digest{}, alias: map[string]ids.Digest{}, held: map[ids.Digest]time.Time{}, outside: map[ids.Digest]bool{}}
		name := fmt.Sprintf("n%d", int(number)) // other runs' aliases stay out of this one's model
		some := func() ids.Digest {
			if len(m.made) == 0 {
				return ""
			}
			return rapid.SampledFrom(m.made).Draw(t, "which").Hash
		}
		ctx := context.Background()
		t.Repeat(map[string]func(*rapid.T){
			"": m.check,
			"publish": func(t *rapid.T) {
				number++
				width := rapid.SampledFrom([]int{16, 16, 16, 16, 16, 16, 16, packed}).Draw(t, "width")
				d := Draft{Files: files(r.t, number, width), Name: name}
				if len(m.made) > 0 && rapid.Bool().Draw(t, "child") {
					d.Parent = some()
				}
				p, err := r.Publish(ctx, "o", d)
				if err != nil {
					t.Fatal(err)
				}
				m.made, m.at[p.Hash], m.parent[p.Hash] = append(m.made, p), r.clock.Now(), p.Parent
			},
			"move": func(t *rapid.T) {
				alias, to := rapid.SampledFrom([]string{"canary", "best"}).Draw(t, "alias"), some()
				if to == "" {
					return
				}
				if _, err := r.Alias(ctx, "o", Move{Name: name, Alias: alias, Revision: to, Version: -1}); err != nil {
					t.Fatal(err)
				}
				m.alias[alias] = to
				m.moved = append(m.moved, move{to, r.clock.Now()})
			},
			"hold": func(t *rapid.T) {
				d := some()
				if d == "" {
					return
				}
				if _, err := r.Hold(ctx, "o", d, "reader", 2*time.Hour); err != nil {
					t.Fatal(err)
				}
				m.held[d] = r.clock.Now().Add(2 * time.Hour)
			},
			"reach": func(*rapid.T) { m.outside[some()] = true },
			"leave": func(*rapid.T) { delete(m.outside, some()) },
			"wait": func(t *rapid.T) {
				r.clock.Add(time.Duration(rapid.IntRange(1, 150).Draw(t, "minutes")) * time.Minute)
			},
			"collect": m.collect,
		})
	})
}

// age makes the shards look as old as the test's clock.
func (r *rig) age() {
	all, err := filepath.Glob(filepath.Join(r.home, filepath.FromSlash(shardsDir), "*"))
	if err != nil {
		r.t.Fatal(err)
	}
	for _, path := range all {
		if err := os.Chtimes(path, r.clock.Now(), r.clock.Now()); err != nil {
			r.t.Fatal(err)
		}
	}
}

// What nothing reaches goes one grace after it was condemned; its shard goes when it is
// empty, and what is left in one that is mostly empty moves.
func TestCollectionRemovesTheRest(t *testing.T) {
	r := newRig(t)
	var drafts []Draft
	for n := range 20 {
		drafts = append(drafts, Draft{Files: files(t, float32(n+1), 64), Name: "a"})
	}
	drafts = append(drafts, Draft{Files: files(t, 99, packed), Name: "large"})
	all, err := r.PublishAll(t.Context(), "o", drafts)
	if err != nil {
		t.Fatal(err)
	}
	kept := all[3].Hash
	if _, err := r.Promote(t.Context(), "o", Move{Name: "a", Revision: kept}); err != nil {
		t.Fatal(err)
	}
	r.shut() // another process collects, which does not append to that shard
	r.age()
	r.open()
	var did Collected
	for range 4 {
		r.clock.Add(2 * grace)
		if did, err = r.Collect(t.Context(), Collection{Retention: retention, Grace: grace}); err != nil {
			t.Fatal(err)
		}
		t.Logf("%+v", did)
	}
	left, err := r.Revisions(t.Context(), "o", adapter.Search{Limit: 99})
	if err != nil || len(left) != 1 || left[0].Hash != kept || left[0].Place.Shard == all[3].Place.Shard {
		t.Errorf("left: %v, %v", left, err)
	}
	if _, err := os.Stat(filepath.Join(r.home, filepath.FromSlash(shardsDir), all[0].Place.Shard)); !os.IsNotExist(err) {
		t.Errorf("the old shard: %v", err)
	}
	if _, err := r.dirs.Dir(all[20].Hash); errs.CodeOf(err) != errs.AdapterNotFound {
		t.Errorf("the large one's directory: %v", err)
	}
	f, err := r.Files(t.Context(), "o", kept)
	if err != nil || string(f.Tensors) != string(drafts[3].Tensors) {
		t.Error(err)
	}
}

// Publishing, moving and collecting at once, with no grace at all: what a name comes to is
// never lost.
func TestCollectionBesidePublishing(t *testing.T) {
	r := newRig(t)
	stop := make(chan struct{})
	var others sync.WaitGroup
	others.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
			}
			if _, err := r.Collect(context.Background(), Collection{}); err != nil {
				t.Error(err)
				return
			}
		}
	})
	lost := 0
	for n := range 60 {
		width := []int{64, packed}[n%2]
		p, err := r.Publish(t.Context(), "o", Draft{Files: files(t, float32(1+n/4), width), Name: "a"})
		if errs.CodeOf(err) == errs.NotFound {
			lost++ // it was collected before it had a name, which no grace allows
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		_, err = r.Alias(t.Context(), "o", Move{Name: "a", Alias: "canary", Revision: p.Hash, Version: -1})
		if errs.CodeOf(err) == errs.NotFound {
			lost++
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		if f, err := r.Files(t.Context(), "o", p.Hash); err != nil || len(f.Tensors) == 0 {
			t.Fatalf("%d: %v", n, err)
		}
	}
	close(stop)
	others.Wait()
	if lost == 60 {
		t.Error("nothing was ever named")
	}
}
