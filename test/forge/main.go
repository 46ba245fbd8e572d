// Command forge measures how often a model solves tasks of the worlds under contracts:
//
//	go run ./test/forge -families compose/item_price,text/case -seeds 8 macaron.toml taught
//
// "taught" is the contract of -base with the agent of taught.toml and every tool of the worlds
// declared, each for one call. With -set the tasks are those of a file such as
// base-failing.json. It prints a line for each attempt and a table.
package main

import (
	"context"
	_ "embed" // the agent
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"

	"macaron/internal/adapter"
	"macaron/internal/app"
	"macaron/internal/auth"
	"macaron/internal/config"
	"macaron/internal/contract"
	"macaron/internal/harness"
	"macaron/internal/mindforge"
	"macaron/internal/mindforge/act"
	"macaron/internal/mindforge/stat"
	"macaron/internal/models"
	"macaron/internal/obs"
	"macaron/test/forge/rig"
)

//go:embed taught.toml
var taught string

func main() {
	families := flag.String("families", "", "WORLD/FAMILY, with commas between; all by default")
	level := flag.Int("level", 0, "of the tasks")
	first := flag.Uint64("first", 0, "the first seed")
	seeds := flag.Uint64("seeds", 4, "tasks of each family")
	set := flag.String("set", "", "file with the tasks, in the place of families, level and seeds")
	base := flag.String("base", "macaron.toml", "contract that is served, and that taught is made of")
	home := flag.String("home", "", "directory of state; a temporary one by default")
	show := flag.Bool("show", false, "print what the model did")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	tasks, err := chosen(*families, *level, *first, *seeds)
	if *set != "" {
		_, tasks, err = rig.ReadSet(*set)
	}
	if err == nil {
		err = run(ctx, tasks, *base, *home, *show, flag.Args())
	}
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context, tasks []mindforge.Task, base, home string, show bool, contracts []string) (err error) {
	if home == "" {
		if home, err = os.MkdirTemp("", "macaron-forge-"); err != nil {
			return err
		}
		defer os.RemoveAll(home)
	}
	if len(contracts) == 0 {
		contracts = []string{base, "taught"}
	}
	a, err := open(ctx, home, base)
	if err != nil {
		return err
	}
	return errors.Join(measure(ctx, a, base, contracts, tasks, show), a.Close())
}

// open starts the program with the model of the user's home and a contract.
func open(ctx context.Context, home, contract string) (*app.App, error) {
	own, err := config.Load(nil)
	if err != nil {
		return nil, err
	}
	store, err := models.Open(own.Home)
	if err != nil {
		return nil, err
	}
	model, err := (&models.Fetcher{Store: store}).Resolve(ctx, own.Model)
	if err := errors.Join(err, store.Close()); err != nil {
		return nil, err
	}
	cfg, err := config.Load(map[string]string{"home": home, "contract": contract, "listen": "127.0.0.1:0"})
	if err != nil {
		return nil, err
	}
	a, err := app.New(cfg, app.Options{Log: obs.Discard(), Model: model})
	if err != nil {
		return nil, err
	}
	return a, errors.Join(a.WaitReady(ctx))
}

func chosen(families string, level int, first, seeds uint64) (out []mindforge.Task, err error) {
	for _, w := range rig.Worlds {
		for _, f := range w.Families() {
			if families != "" && !strings.Contains(","+families+",", ","+w.Name()+"/"+f+",") {
				continue
			}
			for seed := range seeds {
				t, err := w.Make(f, level, first+seed)
				if err != nil {
					return nil, err
				}
				out = append(out, t)
			}
		}
	}
	return out, nil
}

func read(path, base string) (*contract.Contract, error) {
	raw, err := os.ReadFile(path)
	if path == "taught" {
		raw, err = rig.Declared(base, taught)
	}
	if err != nil {
		return nil, err
	}
	return contract.Parse(raw)
}

func measure(ctx context.Context, a *app.App, base string, contracts []string, tasks []mindforge.Task, show bool) error {
	d, pair, err := a.Forge(ctx)
	if err != nil {
		return err
	}
	actor := act.Actor{Worlds: rig.Worlds, Deps: d, Owner: auth.Local, Source: func(*contract.Contract) ([]adapter.Revision, error) { return pair.Revisions, nil }}
	passed, tried := map[string]int{}, map[string]int{}
	var total mindforge.Cost
	for _, t := range tasks {
		for i, path := range contracts {
			c, err := read(path, base)
			if err != nil {
				return err
			}
			o, err := actor.Try(ctx, mindforge.Pair{Contract: c}, t, 1+t.Seed)
			if err != nil {
				return err
			}
			if show && o.Run != "" {
				if err := tell(ctx, d, o.Run, t); err != nil {
					return err
				}
			}
			key := fmt.Sprintf("%s/%s\t%d %s", t.World, t.Family, i, path)
			tried[key]++
			if o.Pass {
				passed[key]++
			}
			total = total.Plus(o.Cost)
			fmt.Printf("%-34s %-14s %v  %d turns, %d + %d tokens, %d ms of processor, %d ms  %s %v\n", t.ID, filepath.Base(path), o.Pass, o.Cost.Turns, o.Cost.Prompt, o.Cost.Output, o.Cost.CPUMS, o.Cost.WallMS, o.Failure, o.Evidence)
		}
	}
	return table(tasks, contracts, passed, tried, total)
}

func table(tasks []mindforge.Task, contracts []string, passed, tried map[string]int, total mindforge.Cost) error {
	seen := map[string]bool{}
	for _, t := range tasks {
		f := t.World + "/" + t.Family
		if seen[f] {
			continue
		}
		seen[f] = true
		fmt.Printf("%-24s", f)
		for i, c := range contracts {
			key := fmt.Sprintf("%s\t%d %s", f, i, c)
			r := stat.NewRate(passed[key], tried[key])
			fmt.Printf("  %s %d/%d (%.2f to %.2f)", filepath.Base(c), r.K, r.N, r.Low, r.High)
		}
		fmt.Println()
	}
	raw, err := json.Marshal(total)
	fmt.Println(string(raw))
	return err
}

// tell prints what the model was shown and did.
func tell(ctx context.Context, d harness.Deps, run string, t mindforge.Task) error {
	r, err := harness.New(d).Transcript(ctx, auth.Local, run)
	if err != nil {
		return err
	}
	for _, m := range r.Messages() {
		fmt.Printf("   [%s] %s", m.Role, m.Text())
		for _, c := range m.ToolCalls {
			fmt.Printf(" -> %s %s", c.Name, c.Arguments)
		}
		fmt.Println()
	}
	fmt.Printf("   wanted %q\n", t.Judged.Solution.Answer)
	return nil
}
