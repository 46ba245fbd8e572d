package mint_test

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"macaron/internal/errs"
	"macaron/internal/mint"
	"macaron/internal/store/postgres"
	"macaron/internal/store/postgres/pgtest"
)

// TestAnotherTenantsNames: whoever knows, or guesses, the names of another tenant's things is
// told that there are none, by every call, in either database; and they are as they were.
func TestAnotherTenantsNames(t *testing.T) {
	e := openEngine(t)
	for name, store := range map[string]func(*mint.Options){
		"SQLite": nil,
		"Postgres": func() func(*mint.Options) {
			s := must[*postgres.Store](t)(postgres.Open(ctx, postgres.Options{URL: pgtest.Database(t)}))
			t.Cleanup(func() {
				if err := s.Close(); err != nil {
					t.Error(err)
				}
			})
			return func(o *mint.Options) { o.Store = s.Mint() }
		}(),
	} {
		t.Run(name, func(t *testing.T) {
			r := open(t, e, t.TempDir(), mint.Limits{})
			if store != nil {
				r.more = store
				r.reopen(t)
			}
			strangers(t, r)
		})
	}
}

func strangers(t *testing.T, r *room) {
	mine, theirs := r.session(t, "o"), r.session(t, "p")
	model := r.model(t, "o", mine)
	done := must[mint.Promise](t)(r.send("o", model, 1, op{seed: 1}))
	r.result(t, "o", done)
	state := r.result(t, "o", must[mint.Promise](t)(r.Save(ctx, "o", mint.Save{Model: model, Seq: 2, Kind: mint.Training, Name: "a"}))).Path
	adapter := r.result(t, "o", must[mint.Promise](t)(r.Save(ctx, "o", mint.Save{Model: model, Seq: 3, Kind: mint.Sampling, Name: "b"}))).Path
	sampler := must[mint.Sampler](t)(r.CreateSampler(ctx, "o", mint.NewSampler{Session: mine, Seq: 1, Path: adapter})).ID
	waits := must[mint.Promise](t)(r.send("o", model, 9, op{seed: 2})) // behind a gap
	attempts := byName(r, mine, theirs, model, sampler, adapter, done, waits)
	maps.Copy(attempts, byPath(r, theirs, state, adapter))
	for _, what := range slices.Sorted(maps.Keys(attempts)) {
		want := errs.NotFound
		if strings.HasSuffix(what, " dots") || strings.HasSuffix(what, " case") { // these are no paths at all
			want = errs.InvalidRequest
		}
		if err := attempts[what](); errs.CodeOf(err) != want {
			t.Errorf("%s: %v", what, err)
		}
	}
	for what, n := range map[string]func() (int, error){
		"models":      func() (int, error) { _, n, err := r.Models(ctx, "p", mint.Page{}); return n, err },
		"checkpoints": func() (int, error) { _, n, err := r.Checkpoints(ctx, "p", "", mint.Page{}); return n, err },
		"of the run":  func() (int, error) { _, n, err := r.Checkpoints(ctx, "p", model, mint.Page{}); return n, err },
	} {
		if n, err := n(); n != 0 || err != nil && errs.CodeOf(err) != errs.NotFound {
			t.Errorf("%s: %d are listed, %v", what, n, err)
		}
	}
	if m := must[mint.Model](t)(r.Model(ctx, "o", model)); m.Unloaded || m.Steps != 0 {
		t.Errorf("%+v", m)
	}
	for _, path := range []string{state, adapter} {
		if c := must[mint.Checkpoint](t)(r.Checkpoint(ctx, "o", path)); c.Public || !c.Expires.IsZero() {
			t.Errorf("%+v", c)
		}
	}
	for seq := int64(4); seq < 9; seq++ {
		r.result(t, "o", must[mint.Promise](t)(r.send("o", model, seq, op{seed: 4})))
	}
	r.result(t, "o", waits) // nobody has canceled it
}

