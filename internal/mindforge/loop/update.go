package loop

import (
	"context"

	"macaron/internal/mindforge"
	"macaron/internal/mindforge/expansion"
	"macaron/internal/mindforge/ledger"
)

// update trains on what was harvested, for the contract that the search found, and enters the pair
// that is to go through the gate.
func (w *work) update(ctx context.Context) error {
	if w.has(w.key("update")) {
		return nil
	}
	if err := w.ticket.Step(ctx, 0, 1, "update"); err != nil {
		return err
	}
	from, err := w.best(ctx)
	if err != nil {
		return err
	}
	why := "the arm trains nothing"
	if w.trains() {
		if why, err = w.learn(ctx, from); err != nil {
			return w.outOfBudget(ctx, err)
		}
	}
	return w.note(ctx, w.key("update"), ledger.Step{Generation: w.g, Name: "update", State: "ended", Note: why})
}

// learn moves what was found in words into the adapter, if that is asked for, or trains. It says
// what came of it.
func (w *work) learn(ctx context.Context, from entered) (string, error) {
	if !w.Settings.Update.Absorb {
		return w.train(ctx, from)
	}
	shorter, why, err := w.absorb(ctx, from)
	if err != nil || shorter {
		return why, err
	}
	then, err := w.train(ctx, from)
	return why + "; " + then, err
}

// best is the pair that the search found; the champion where it found none.
func (w *work) best(ctx context.Context) (entered, error) {
	if w.has(w.key("found")) {
		return w.pair(ctx, w.key("found"))
	}
	return w.champion(ctx)
}

// train gives, in words, what came of it.
func (w *work) train(ctx context.Context, from entered) (string, error) {
	tries, tasks, err := w.lessons(ctx, from)
	if err != nil {
		return "", err
	}
	passes := 0
	for _, t := range tries {
		if t.Outcome.Pass {
			passes++
		}
	}
	if passes < w.Settings.Update.Rows {
		return itoa(passes) + " passes are too few to train on", nil
	}
	if _, spent := w.budget(mindforge.Cost{}); spent {
		return "a budget is spent", nil
	}
	l, learned, err := w.Updater.Update(ctx, Lesson{Run: w.Run, Generation: w.g, Seed: w.draw("update", w.g), Pair: from.Pair, Tries: tries, Tasks: tasks, Tokens: w.tokens()}, w.ticket)
	if err != nil {
		return "", err
	}
	if !learned {
		return orElse(l.Why, "nothing was left to train on"), nil
	}
	w.point("trained")
	if err := w.note(ctx, w.key("revision"), l.Made, l.Texts...); err != nil {
		return "", err
	}
	_, err = w.candidate(ctx, w.key("trained"), mindforge.Candidate{Contract: from.Pair.Contract.Hash(), Revisions: l.Pair.Revisions, Parents: parents(from), Operator: mindforge.Train, Proposer: "update",
		Seed: w.draw("update", w.g), Generation: w.g}, from.Pair.Contract)
	return itoa(passes) + " passes", err
}

// tokens that the run may still train; 0: no bound.
func (w *work) tokens() int64 {
	if w.Budget.Trained == 0 {
		return 0
	}
	return max(1, w.Budget.Trained-w.spent.Trained)
}

// lessons are the attempts of the arm that harvests for training, those that are made at the same
// tasks under the pair that is trained, and the runs of production that tasks came from.
func (w *work) lessons(ctx context.Context, from entered) (tries []expansion.Tried, tasks []mindforge.Task, err error) {
	if tasks, _, _, err = w.tasks(ctx); err != nil {
		return nil, nil, err
	}
	arm := "adaptive"
	if w.Arm == Weights {
		arm = "resampled"
	}
	if m, ok := w.bodies[w.key("harvest/%s", arm)].(ledger.Made); ok { // else coverage is off
		if err := w.read(ctx, m.Hash, &tries); err != nil {
			return nil, nil, err
		}
	}
	base, err := w.champion(ctx)
	if err == nil {
		err = w.recorded(base.Pair, tries)
	}
	if err != nil {
		return nil, nil, err
	}
	own, err := w.sampled(ctx, from.Pair, tasks, w.measures(from))
	if err != nil {
		return nil, nil, err
	}
	lived, err := w.lived(ctx)
	return append(append(tries, own...), lived...), tasks, err
}

// sampled makes attempts at tasks under a pair; the stage makes so many more.
func (w *work) sampled(ctx context.Context, p mindforge.Pair, tasks []mindforge.Task, more int) (tries []expansion.Tried, err error) {
	each := w.Settings.Update.Attempts
	if each == 0 {
		return nil, nil
	}
	o := w.outcomes(ctx, "update", 0, each*len(tasks)+more)
	for _, t := range tasks {
		for i := range each {
			x := expansion.Tried{Round: i + 1, Item: t.ID, Family: t.Family, Seed: w.draw("update", w.g, t.ID, i)}
			if x.Outcome, err = o.try(p, t, x.Seed); err != nil {
				return nil, err
			}
			tries = append(tries, x)
		}
	}
	if err := o.flush(); err != nil {
		return nil, err
	}
	return tries, w.recorded(p, tries)
}

// proposed are the pairs that the generation puts through the gate, none of them the champion:
// where it ended, and, should that be refused, what the search found with the weights as they were.
// A training that did harm shall not take a better contract with it.
func (w *work) proposed(ctx context.Context) (all []named, err error) {
	for _, key := range []string{"absorbed", "trained", "found"} {
		if !w.has(w.key("%s", key)) || len(all) > 0 && key != "found" {
			continue
		}
		e, err := w.pair(ctx, w.key("%s", key))
		if err != nil {
			return nil, err
		}
		name := "proposed"
		if len(all) > 0 {
			name = "found"
		}
		all = append(all, named{e, name})
	}
	return all, nil
}

// close ends the generation, and the run where it comes to nothing any more.
func (w *work) close(ctx context.Context) error {
	if err := w.ticket.Step(ctx, 0, 1, "close"); err != nil {
		return err
	}
	c, err := w.champion(ctx)
	if err != nil {
		return err
	}
	now, note := c.hash, "no promotion"
	if s, ok := w.bodies[w.key("gate")].(ledger.Step); ok && s.Result != "" {
		now, note = s.Result, "promoted"
	}
	if err := w.note(ctx, w.key("close"), ledger.Step{Generation: w.g, Name: "generation", State: "ended", Result: now, Note: note}); err != nil {
		return err
	}
	b, spent := w.budget(mindforge.Cost{})
	switch {
	case spent:
		if err := w.note(ctx, w.key("budget/%s", b.What), b); err != nil {
			return err
		}
		return w.end(ctx, "the budget of "+b.What+" is spent", now)
	case w.g >= w.Generations:
		return w.end(ctx, "all generations are done", now)
	case w.Plateau > 0 && w.idle() >= w.Plateau:
		return w.end(ctx, "nothing was promoted in "+itoa(w.Plateau)+" generations", now)
	}
	return nil
}

// idle counts the last generations without a promotion.
func (w *work) idle() (n int) {
	for g := w.g; g > 0; g-- {
		at := *w
		at.g = g
		if s, ok := w.bodies[at.key("close")].(ledger.Step); !ok || s.Note == "promoted" {
			break
		}
		n++
	}
	return n
}
