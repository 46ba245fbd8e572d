package update_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"testing"
	"time"

	"macaron/internal/adapter"
	"macaron/internal/ids"
	"macaron/internal/mindforge/update"
	"macaron/internal/mindforge/update/tinkerclient"
)

// revisions lists what the catalogue has.
func (s *shop) revisions(t testing.TB) []adapter.Numbered {
	t.Helper()
	return must[[]adapter.Numbered](t)(s.catalogue.Revisions(ctx, "o", adapter.Search{Limit: 100}))
}

// An update by imitation publishes one revision with where it comes from, whose loss on its
// own rows is lower; the next one begins from it.
func TestImitation(t *testing.T) {
	for _, shelved := range []bool{true, false} {
		s := open(t, shelved)
		j := job(t, settings(update.SFT), s.some(t, "", 3, 2), adapter.Revision{})
		j.Settings.Epochs = 4
		made := must[update.Made](t)(s.updater(t, nil, nil).Do(ctx, j))
		p := must[adapter.Published](t)(s.catalogue.Revision(ctx, "o", made.Revision.Hash))
		if all := s.revisions(t); len(all) != 1 {
			t.Fatalf("%d revisions", len(all))
		}
		if p.Name != "L1" || p.Parent != "" || p.Contract != j.Contract || p.Data != made.Data || p.Recipe != made.Recipe || p.Rank != 4 ||
			p.Metrics["loss_last"] != made.Metrics["loss_last"] || p.Metrics["steps"] != made.Metrics["steps"] {
			t.Errorf("published with a shelf %v: %+v, made %+v", shelved, p, made)
		}
		if made.Metrics["loss_last"] >= made.Metrics["loss_first"] || made.Cost.Trained != int64(made.Metrics["tokens"]) || made.Cost.Trained == 0 {
			t.Errorf("%+v", made)
		}
		again := must[update.Made](t)(s.updater(t, nil, nil).Do(ctx, j))
		if !again.Again || again.Revision.Hash != made.Revision.Hash || again.Cost.Trained != made.Cost.Trained {
			t.Errorf("done again it is %+v", again)
		}
		next := job(t, settings(update.SFT), s.some(t, made.Revision.Hash, 2, 2), made.Revision.Revision)
		next.Generation = 2
		if child := must[update.Made](t)(s.updater(t, nil, nil).Do(ctx, next)); child.Revision.Parent != made.Revision.Hash || len(s.revisions(t)) != 2 {
			t.Errorf("the next one is %+v of %d", child.Revision, len(s.revisions(t)))
		}
	}
}

// A policy gradient takes the ids and log probabilities as they were served, by the base and
// by a published revision: the trainer's are the same, so that KL is 0 at the first step. It
// makes what was rewarded likelier than what was not.
func TestPolicyGradient(t *testing.T) {
	s := open(t, true)
	from := adapter.Revision{}
	for generation := range 2 {
		all := s.some(t, from.Hash, 2, 4)
		j := job(t, settings(update.GRPO), all, from)
		j.Generation = generation
		made := must[update.Made](t)(s.updater(t, nil, nil).Do(ctx, j))
		if made.Metrics["kl_first"] != 0 || made.Metrics["steps"] < 2 || made.Revision.Hash == from.Hash {
			t.Errorf("generation %d: %+v", generation, made.Metrics)
		}
		if before, after := s.lead(t, all, from.Hash), s.lead(t, all, made.Revision.Hash); after <= before {
			t.Errorf("generation %d: successes lead by %.4f, it was %.4f", generation, after, before)
		}
		from = made.Revision.Revision
	}
}

// lead is by how much the mean log probability of successes is above that of failures, of
// the tasks that have both.
func (s *shop) lead(t testing.TB, all []update.Trajectory, by ids.Digest) float64 {
	t.Helper()
	type sums struct{ sum, n [2]float64 }
	tasks := map[string]*sums{}
	for _, x := range all {
		b, at := x.Run.Turns[0].Head.Blob, 0
		if x.Outcome.Pass {
			at = 1
		}
		if tasks[x.Task.ID] == nil {
			tasks[x.Task.ID] = &sums{}
		}
		tasks[x.Task.ID].sum[at] += s.score(t, b.Prompt, b.Tokens, by)
		tasks[x.Task.ID].n[at]++
	}
	lead := 0.0
	for _, x := range tasks {
		if x.n[0] > 0 && x.n[1] > 0 {
			lead += x.sum[1]/x.n[1] - x.sum[0]/x.n[0]
		}
	}
	return lead
}

var errKilled = errors.New("killed")

// fatal lets n requests through and then none: what is sent as the last one arrives, and its
// answer is lost, if after.
type fatal struct {
	http.RoundTripper
	left  int
	after bool
}

