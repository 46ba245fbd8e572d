package loop

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"

	"macaron/internal/errs"
	"macaron/internal/mindforge"
	"macaron/internal/mindforge/discovery"
	"macaron/internal/mindforge/expansion"
	"macaron/internal/mindforge/ledger"
	"macaron/internal/transcript"
)

// Production is what people had done: their runs, and how the room of discovery makes tasks of them.
type Production struct {
	discovery.Production
	// Runs gives the runs of production, the newest first.
	Runs func(ctx context.Context) iter.Seq2[*transcript.Run, error]
}

// The bounds of what a generation reads: runs of production that are looked at, and tasks that are
// taken for each that may be kept, since the room refuses some.
const (
	maxRuns    = 500
	takenEach  = 4
	maxDetails = 32
)

// taken are the tasks that runs came to, as they are kept, and the refusals of the others. Of a run
// that nobody has consented to, nothing but its number is kept.
type taken struct {
	Tasks   []given                  `json:"tasks"`
	Refused map[discovery.Reason]int `json:"refused"`
	Why     []string                 `json:"why,omitempty"` // some refusals in words
}

type given struct {
	Source discovery.Source `json:"source"`
	Spec   json.RawMessage  `json:"spec"`
}

// produced considers tasks that come from production. They are kept before they are looked at:
// another time there may be other runs, and some may be gone.
func (f *finder) produced(ctx context.Context) error {
	if f.Production == nil || f.Discovery.Production == 0 {
		return nil
	}
	if err := f.take(ctx); err != nil {
		return err
	}
	all, err := f.takenIn(ctx, f.g)
	if err != nil {
		return err
	}
	for reason, n := range all.Refused {
		for range n {
			f.Refuse(discovery.Refusal{Reason: reason})
		}
	}
	for _, g := range all.Tasks {
		if len(f.kept) >= f.Discovery.Production {
			return nil
		}
		c, err := discovery.Remade(g.Spec, g.Source)
		if err != nil {
			return err
		}
		if _, err := f.look(ctx, *c); err != nil {
			return err
		}
	}
	return nil
}

func producedKey(g int) string { return fmt.Sprintf("g%03d/production", g) }

// takenIn reads what a generation took.
func (w *work) takenIn(ctx context.Context, g int) (all taken, err error) {
	if m, ok := w.bodies[producedKey(g)].(ledger.Made); ok {
		err = w.read(ctx, m.Hash, &all)
	}
	return all, err
}

// take reads runs, the newest first. A run that an earlier generation took is not taken again.
func (f *finder) take(ctx context.Context) error {
	if f.has(producedKey(f.g)) {
		return nil
	}
	if err := f.ticket.Step(ctx, 0, f.Discovery.Tasks*f.Discovery.Attempts, "discovery: production"); err != nil {
		return err
	}
	known, err := f.takenBefore(ctx)
	if err != nil {
		return err
	}
	all, looked := taken{Tasks: []given{}, Refused: map[discovery.Reason]int{}}, 0
	for r, err := range f.Production.Runs(ctx) {
		if err != nil {
			return err
		}
		if looked == maxRuns || len(all.Tasks) == takenEach*f.Discovery.Production {
			break
		}
		if known[r.Head.Run] {
			continue
		}
		looked++
		if err := all.add(ctx, f.Production, r); err != nil {
			return err
		}
	}
	t, err := plain(all)
	if err != nil {
		return err
	}
	return f.note(ctx, producedKey(f.g), ledger.Made{What: "production", Name: "generation " + itoa(f.g), Hash: t.Name, Tell: map[string]string{"runs": itoa(looked), "tasks": itoa(len(all.Tasks))}}, t)
}

// takenBefore names the runs that earlier generations took.
func (w *work) takenBefore(ctx context.Context) (map[string]bool, error) {
	known := map[string]bool{}
	for g := 1; g < w.g; g++ {
		all, err := w.takenIn(ctx, g)
		if err != nil {
			return nil, err
		}
		for _, x := range all.Tasks {
			known[x.Source.Run] = true
		}
	}
	return known, nil
}

func (t *taken) add(ctx context.Context, p *Production, r *transcript.Run) error {
	c, refusal, err := p.Candidate(ctx, r)
	switch {
	case err != nil:
		return err
	case refusal == nil:
		t.Tasks = append(t.Tasks, given{c.Source, c.Task.Judged.Spec})
	default:
		t.Refused[refusal.Reason]++
		if refusal.Reason != discovery.Unconsented && len(t.Why) < maxDetails {
			t.Why = append(t.Why, refusal.Source.Run+": "+string(refusal.Reason)+": "+refusal.Detail)
		}
	}
	return nil
}

// remade makes a task of production again.
func remade(f found) (mindforge.Task, error) {
	c, err := discovery.Remade(f.Spec, f.Source)
	if err != nil {
		return mindforge.Task{}, err
	}
	if c.Task.ID != f.ID {
		err = errs.New(errs.ChecksumMismatch, "the task "+errs.Clip(f.ID)+" is made as "+errs.Clip(c.Task.ID), "go on with the build that began the run")
	}
	return c.Task, err
}

// lived are the runs of production that tasks came from, as attempts that passed: their outcome is
// what the task asks for.
func (w *work) lived(ctx context.Context) (tries []expansion.Tried, err error) {
	m, ok := w.bodies[w.key("tasks")].(ledger.Made)
	if !ok || w.Production == nil {
		return nil, nil
	}
	var kept []found
	if err := w.read(ctx, m.Hash, &kept); err != nil {
		return nil, err
	}
	for i, f := range kept {
		if i%2 == 0 && f.Source.Kind == discovery.FromRun { // of the tasks that are shown
			tries = append(tries, expansion.Tried{Item: f.ID, Family: f.Family, Outcome: mindforge.Outcome{Pass: true, Points: 1, Run: f.Source.Run}})
		}
	}
	return tries, nil
}
