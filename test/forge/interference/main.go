// Command interference measures what one adapter for everything costs: four specialists of
// rank r, each on its own data, against one adapter of rank 4r on the union of the same rows,
// so with as many parameters and as many tokens. Both are trained by `macaron train`'s
// trainer and recipe, and judged by the loss on rows that neither has seen. What is finished
// stays in the directory, and the same command goes on from there.
//
//	interference -model FILE [-data DIR] [-out DIR] [-tokens N] [-plan RANK:SEED,...]
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// names are the specialists, by the files that recipes/default-set/export.py writes.
var names = []string{"L0", "L1", "L2", "L3"}

// union names the one adapter for all.
const union = "union"

// arm is one pair of four specialists and their union.
type arm struct {
	Rank int    `json:"rank"`
	Seed uint64 `json:"seed"`
}

func (a arm) String() string { return fmt.Sprintf("r%d-s%d", a.Rank, a.Seed) }

// of is the rank of an adapter of the arm.
func (a arm) of(name string) int {
	if name == union {
		return a.Rank * len(names)
	}
	return a.Rank
}

type options struct {
	model, data, out, plan string
	tokens, dev, answers   int
	threads                int
}

func main() {
	var o options
	flag.StringVar(&o.model, "model", "", "the default model's GGUF `file`")
	flag.StringVar(&o.data, "data", ".cache/default-set", "`directory` with NAME.train.jsonl and NAME.dev.jsonl")
	flag.StringVar(&o.out, "out", ".cache/forge-interference", "`directory` of what is made")
	flag.StringVar(&o.plan, "plan", "16:1,16:2,16:3,4:1,8:1,32:1", "`RANK:SEED` of the specialists, in the order in which they are trained")
	flag.IntVar(&o.tokens, "tokens", 50_000, "that each specialist is trained on; the union on four times as many")
	flag.IntVar(&o.dev, "dev", 40, "rows of each specialist that are held out, at most")
	flag.IntVar(&o.answers, "answers", 20, "of them, those whose calls are made and compared")
	flag.IntVar(&o.threads, "threads", 2, "of the engine")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, o); err != nil {
		fmt.Fprintln(os.Stderr, "interference:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, o options) error {
	arms, err := parse(o.plan)
	if err != nil {
		return err
	}
	l, err := openLab(ctx, o)
	if err != nil {
		return err
	}
	defer l.close()
	began, trained, left := time.Now(), 0, 2*len(arms)*len(names)*o.tokens
	var all []judged
	for _, a := range arms {
		if err := l.cut(a); err != nil {
			return err
		}
		for _, name := range append(append([]string{}, names...), union) {
			n, err := l.train(ctx, a, name)
			if err != nil {
				return err
			}
			left -= o.tokens * (a.of(name) / a.Rank)
			if trained += n; n > 0 {
				rate := float64(trained) / time.Since(began).Seconds()
				fmt.Fprintf(os.Stderr, "%s %s: %.0f tokens a second with everything, about %v left\n", a, name, rate, time.Duration(float64(left)/rate*float64(time.Second)).Round(time.Minute))
			}
			j, err := l.judge(ctx, a, name)
			if err != nil {
				return err
			}
			all = append(all, j)
		}
	}
	return report(o, arms, all)
}

func parse(plan string) ([]arm, error) {
	var out []arm
	for _, text := range strings.Split(plan, ",") {
		r, s, _ := strings.Cut(text, ":")
		rank, bad := strconv.Atoi(r)
		seed, worse := strconv.ParseUint(s, 10, 64)
		if bad != nil || worse != nil || rank < 1 || rank > 256 {
			return nil, fmt.Errorf("-plan has %q; it is a list of RANK:SEED", text)
		}
		out = append(out, arm{rank, seed})
	}
	return out, nil
}

// at is a file of an arm.
func (o *options) at(a arm, parts ...string) string {
	return filepath.Join(append([]string{o.out, a.String()}, parts...)...)
}
