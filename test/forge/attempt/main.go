// Command attempt has the default model, on the built-in engine, try tasks of the worlds under
// the shipped contract and under edits of it, with the harness of production: what passes,
// what failed by which class, and what it took. With -search it then searches from there.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"macaron/internal/adapter"
	"macaron/internal/app"
	"macaron/internal/auth"
	"macaron/internal/bench"
	"macaron/internal/config"
	"macaron/internal/contract"
	"macaron/internal/harness"
	"macaron/internal/mindforge"
	"macaron/internal/mindforge/act"
	"macaron/internal/mindforge/edit"
	"macaron/internal/mindforge/expansion"
	"macaron/internal/mindforge/reflect"
	"macaron/internal/mindforge/world"
	"macaron/internal/mindforge/world/compose"
	"macaron/internal/mindforge/world/terminal"
	"macaron/internal/mindforge/world/text"
	"macaron/internal/models"
	"macaron/internal/obs"
)

var worlds = []world.World{compose.New(), terminal.New(), text.New()}

func main() {
	log.SetFlags(0)
	each := flag.Int("each", 1, "tasks of each family")
	families := flag.String("families", "item_price,person_hours,item_room,count_lines,first_line", "of which")
	contractPath := flag.String("contract", "macaron.toml", "that is shipped")
	search := flag.Int("search", 0, "attempts of a search from there; 0: none")
	arm := flag.Int("arm", -1, "contract that is tried, by number from 0; -1: all three")
	show := flag.Bool("show", false, "tell the evidence of each attempt")
	flag.Parse()
	if err := run(*each, strings.Split(*families, ","), *contractPath, *search, *arm, *show); err != nil {
		log.Fatal(err)
	}
}

func run(each int, families []string, path string, attempts, arm int, show bool) error {
	dir, err := os.MkdirTemp("", "attempt")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	ctx := auth.With(context.Background(), auth.Principal{Owner: auth.Local})
	a, done, err := open(ctx, dir, path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, done()) }()
	d, p, err := a.Bench(ctx)
	if err != nil {
		return err
	}
	src, err := contract.Open(path)
	if err != nil {
		return err
	}
	shipped := mindforge.Pair{Contract: src.Contract}
	actor := actorOf(d, p)
	tasks, err := draw(families, each)
	if err != nil {
		return err
	}
	for i, x := range []struct {
		name  string
		edits []mindforge.Edit
	}{{"shipped", nil}, {"without its tools, ended by a call", fewer()}, {"with the tools of the tasks", append(fewer(), needed(tasks)...)}} {
		if arm >= 0 && i != arm {
			continue
		}
		c, err := edit.Apply(shipped.Contract, x.edits...)
		if err != nil {
			return err
		}
		if err := try(ctx, actor, x.name, mindforge.Pair{Contract: c}, tasks, show); err != nil {
			return err
		}
	}
	if attempts == 0 {
		return nil
	}
	return searchFrom(ctx, actor, d, p, shipped, tasks, attempts)
}

// open starts the program with the default model on a home of its own.
func open(ctx context.Context, home, path string) (*app.App, func() error, error) {
	own, err := config.Load(nil)
	if err != nil {
		return nil, nil, err
	}
	store, err := models.Open(own.Home)
	if err != nil {
		return nil, nil, err
	}
	model, err := (&models.Fetcher{Store: store}).Resolve(ctx, own.Model)
	if err := errors.Join(err, store.Close()); err != nil {
		return nil, nil, err
	}
	path, err = filepath.Abs(path)
	if err != nil {
		return nil, nil, err
	}
	cfg, err := config.Load(map[string]string{"home": home, "listen": "127.0.0.1:0", "contract": path})
	if err != nil {
		return nil, nil, err
	}
	a, err := app.New(cfg, app.Options{Log: obs.Discard(), Model: model})
	if err != nil {
		return nil, nil, err
	}
	return a, a.Close, a.WaitReady(ctx)
}

func actorOf(d harness.Deps, p bench.Policy) *act.Actor {
	return &act.Actor{Deps: d, Owner: auth.Local, Worlds: worlds, Source: func(*contract.Contract) ([]adapter.Revision, error) { return []adapter.Revision{p.Revision}, nil }}
}

