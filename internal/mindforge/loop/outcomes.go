package loop

import (
	"context"

	"macaron/internal/mindforge"
	"macaron/internal/mindforge/expansion"
	"macaron/internal/mindforge/ledger"
)

// cell is an attempt as it is kept.
type cell struct {
	Key     expansion.Key     `json:"key"`
	Outcome mindforge.Outcome `json:"outcome"`
}

// outcomes is a cache of attempts that lies in the ledger: whole batches, in the order in which
// they were made, under a name. What a kill takes is less than a batch, and is made again: the
// order is a function of the settings, so the batches come out the same.
type outcomes struct {
	*work
	ctx         context.Context // of the stage: the cache of a search has none
	name        string
	n           int // batches that are kept
	fresh       []cell
	cost        mindforge.Cost
	done, total int                      // attempts of the stage, for its progress
	part        string                   // what of the stage it is, for people; "": name
	far         func() (done, total int) // where something else than attempts tells how far the stage is

	drafts []ledger.Draft // entries that are written with the next batch
	texts  []ledger.Text
}

func (w *work) outcomes(ctx context.Context, name string, done, total int) *outcomes {
	o := &outcomes{work: w, ctx: ctx, name: name, done: done, total: total}
	for w.has(w.key("%s/%04d", name, o.n)) {
		if m, ok := w.bodies[w.key("%s/%04d", name, o.n)].(ledger.Made); ok {
			o.done += m.Cost.Attempts
		}
		o.n++
	}
	return o
}

// Get implements expansion.Cache.
func (o *outcomes) Get(k expansion.Key) (mindforge.Outcome, bool) {
	out, ok := o.known[k]
	return out, ok
}

// Put implements expansion.Cache. Its error says that the stage has to stop.
func (o *outcomes) Put(k expansion.Key, out mindforge.Outcome) error {
	if o.Runs != nil && out.Run != "" {
		if err := o.Runs.Note(k, out.Run); err != nil {
			return err
		}
	}
	kept := out
	kept.Cost.CPUMS, kept.Cost.WallMS, kept.Run = 0, 0, ""
	o.known[k], o.fresh, o.cost = kept, append(o.fresh, cell{k, kept}), o.cost.Plus(out.Cost)
	o.point("attempt")
	if len(o.fresh) < o.Batch {
		return nil
	}
	return o.flush()
}

// flush keeps what was made, in one commit, and asks whether to go on.
func (o *outcomes) flush() error {
	if err := o.batch(); err != nil {
		return err
	}
	if len(o.drafts) > 0 {
		if _, err := o.Ledger.Write(o.ctx, o.Owner, o.texts, nil, o.drafts...); err != nil {
			return err
		}
		for _, d := range o.drafts {
			o.bodies[d.Key], o.spent = d.Body, o.spent.Plus(costOf(d.Body))
		}
		o.drafts, o.texts = nil, nil
		o.point("kept/" + o.name)
	}
	done, total := o.done, max(o.total, o.done)
	if o.far != nil {
		done, total = o.far()
	}
	if err := o.ticket.Step(o.ctx, done, total, o.stage+": "+orElse(o.part, o.name)); err != nil {
		return err
	}
	if _, spent := o.budget(mindforge.Cost{}); spent {
		return errBudget
	}
	return nil
}

// batch makes an entry of the attempts.
func (o *outcomes) batch() error {
	if len(o.fresh) == 0 {
		return nil
	}
	t, err := o.list(o.fresh)
	if err != nil {
		return err
	}
	passes := 0
	for _, c := range o.fresh {
		if c.Outcome.Pass {
			passes++
		}
	}
	m := ledger.Made{What: "outcomes", Name: o.name, Hash: t[0].Name, Tell: map[string]string{"attempts": itoa(len(o.fresh)), "passes": itoa(passes)}, Cost: o.cost}
	o.later(o.key("%s/%04d", o.name, o.n), m, t...)
	o.done, o.n, o.fresh, o.cost = o.done+len(o.fresh), o.n+1, nil, mindforge.Cost{}
	return nil
}

// later writes an entry with the next batch: what goes before it in a search is kept with it or
// not at all.
func (o *outcomes) later(key string, b ledger.Body, texts ...ledger.Text) {
	o.drafts, o.texts = append(o.drafts, ledger.Draft{Run: o.Run, Key: key, Body: b}), append(o.texts, texts...)
}

// try makes an attempt of a pair, or finds it.
func (o *outcomes) try(p mindforge.Pair, t mindforge.Task, seed uint64) (mindforge.Outcome, error) {
	h, err := expansion.PairHash(p)
	if err != nil {
		return mindforge.Outcome{}, err
	}
	k := expansion.Key{Pair: h, Task: t.ID, Seed: seed}
	if out, ok := o.Get(k); ok {
		return out, nil
	}
	out, err := o.Actor.Try(o.ctx, p, t, seed)
	if err != nil {
		return out, err
	}
	out.Cost.Attempts = 1
	return out, o.Put(k, out)
}
