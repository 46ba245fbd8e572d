package mint_test

import (
	"context"
	"testing"

	"macaron/internal/mint"
	"macaron/internal/mint/ledger"
)

// between calls once what happens between the reading of a checkpoint and the next write.
type between struct {
	ledger.Store
	call func()
}

func (b *between) Write(ctx context.Context, c ledger.Change) error {
	if f := b.call; f != nil && len(c.Unsaved) == 0 {
		b.call = nil
		f()
	}
	return b.Store.Write(ctx, c)
}

// TestCollectedBetween: who begins from a checkpoint has it, also if it is deleted and what nothing
// names is collected just before that is on record.
func TestCollectedBetween(t *testing.T) {
	for name, use := range map[string]func(r *room, session, state, adapter string) (string, error){
		"copy": func(r *room, session, state, _ string) (string, error) {
			c, err := r.Copy(ctx, "o", mint.Copy{Source: state, Session: session, ModelSeq: 7})
			return c.Path, err
		},
		"run": func(r *room, session, state, _ string) (string, error) {
			_, err := r.Load(ctx, "o", mint.Load{Session: session, ModelSeq: 8, Path: state, Optimizer: true})
			return "", err
		},
		"sampler": func(r *room, session, _, adapter string) (string, error) {
			_, err := r.CreateSampler(ctx, "o", mint.NewSampler{Session: session, Seq: 9, Path: adapter})
			return "", err
		},
	} {
		t.Run(name, func(t *testing.T) {
			var store *between
			r := open(t, openEngine(t), t.TempDir(), mint.Limits{})
			r.more = func(o *mint.Options) { store = &between{Store: o.Store}; o.Store = store }
			r.reopen(t)
			session := r.session(t, "o")
			model := r.model(t, "o", session)
			state := r.save(t, "o", mint.Save{Model: model, Kind: mint.Training, Name: "a"})
			adapter := r.save(t, "o", mint.Save{Model: model, Kind: mint.Sampling, Name: "b"})
			r.result(t, "o", must[mint.Promise](t)(r.Unload(ctx, "o", model)))
			before := r.files(t)
			r.age(t)
			store.call = func() {
				for _, c := range []mint.Checkpoint{state, adapter} {
					if err := r.DeleteCheckpoint(ctx, "o", c.Path); err != nil {
						t.Error(err)
					}
				}
				if err := r.Tend(ctx, true); err != nil {
					t.Error(err)
				}
			}
			if _, err := use(r, session, state.Path, adapter.Path); err != nil {
				t.Fatal(err)
			}
			if left := r.files(t); before != 2 || left != 1 {
				t.Errorf("%d of %d blobs are left: not the one that is on record", left, before)
			}
		})
	}
}
