package loop

import (
	"context"
	"slices"
	"strings"

	"macaron/internal/mindforge"
	"macaron/internal/mindforge/batch"
	"macaron/internal/mindforge/discovery"
	"macaron/internal/mindforge/evaluation"
	"macaron/internal/mindforge/expansion"
	"macaron/internal/mindforge/ledger"
	"macaron/internal/mindforge/world"
)

// finder looks for the tasks of a generation. It is a function of settings, outcomes and what is
// kept of proposals: done again, it comes to the same.
type finder struct {
	*work
	*discovery.Discoverer
	o    *outcomes
	kept []found
}

func (w *work) finder(ctx context.Context, c entered, sealed discovery.Sealed) (*finder, error) {
	shelf, err := discovery.NewShelf(w.Discovery.room(), nil)
	o := w.outcomes(ctx, "discovery", 0, 0)
	split := func(world, family string) string { return string(w.Evaluation.Splits.Of(world, family)) }
	f := &finder{work: w, o: o, Discoverer: &discovery.Discoverer{Shelf: shelf, Actor: o, Pair: c.Pair, Sealed: sealed, Split: split, Seed: w.draw("discovery", w.g), Planted: w.Planted}}
	o.part, o.far = "tasks that are worth working on", func() (int, int) { return len(f.kept), w.Discovery.Tasks }
	return f, err
}

// Try implements mindforge.Actor: an attempt that was made is found.
func (o *outcomes) Try(_ context.Context, p mindforge.Pair, t mindforge.Task, seed uint64) (mindforge.Outcome, error) {
	return o.try(p, t, seed)
}

// Ahead implements discovery.Ahead: attempts at one task, several at once.
func (o *outcomes) Ahead(ctx context.Context, p mindforge.Pair, t mindforge.Task, seeds []uint64) error {
	h, err := expansion.PairHash(p)
	if err != nil {
		return err
	}
	seeds = slices.DeleteFunc(slices.Clone(seeds), func(s uint64) bool {
		_, have := o.Get(expansion.Key{Pair: h, Task: t.ID, Seed: s})
		return have
	})
	outs := make([]mindforge.Outcome, len(seeds))
	return batch.Do(ctx, len(seeds), o.AtOnce, func(ctx context.Context, i int) (err error) {
		outs[i], err = o.Actor.Try(ctx, p, t, seeds[i])
		return err
	}, func(i int) error {
		outs[i].Cost.Attempts = 1
		return o.Put(expansion.Key{Pair: h, Task: t.ID, Seed: seeds[i]}, outs[i])
	})
}

// playable are the worlds of the run whose tasks can be opened.
func (w *work) playable() (all []world.World) {
	for _, x := range w.Worlds {
		if p, ok := x.(world.World); ok && (len(w.Discovery.Worlds) == 0 || slices.Contains(w.Discovery.Worlds, x.Name())) {
			all = append(all, p)
		}
	}
	return all
}

// proposal is what a model said, for one seed.
type proposal struct {
	By   string `json:"by"`
	Text string `json:"text"`
}

// proposed considers what the model proposes. Its words are kept before they are looked at: another
// time it might say something else.
func (f *finder) proposed(ctx context.Context) error {
	worlds := f.playable()
	if f.Chooser == nil || f.Discovery.Proposals == 0 || len(worlds) == 0 {
		return nil
	}
	if err := f.ask(ctx, worlds); err != nil {
		return err
	}
	var all []proposal
	if err := f.read(ctx, f.bodies[f.key("proposals")].(ledger.Made).Hash, &all); err != nil {
		return err
	}
	for i, p := range all {
		if len(f.kept) >= f.Discovery.Tasks {
			return nil
		}
		c, refused := f.Choose(worlds, []byte(p.Text), p.By, uint64(i)) //nolint:gosec // a number of a list
		if refused != nil {
			continue
		}
		if _, err := f.look(ctx, *c); err != nil {
			return err
		}
	}
	return nil
}

// maxProposal bounds what is kept of a proposal, in bytes. A choice is shorter.
const maxProposal = 4 << 10

// ask has the model propose.
func (f *finder) ask(ctx context.Context, worlds []world.World) error {
	if f.has(f.key("proposals")) {
		return nil
	}
	schema, err := f.ChoiceSchema(worlds)
	if err != nil {
		return err
	}
	all := make([]proposal, f.Discovery.Proposals)
	for i := range all {
		if err := f.ticket.Step(ctx, 0, f.Discovery.Tasks, "discovery: proposals"); err != nil {
			return err
		}
		said, err := f.Chooser.Choose(ctx, schema, f.work.draw("propose", f.g, i))
		if err != nil {
			return err
		}
		all[i] = proposal{f.Chooser.Name(), strings.ToValidUTF8(string(said[:min(len(said), maxProposal)]), "")}
	}
	t, err := plain(all)
	if err != nil {
		return err
	}
	return f.note(ctx, f.key("proposals"), ledger.Made{What: "proposals", Name: f.Chooser.Name(), Hash: t.Name, Tell: map[string]string{"proposals": itoa(len(all))}}, t)
}

// draw considers a task of a family, and a harder one where it is solved too often.
func (f *finder) draw(ctx context.Context, of evaluation.Family, n int) error {
	at := f.Worlds[slices.IndexFunc(f.Worlds, func(x mindforge.World) bool { return x.Name() == of.World })]
	t, err := at.Make(of.Name, f.Discovery.Level, f.work.draw("task", f.g, n))
	if err != nil {
		return err
	}
	playable, _ := at.(world.World)
	no, err := f.look(ctx, discovery.Candidate{Task: t, World: playable, Source: discovery.Source{Kind: discovery.Generated}})
	if err != nil || no == nil || no.Reason != discovery.TooEasy || !f.Discovery.Harder {
		return err
	}
	way := mindforge.Ways[n%len(mindforge.Ways)]
	harder, err := at.Harder(t, way, f.work.draw("harder", f.g, n))
	if err != nil {
		return nil //nolint:nilerr // not every task can be made harder in every way
	}
	_, err = f.look(ctx, discovery.Candidate{Task: harder, World: playable, Source: discovery.Source{Kind: discovery.Variant, Parent: t.ID}})
	return err
}

// look considers a candidate.
func (f *finder) look(ctx context.Context, c discovery.Candidate) (*discovery.Refusal, error) {
	r, no, err := f.Consider(ctx, c)
	if err != nil || no != nil {
		return no, err
	}
	t := r.Task
	kept := found{ID: t.ID, World: t.World, Family: t.Family, Level: t.Level, Seed: t.Seed, Ways: t.Ways, Tries: r.Solved.N, Passes: r.Solved.K, Source: r.Source}
	if r.Source.Kind == discovery.FromRun {
		kept.Spec = r.Spec
	}
	f.kept = append(f.kept, kept)
	return nil, nil
}