func draw(families []string, each int) (out []mindforge.Task, err error) {
	for _, f := range families {
		for _, w := range worlds {
			if !slices.Contains(w.Families(), f) {
				continue
			}
			for i := range each {
				t, err := w.Make(f, 0, uint64(1+i))
				if err != nil {
					return nil, err
				}
				out = append(out, t)
			}
		}
	}
	return out, nil
}

// fewer takes the shipped tools away and lets a run be ended by a call.
func fewer() (out []mindforge.Edit) {
	for _, e := range edit.Committed().Edits() {
		if e.Kind == "tool.remove" || e.Component == "tools.finish" {
			out = append(out, e)
		}
	}
	return out
}

// needed declares the tools of the tasks' solutions.
func needed(tasks []mindforge.Task) (out []mindforge.Edit) {
	want := map[string]bool{}
	for _, t := range tasks {
		for _, c := range t.Judged.Solution.Calls {
			want["tools."+c.Tool] = true
		}
	}
	for _, e := range edit.Committed().Edits() {
		if want[e.Component] {
			out = append(out, e)
		}
	}
	return out
}

// try makes one attempt at each task and tells how they went.
func try(ctx context.Context, actor *act.Actor, name string, p mindforge.Pair, tasks []mindforge.Task, show bool) error {
	passes, classes, cost, began := 0, map[mindforge.Failure]int{}, mindforge.Cost{}, time.Now()
	for i, t := range tasks {
		o, err := actor.Try(ctx, p, t, uint64(i))
		if err != nil {
			return err
		}
		cost = cost.Plus(o.Cost)
		if o.Pass {
			passes++
		} else {
			classes[o.Failure]++
		}
		if show {
			fmt.Printf("  %s: %v %s\n    %s\n", t.ID, o.Pass, o.Failure, strings.Join(o.Evidence, "\n    "))
		}
	}
	fmt.Printf("%s: %d of %d pass;", name, passes, len(tasks))
	for _, f := range slices.Sorted(maps.Keys(classes)) {
		fmt.Printf(" %s %d", f, classes[f])
	}
	n := float64(len(tasks))
	fmt.Printf("; %.1f calls of the model, %.0f and %.0f tokens, %.1f s an attempt\n", float64(cost.Turns)/n, float64(cost.Prompt)/n, float64(cost.Output)/n, time.Since(began).Seconds()/n)
	return nil
}

// searchFrom searches with the model as actor and as proposer, committed edits only.
func searchFrom(ctx context.Context, actor *act.Actor, d harness.Deps, p bench.Policy, shipped mindforge.Pair, tasks []mindforge.Task, attempts int) error {
	base, err := edit.Apply(shipped.Contract, fewer()...)
	if err != nil {
		return err
	}
	half := len(tasks) / 2
	s := &expansion.Search{Settings: expansion.Settings{Seed: 1, Attempts: attempts, MaxEdits: 6, Rates: expansion.Rates{Reflect: 2, Mutate: 1, Restart: 1}}, Actor: actor, Catalogue: edit.Committed(),
		Proposer: reflect.Model{Called: "the default model", Generator: d.Generator, Revision: p.Revision},
		Base:     mindforge.Pair{Contract: base}, Train: tasks[:half], Valid: tasks[half:], Told: func(x expansion.Step) error {
			fmt.Printf("step %d: %s by %s, %v: %s, parent %.1f, child %.1f, mean %.2f, %d attempts\n", x.N, x.Candidate.Operator, x.Candidate.Proposer, x.Proposal.Edit.Component, x.Stopped, x.Parent, x.Child, x.Mean, x.Spent.Attempts)
			return nil
		}}
	r, err := s.Run(ctx)
	if err != nil {
		return err
	}
	fmt.Printf("the search ends with %d edits, %.2f on validation, %.2f on fresh seeds, %d attempts\n", len(r.Edits), r.Chosen, r.Replayed, r.Spent.Attempts)
	for _, e := range r.Edits {
		fmt.Println("  ", e.Kind, e.Component, strings.Join(strings.Fields(e.Value), " "))
	}
	return nil
}
