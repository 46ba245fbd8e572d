package report

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"macaron/internal/errs"
	"macaron/internal/ids"
	"macaron/internal/mindforge"
	"macaron/internal/mindforge/discovery"
	"macaron/internal/mindforge/expansion"
	"macaron/internal/mindforge/ledger"
	"macaron/internal/mindforge/stat"
)

// cell is an attempt as a batch has it, and found a task as a generation has it: the forms in
// which the loop keeps them beside the ledger (docs/formats/forge.md).
type (
	cell struct {
		Key     expansion.Key     `json:"key"`
		Outcome mindforge.Outcome `json:"outcome"`
	}
	found struct {
		ID     string `json:"id"`
		World  string `json:"world"`
		Family string `json:"family"`
		Passes int    `json:"passes"`
	}
)

// Searched is a search for one contract, and the random one beside it.
type Searched struct {
	Generation int                   `json:"generation"`
	Steps      int                   `json:"steps"`
	Stopped    map[string]int        `json:"stopped"`  // candidates by why they went no further
	Chosen     float64               `json:"chosen"`   // mean on validation by which the best was chosen: too good
	Replayed   float64               `json:"replayed"` // its mean on fresh seeds
	Predicted  expansion.Calibration `json:"predicted"`
	Random     *Random               `json:"random,omitempty"`
}

// Random is the control: random contracts of the same catalogue, the best taken.
type Random struct {
	Chosen   float64 `json:"chosen"`
	Replayed float64 `json:"replayed"`
}

// texts reads what is kept beside the ledger.
type texts func(ids.Digest) (string, error)

// into decodes a kept text, held to its name.
func (t texts) into(name ids.Digest, v any) error {
	text, err := ledger.Whole(name, t)
	if err != nil {
		return err
	}
	return errs.Wrap(errs.FormatInvalid, json.Unmarshal([]byte(text), v), "the kept text "+name.Short()+" cannot be read", "use the build that wrote it")
}

// made takes what an entry of that kind names.
func (f *folder) made(x ledger.Made) error {
	switch x.What {
	case "outcomes":
		f.spend(x.Name, x.Cost)
		return f.batch(x)
	case "tasks":
		return f.tasks(x)
	case "harvest":
		return f.harvest(x)
	case "step":
		var s expansion.Step
		err := f.texts.into(x.Hash, &s)
		f.steps[f.generation] = append(f.steps[f.generation], s)
		return err
	case "search":
		f.search(x)
	case "discovery":
		var d discovery.Told
		err := f.texts.into(x.Hash, &d)
		f.r.Discoveries = append(f.r.Discoveries, discovered(f.generation, d))
		return err
	}
	f.spend(x.What, x.Cost)
	return nil
}

// batch takes attempts. Those of discovery at tasks as they were drawn tell how often the
// champion solves fresh tasks; harder variants were made of what it solves.
func (f *folder) batch(x ledger.Made) error {
	var all []cell
	if err := f.texts.into(x.Hash, &all); err != nil {
		return err
	}
	f.attempts[place{f.generation, x.Name}] += len(all)
	for _, c := range all {
		f.outcome(x.Name, c.Outcome)
		world, rest, _ := strings.Cut(c.Key.Task, "/")
		family, _, _ := strings.Cut(rest, "/")
		if x.Name == "discovery" && !strings.Contains(c.Key.Task, "+") && c.Outcome.Failure != mindforge.Infrastructure {
			at := drawn{f.generation, world}
			f.fresh[at] = append(f.fresh[at], stat.Value{Cluster: world + "/" + family, Y: c.Outcome.Points})
		}
	}
	return nil
}

type drawn struct {
	generation int
	world      string
}

func (f *folder) outcome(stage string, o mindforge.Outcome) {
	if o.Pass {
		f.passes++
		return
	}
	if o.Failure == mindforge.Cheat {
		f.cheats++
	}
	f.failed[Failed{Stage: stage, Failure: o.Failure, Place: o.Failure.Place()}]++
}

func (f *folder) tasks(x ledger.Made) error {
	var all []found
	if err := f.texts.into(x.Hash, &all); err != nil {
		return err
	}
	w := WorkedOn{Generation: f.generation, Tasks: len(all)}
	var items []mindforge.Task
	for _, t := range all {
		if t.Passes == 0 {
			w.Never++
		}
		items = append(items, mindforge.Task{ID: t.ID, World: t.World, Family: t.Family})
	}
	w.Families = Families(items)
	f.items[f.generation], f.r.Tasks = items, append(f.r.Tasks, w)
	return nil
}

// harvest adds an arm to the coverage of the generation. Its items are the tasks that were
// tried in the first round.
func (f *folder) harvest(x ledger.Made) error {
	var h expansion.Harvest
	if err := f.texts.into(x.Hash, &h.Tries); err != nil {
		return err
	}
	h.Arm = x.Name
	items := slices.DeleteFunc(slices.Clone(f.items[f.generation]), func(t mindforge.Task) bool {
		return !slices.ContainsFunc(h.Tries, func(y expansion.Tried) bool { return y.Round == 1 && y.Item == t.ID })
	})
	for _, t := range h.Tries {
		h.Spent = h.Spent.Plus(t.Outcome.Cost)
	}
	a := ArmOf(h, items, nil)
	a.Practice = max(0, f.attempts[place{f.generation, "coverage-" + x.Name}]-len(h.Tries))
	i := slices.IndexFunc(f.r.Coverage, func(c Covered) bool { return c.Generation == f.generation })
	if i < 0 {
		f.r.Coverage = append(f.r.Coverage, Covered{f.generation, Coverage{Items: len(items), Families: Families(items)}})
		i = len(f.r.Coverage) - 1
	}
	f.r.Coverage[i].Arms = append(f.r.Coverage[i].Arms, a)
	return nil
}

func (f *folder) search(x ledger.Made) {
	number := func(name string) float64 {
		v, _ := strconv.ParseFloat(x.Tell[name], 64) //nolint:errcheck // what is no number is 0
		return v
	}
	if x.Tell["chosen"] == "" {
		return // the arm searches for no contract
	}
	steps := f.steps[f.generation]
	s := Searched{Generation: f.generation, Steps: len(steps), Stopped: map[string]int{}, Chosen: number("chosen"), Replayed: number("replayed"), Predicted: expansion.Calibrate(steps)}
	for _, step := range steps {
		if step.Stopped != "" {
			s.Stopped[step.Stopped]++
		}
	}
	if x.Tell["random chosen"] != "" {
		s.Random = &Random{number("random chosen"), number("random replayed")}
	}
	f.r.Searches = append(f.r.Searches, s)
}
