// Command coverage runs the adaptive search and its three controls on the tasks that the
// default model fails, at equal attempts: make forge-coverage. It goes on where it was
// stopped, and writes the numbers, a table and a chart. With -scripted a policy of known
// skill acts, for a look at the program itself.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"

	"macaron/internal/disk"
	"macaron/internal/errs"
	"macaron/internal/ids"
	"macaron/internal/mindforge"
	"macaron/internal/mindforge/edit"
	"macaron/internal/mindforge/evaluation"
	"macaron/internal/mindforge/expansion"
	"macaron/internal/mindforge/reflect"
	"macaron/internal/mindforge/report"
	"macaron/internal/mindforge/scripted"
	"macaron/test/forge/rig"
)

// settings are what a measurement follows from, beside the hashes.
type settings struct {
	Seed     uint64 `json:"seed"`
	Attempts int    `json:"attempts"` // of an arm, at most
	Practice int    `json:"practice"` // tasks that the arms which learn beforehand are tried on
	Proposer string `json:"proposer"` // of the adaptive arm: uniform, model
	Scripted bool   `json:"scripted,omitempty"`
}

// measured is the file of numbers.
type measured struct {
	Hashes   rig.Hashes      `json:"hashes"`
	Settings settings        `json:"settings"`
	Coverage report.Coverage `json:"coverage"`
}

func main() {
	var s settings
	flag.Uint64Var(&s.Seed, "seed", 1, "of the searches")
	flag.IntVar(&s.Attempts, "attempts", 800, "of each arm, at most: as many rounds as that is over the tasks")
	flag.IntVar(&s.Practice, "practice", 4, "other tasks, which 64 contracts are tried on before by the arms that learn from it; 0: leave those arms out")
	flag.StringVar(&s.Proposer, "proposer", "uniform", "of the adaptive arm: uniform, or model (the default model chooses)")
	flag.BoolVar(&s.Scripted, "scripted", false, "a policy of known skill acts, on planted tasks")
	set := flag.String("set", "test/forge/base-failing.json", "the tasks")
	contract := flag.String("contract", "macaron.toml", "contract that is served")
	dir := flag.String("dir", ".cache/forge/coverage", "attempts so far, and results")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, s, *set, *contract, *dir)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context, s settings, set, contract, dir string) error {
	b, err := prepared(ctx, s, set, contract)
	if err != nil {
		return err
	}
	name := fmt.Sprintf("%s-%d", s.Proposer, s.Seed)
	if s.Scripted {
		name = "scripted-" + name
	}
	k, err := rig.OpenKept(filepath.Join(dir, name+".jsonl"), b.hashes)
	if err != nil {
		return errors.Join(err, b.close())
	}
	b.c.Cache = k
	m := measured{Hashes: b.hashes, Settings: s}
	m.Coverage, err = b.arms(ctx, s, k)
	if err == nil {
		m.Coverage.Command = fmt.Sprintf("make forge-coverage ATTEMPTS=%d SEED=%d PRACTICE=%d PROPOSER=%s", s.Attempts, s.Seed, s.Practice, s.Proposer)
		if s.Scripted {
			m.Coverage.Command = fmt.Sprintf("go run ./test/forge/coverage -scripted -attempts %d -seed %d -practice %d", s.Attempts, s.Seed, s.Practice)
		}
		err = write(m, filepath.Join(dir, name))
	}
	return errors.Join(err, k.Close(), b.close())
}

// bench is what a measurement runs on.
type bench struct {
	c        *expansion.Coverage
	hashes   rig.Hashes
	practice []mindforge.Task
	proposer expansion.Proposer
	close    func() error
}