// byName are the calls of p with the names of what is o's; theirs alone is its own.
func byName(r *room, mine, theirs, model, sampler, adapter string, done, waits mint.Promise) map[string]func() error {
	return map[string]func() error{
		"session":   func() error { _, _, _, err := r.Session(ctx, "p", mine); return err },
		"heartbeat": func() error { return r.Heartbeat(ctx, "p", mine) },
		"finish":    func() error { return r.Finish(ctx, "p", mine, mint.Success, "") },
		"create": func() error {
			_, err := r.CreateModel(ctx, "p", mint.CreateModel{Session: mine, Seq: 5, Base: tiny, Spec: shape})
			return err
		},
		"model":   func() error { _, err := r.Model(ctx, "p", model); return err },
		"forward": func() error { _, err := r.send("p", model, 4, op{seed: 3}); return err },
		"step":    func() error { _, err := r.send("p", model, 4, op{step: true}); return err },
		"refuse": func() error {
			_, err := r.Refuse(ctx, "p", mint.Refused{Model: model, Seq: 4, Op: mint.OpStep, Code: errs.InvalidRequest})
			return err
		},
		"save": func() error {
			_, err := r.Save(ctx, "p", mint.Save{Model: model, Seq: 4, Kind: mint.Training, Name: "c"})
			return err
		},
		"to sample": func() error {
			_, err := r.SaveSampler(ctx, "p", mint.SaveSampler{Model: model, Seq: 4, SamplerSeq: 2})
			return err
		},
		"unload":   func() error { _, err := r.Unload(ctx, "p", model); return err },
		"retrieve": func() error { _, err := r.Retrieve(ctx, "p", done.Request, time.Second); return err },
		"pending":  func() error { _, err := r.Retrieve(ctx, "p", waits.Request, time.Second); return err },
		"cancel":   func() error { return r.Cancel(ctx, "p", waits.Request) },
		"finished": func() error { _, _, err := r.Finished(ctx, "p", sampler, 0, time.Second); return err },
		"sampler":  func() error { _, err := r.Sampler(ctx, "p", sampler); return err },
		"sample": func() error {
			_, err := r.Sample(ctx, "p", mint.Sample{Sampler: sampler, Seq: 1, N: 1, Prompt: []int32{5}, MaxTokens: 1})
			return err
		},
		"by path": func() error {
			_, err := r.Sample(ctx, "p", mint.Sample{Path: adapter, Seq: mint.NoSeq, N: 1, Prompt: []int32{5}, MaxTokens: 1})
			return err
		},
		"sampler of": func() error {
			_, err := r.CreateSampler(ctx, "p", mint.NewSampler{Session: theirs, Seq: 1, Path: adapter})
			return err
		},
		"in session": func() error {
			_, err := r.CreateSampler(ctx, "p", mint.NewSampler{Session: mine, Seq: 3, Base: tiny})
			return err
		},
	}
}

// byPath are those with paths of checkpoints.
func byPath(r *room, theirs, state, adapter string) map[string]func() error {
	attempts := map[string]func() error{}
	for what, path := range map[string]string{"state": state, "adapter": adapter, "dots": strings.Replace(state, "/a", "/x/../a", 1), "case": strings.ToUpper(state[:9]) + state[9:], "mint": "mint" + strings.TrimPrefix(state, "tinker")} {
		attempts["load "+what] = func() error {
			_, err := r.Load(ctx, "p", mint.Load{Session: theirs, ModelSeq: 1, Path: path, Optimizer: true})
			return err
		}
		attempts["read "+what] = func() error { _, err := r.Checkpoint(ctx, "p", path); return err }
		attempts["delete "+what] = func() error { return r.DeleteCheckpoint(ctx, "p", path) }
		attempts["publish "+what] = func() error { return r.Publish(ctx, "p", path, true) }
		attempts["ttl "+what] = func() error { return r.SetTTL(ctx, "p", path, 2*time.Hour) }
		attempts["copy "+what] = func() error { _, err := r.Copy(ctx, "p", mint.Copy{Source: path, Session: theirs}); return err }
		attempts["archive "+what] = func() error {
			b, err := r.Archive(ctx, "p", path)
			if err == nil {
				b.Close()
			}
			return err
		}
	}
	return attempts
}