func (f *fatal) RoundTrip(r *http.Request) (*http.Response, error) {
	f.left--
	switch {
	case f.left > 0 || f.left == 0 && f.after:
		resp, err := f.RoundTripper.RoundTrip(r)
		if f.left > 0 || err != nil {
			return resp, err
		}
		_ = resp.Body.Close()
	}
	return nil, errKilled
}

// Stopped at any request, before it arrives or after it did, and done again, an update makes
// the revision that it makes undisturbed, and no other; also where its journal is lost.
func TestKilledAnywhere(t *testing.T) {
	s := open(t, true)
	all := s.some(t, "", 2, 2)
	j := job(t, settings(update.SFT), all, adapter.Revision{})
	want := must[update.Made](t)(open(t, true).updater(t, nil, nil).Do(ctx, j)).Revision.Hash
	for _, after := range []bool{false, true} {
		for n, done := 1, false; !done; n++ {
			j.Run = fmt.Sprint("killed-", after, n) // a recipe of its own, so that nothing is found of before
			var journal update.Journal
			if n%3 != 0 {
				journal = update.File{Path: filepath.Join(t.TempDir(), "update.json")}
			}
			through := &fatal{tinkerclient.Within{Handler: s}, n, after}
			_, err := s.updater(t, through, journal).Do(ctx, j)
			if done = err == nil; !done && n > 100 {
				t.Fatal(err)
			}
			made := must[update.Made](t)(s.updater(t, nil, journal).Do(ctx, j))
			if made.Revision.Hash != want || len(s.revisions(t)) != 1 {
				t.Fatalf("killed at request %d: %s, and there are %d revisions", n, made.Revision.Hash.Short(), len(s.revisions(t)))
			}
		}
	}
}

// An update of which the session lives goes on in it: no operation is carried out twice.
func TestGoesOnInItsSession(t *testing.T) {
	s := open(t, true)
	j := job(t, settings(update.SFT), s.some(t, "", 2, 2), adapter.Revision{})
	journal := update.File{Path: filepath.Join(t.TempDir(), "update.json")}
	if _, err := s.updater(t, &fatal{tinkerclient.Within{Handler: s}, 8, true}, journal).Do(ctx, j); err == nil {
		t.Fatal("it was not stopped")
	}
	posts := 0
	counted := counter{tinkerclient.Within{Handler: s}, func(r *http.Request) {
		if r.URL.Path == "/api/v1/create_session" {
			posts++
		}
	}}
	must[update.Made](t)(s.updater(t, counted, journal).Do(ctx, j))
	if posts != 0 {
		t.Error("another session was begun")
	}
}

type counter struct {
	http.RoundTripper
	see func(*http.Request)
}

func (c counter) RoundTrip(r *http.Request) (*http.Response, error) {
	c.see(r)
	return c.RoundTripper.RoundTrip(r)
}

// Over a network and within a process the client gets the same, and so does one with retries
// behind a server that fails now and then.
func TestOverHTTP(t *testing.T) {
	s := open(t, false)
	j := job(t, settings(update.SFT), s.some(t, "", 2, 2), adapter.Revision{})
	want := must[update.Made](t)(s.updater(t, nil, nil).Do(ctx, j)).Revision.Hash
	n := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("X-API-Key") != "tml-y" && r.URL.Path[:17] != "/api/v1/download/" {
			t.Errorf("%s came with the key %q", r.URL.Path, r.Header.Get("X-API-Key"))
		}
		if n++; n%4 == 0 {
			w.Header().Set("Retry-After", "0.01")
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		s.ServeHTTP(w, r)
	}))
	defer server.Close()
	c := must[*tinkerclient.Client](t)(tinkerclient.New(tinkerclient.Options{URL: server.URL + "/", Key: "tml-y",
		Wait: func(context.Context, time.Duration) error { return nil }}))
	if bases := must[[]tinkerclient.Base](t)(c.Bases(ctx)); len(bases) != 1 || bases[0].Name != "tiny" {
		t.Errorf("bases are %v", bases)
	}
	j.Run = "run-2"
	u := s.updater(t, nil, nil)
	u.Client = c
	if made := must[update.Made](t)(u.Do(ctx, j)); made.Revision.Hash != want || made.Again {
		t.Errorf("over HTTP it is %+v", made)
	}
}

// Journals of files keep what was noted.
func TestJournal(t *testing.T) {
	f := update.File{Path: filepath.Join(t.TempDir(), "a", "b.json")}
	if _, ok, err := f.Recall("x"); ok || err != nil {
		t.Fatal(ok, err)
	}
	for _, v := range []string{"1", "2"} {
		if err := f.Note("x", v); err != nil {
			t.Fatal(err)
		}
	}
	if v, ok, err := f.Recall("x"); v != "2" || !ok || err != nil {
		t.Fatal(v, ok, err)
	}
}