func prepared(ctx context.Context, s settings, set, contract string) (*bench, error) {
	if s.Scripted {
		return planted(s)
	}
	f, items, err := rig.ReadSet(set)
	if err != nil {
		return nil, err
	}
	r, err := rig.Open(ctx, contract)
	if err != nil {
		return nil, err
	}
	b := &bench{hashes: r.Hashes, proposer: expansion.Uniform{}, close: r.Close,
		c: &expansion.Coverage{Seed: s.Seed, Actor: r, Catalogue: edit.Committed(), Base: r.Pair, Items: items}}
	if s.Proposer == "model" {
		b.proposer = reflect.Model{Called: "default", Generator: r.Deps.Generator}
	}
	families := rig.Families(evaluation.Train)
	for n := range s.Practice {
		t, err := rig.Draw(r.Hashes, "practice", families[n*len(families)/s.Practice], 0, n)
		if err != nil {
			return nil, errors.Join(err, r.Close())
		}
		b.practice = append(b.practice, t)
	}
	if err := r.Hashes.Same(f.Hashes, set); err != nil {
		return nil, errors.Join(err, r.Close())
	}
	return b, nil
}

// planted is a problem of which the truth is known.
func planted(s settings) (*bench, error) {
	p, err := scripted.Plant(s.Seed, scripted.DefaultPlan)
	if err != nil {
		return nil, err
	}
	w := scripted.World{Policy: p.Policy}
	h := rig.Hashes{Base: ids.DigestOf([]byte(p.Policy.Salt)), Contract: p.Base.Contract.Hash(), Catalogue: p.Catalogue.Hash()}
	return &bench{hashes: h, proposer: scripted.Reflective{Skill: 0.6}, practice: w.Tasks(1, 9000)[:s.Practice], close: func() error { return nil },
		c: &expansion.Coverage{Seed: s.Seed, Actor: p.Policy, Catalogue: p.Catalogue, Base: p.Base, Items: w.Tasks(5, 5000)}}, nil
}

// arms runs them one after the other; what was tried before is found.
func (b *bench) arms(ctx context.Context, s settings, k *rig.Kept) (report.Coverage, error) {
	out := report.Coverage{Items: len(b.c.Items), Families: report.Families(b.c.Items)}
	if b.c.Rounds = s.Attempts / max(1, len(b.c.Items)); b.c.Rounds < 1 {
		return out, errs.Newf(errs.InvalidRequest, "%d attempts for %d tasks are not one each", s.Attempts, len(b.c.Items))
	}
	adaptive := func(ctx context.Context) (expansion.Harvest, error) { return b.c.Adaptive(ctx, b.proposer) }
	for _, a := range []struct {
		name     string
		run      func(context.Context) (expansion.Harvest, error)
		practice bool
	}{
		{"adaptive", adaptive, false}, {"same contract", b.c.Resampled, false}, {"random contracts", b.c.Random, false},
		{"adaptive, after practice", adaptive, true}, {"best fixed portfolio, after practice", b.c.Portfolio, true},
	} {
		if b.c.Train = nil; a.practice {
			if b.c.Train = b.practice; len(b.practice) == 0 {
				continue
			}
		}
		before := k.Len()
		h, err := a.run(ctx)
		if err != nil {
			return out, err
		}
		again, err := b.c.Replay(ctx, h)
		if err != nil {
			return out, err
		}
		arm := report.ArmOf(h, b.c.Items, &again)
		arm.Name = a.name
		out.Arms = append(out.Arms, arm)
		fmt.Printf("%-38s %4d attempts, %4d on other tasks before, %5d made now; covered %s, pass again %s\n", a.name, h.Spent.Attempts, h.Trained.Attempts, k.Len()-before, arm.Covered(), again)
	}
	return out, nil
}

// write keeps the numbers, a table for people and a chart.
func write(m measured, path string) error {
	raw, err := json.MarshalIndent(m, "", " ")
	if err != nil {
		return err
	}
	for ext, text := range map[string]string{".json": string(raw) + "\n", ".md": m.Coverage.Markdown(), ".svg": m.Coverage.Chart().SVG() + "\n"} {
		if err := disk.Replace(path+ext, []byte(text), 0o644); err != nil {
			return err
		}
	}
	fmt.Printf("%s.json, .md, .svg\n", path)
	return nil
}
