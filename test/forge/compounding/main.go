// Command compounding runs one arm of one seed of the loop for several generations on the default
// model, and measures the champion of each on sealed tasks: make forge-compounding SEED= ARM=. It
// goes on where it was stopped. With -chart it draws what has been measured so far.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"macaron/internal/disk"
	"macaron/internal/errs"
	"macaron/internal/mindforge"
	"macaron/internal/mindforge/stat"
	"macaron/test/forge/rig"
)

var arms = []string{"full", "contract", "weights", "none"}

func main() {
	arm := flag.String("arm", "full", "full, contract, weights or none")
	seed := flag.Uint64("seed", 1, "of the loop")
	generations := flag.Int("generations", 3, "of the loop")
	bin := flag.String("bin", "bin/macaron", "the program")
	base := flag.String("base", "macaron.toml", "contract that the start is made of")
	state := flag.String("state", ".cache/forge/compounding", "homes, evaluators and attempts so far")
	dir := flag.String("out", "test/forge/compounding/results", "where results go")
	look := flag.Bool("small", false, "of a size that only shows that it works")
	chart := flag.Bool("chart", false, "draw the results that are there, and write their table")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	l := lab{*arm, *seed, *generations, *bin, *base, *state, *dir, whole}
	if *look {
		l.sizes, l.state, l.dir = small, l.state+"-small", l.state+"-small/results"
	}
	var err error
	if !*chart {
		err = l.run(ctx)
	}
	if err == nil {
		err = drawn(l.dir)
	}
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// result is the file of an arm and seed.
type result struct {
	Schema  string                    `json:"schema"`
	Arm     string                    `json:"arm"`
	Seed    uint64                    `json:"seed"`
	Command string                    `json:"command"`
	Program string                    `json:"program"` // the version that the arm ran with
	Hashes  rig.Hashes                `json:"hashes"`  // the contract is the start's
	Compute compute                   `json:"compute"`
	Spent   map[string]mindforge.Cost `json:"spent"` // by the loop, of sealed tests the attempts alone
	Seconds float64                   `json:"seconds"`
	Edits   []mindforge.Edit          `json:"edits"` // that came into the champion

	Champions []measured     `json:"champions"` // the start, then that of each generation
	Parts     map[string]any `json:"parts,omitempty"`
}

// measured is a champion on the sealed suite.
type measured struct {
	Generation int           `json:"generation"`
	Contract   string        `json:"contract"`
	Weights    []string      `json:"weights"`
	Score      stat.Estimate `json:"score"`
	Gain       stat.Estimate `json:"gain"` // on the start
	Said       []string      `json:"said"` // by update and gate
	Items      []item        `json:"items"`
}

// Schema of a result.
const schema = "macaron.compounding/1"

// lab is one arm and seed, and where things are.
type lab struct {
	arm                   string
	seed                  uint64
	generations           int
	bin, base, state, dir string
	sizes
}

func (l lab) run(ctx context.Context) error {
	if !slices.Contains(arms, l.arm) {
		return errs.Newf(errs.InvalidRequest, "there is no arm %q: %v", l.arm, arms)
	}
	began := time.Now()
	version, err := program(ctx, l.bin)
	if err != nil {
		return err
	}
	s, err := at(ctx, filepath.Join(l.state, fmt.Sprintf("%s-%d", l.arm, l.seed)), l.bin)
	if err != nil {
		return err
	}
	if err := s.lay(ctx, l.base, l.settings(s.dir, l.arm, l.seed, l.generations)); err != nil {
		return err
	}
	h, err := l.loop(ctx, s)
	if err != nil {
		return err
	}
	m, err := l.measurer(ctx, s)
	if err != nil {
		return err
	}
	if l.arm == "none" {
		h.champions = slices.Repeat([]mindforge.Pair{m.Pair}, l.generations+1)
	}
	r := result{Schema: schema, Arm: l.arm, Seed: l.seed, Command: fmt.Sprintf("make forge-compounding SEED=%d ARM=%s", l.seed, l.arm), Program: version, Hashes: m.Hashes, Compute: l.of(l.arm), Spent: h.spent, Edits: h.edits}
	err = r.measure(ctx, m, h)
	r.Seconds = time.Since(began).Seconds()
	if err == nil {
		err = r.write(filepath.Join(l.dir, fmt.Sprintf("%s-%d.json", l.arm, l.seed)))
	}
	return errors.Join(err, m.close())
}

// program is the version of macaron that an arm ran with: of a checkout its commit.
func program(ctx context.Context, bin string) (string, error) {
	out, err := exec.CommandContext(ctx, bin, "version").Output()
	return strings.TrimSpace(string(out)), errs.Wrap(errs.InvalidRequest, err, bin+" does not tell its version", "build it: make build")
}

// loop runs the arm's loop to its end; without one there is nothing to run.
func (l lab) loop(ctx context.Context, s site) (history, error) {
	if l.arm == "none" {
		return history{}, nil
	}
	name, err := s.run(ctx)
	if err != nil {
		return history{}, err
	}
	return s.read(ctx, name)
}

// at names the directory of a site by its whole path: the evaluator is told it.
func at(ctx context.Context, dir, bin string) (site, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return site{}, err
	}
	model, err := rig.Model(ctx)
	if err != nil {
		return site{}, err
	}
	bin, err = filepath.Abs(bin)
	return site{dir, bin, model.Path}, err
}

// measure measures each generation's champion, and of the last one what contract and weights do
// alone. Without a loop each generation is another draw of attempts, which shows what chance does.
func (r *result) measure(ctx context.Context, m *measurer, h history) error {
	for g, p := range h.champions {
		draw := uint64(0)
		if r.Arm == "none" {
			draw = uint64(g)
		}
		items, err := m.try(ctx, p, draw)
		if err != nil {
			return err
		}
		x := measured{Generation: g, Contract: string(p.Contract.Hash()), Score: score(items), Items: items}
		for _, rev := range p.Revisions {
			x.Weights = append(x.Weights, rev.Name+" "+rev.Hash.Short())
		}
		if g > 0 {
			x.Gain = gain(r.Champions[0].Items, items)
		}
		if g > 0 && g <= len(h.verdicts) {
			x.Said = h.verdicts[g-1]
		}
		r.Champions = append(r.Champions, x)
		fmt.Printf("generation %d: %s\n", g, x.Score)
	}
	return r.parts(ctx, m, h.champions[0], h.champions[len(h.champions)-1])
}

// parts measures the last champion's contract with the weights of the start, and the other way
// round, where both have changed.
func (r *result) parts(ctx context.Context, m *measurer, start, last mindforge.Pair) error {
	if start.Contract.Hash() == last.Contract.Hash() || slices.Equal(r.Champions[0].Weights, r.Champions[len(r.Champions)-1].Weights) {
		return nil
	}
	r.Parts = map[string]any{}
	for name, p := range map[string]mindforge.Pair{"contract": {Contract: last.Contract, Revisions: start.Revisions}, "weights": {Contract: start.Contract, Revisions: last.Revisions}} {
		items, err := m.try(ctx, p, 0)
		if err != nil {
			return err
		}
		r.Parts[name] = gain(r.Champions[0].Items, items)
	}
	return nil
}

func (r *result) write(path string) error {
	raw, err := json.MarshalIndent(r, "", " ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	fmt.Println(path)
	return disk.Replace(path, append(raw, '\n'), 0o644)
}
