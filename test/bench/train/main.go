// Command train measures a step of training, ours next to PyTorch with PEFT: the same
// model and tokens, rank 16 on all linear layers, the same threads. Both sides stay in
// memory and make a step each in turn, so that what else the machine does meets both.
//
//	train -model FILE -checkpoint DIR [-python PYTHON] [-steps N] [-threads N] [-markdown]
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"runtime/pprof"
	"strconv"
	"strings"
)

// A contest is a batch and the two sides that compute it.
type contest struct {
	name, what string
	ours       string   // case of our side
	peers      []string // cases of step.py
}

var contests = []contest{
	{"plain", "4 x 256 tokens, all of them targets", "plain", []string{"plain"}},
	{"grpo", "a prompt of 200 tokens, 16 answers of 50", "grpo", []string{"grpo", "grpo-micro", "grpo-one"}},
}

func main() {
	o := options{}
	flag.StringVar(&o.model, "model", "", "the model's GGUF `file`")
	flag.StringVar(&o.python, "python", "python3", "a `python` with torch, transformers, peft and gguf")
	flag.IntVar(&o.threads, "threads", 2, "of each side")
	flag.IntVar(&o.steps, "steps", 5, "of each side, after one that does not count")
	only := flag.String("only", "", "one contest, by name")
	flag.StringVar(&o.peers, "peers", "", "only the peers whose names this `pattern` matches")
	flag.StringVar(&o.side, "side", "", "be our side of a case (used by the program itself)")
	flag.StringVar(&o.profile, "profile", "", "write a CPU profile of our side to `file`")
	flag.Parse()
	if o.side != "" {
		exit(serve(&o))
		return
	}
	for _, c := range contests {
		if *only == "" || *only == c.name {
			exit(o.run(c))
		}
	}
}

func exit(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "train:", err)
		os.Exit(1)
	}
}

type options struct {
	model, python, side, profile, peers string
	threads, steps                      int
}

// run has all sides of a contest make their steps in turn, then prints the table.
func (o *options) run(c contest) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	n := strconv.Itoa(o.threads)
	sides := []*side{{name: "ours", cmd: exec.Command(self, "-side", c.ours, "-model", o.model, "-threads", n, "-profile", o.profile)}}
	chosen, err := regexp.Compile(o.peers)
	if err != nil {
		return err
	}
	for _, p := range c.peers {
		if !chosen.MatchString(p) {
			continue
		}
		sides = append(sides, &side{name: "PyTorch, " + p, cmd: exec.Command(o.python, "test/bench/train/step.py", p, o.model, n)})
	}
	for _, s := range sides {
		if err := s.start(); err != nil {
			return err
		}
		defer s.stop()
	}
	for i := range o.steps + 1 {
		for _, s := range sides {
			if err := s.step(i > 0); err != nil {
				return err
			}
			fmt.Fprintf(os.Stderr, "%s, step %d: %s %.2f s\n", c.name, i, s.name, s.last)
		}
	}
	for _, s := range sides {
		s.stop()
	}
	fmt.Print(table(c, sides))
	return nil
}

// table is the report of a contest in Markdown.
func table(c contest, sides []*side) string {
	var b strings.Builder
	tokens := batchOf(c.ours).tokens
	fmt.Fprintf(&b, "\n%s: %s (%d tokens), %d steps of each side, %s\n\n", c.name, c.what, tokens, len(sides[0].seconds), runtime.GOARCH)
	b.WriteString("| side | s a step: median (range) | processor s a step | tokens/s | ratio, step by step | peak RSS MB | loss at first |\n|---|---|---|---|---|---|---|\n")
	for _, s := range sides {
		ratio := "-"
		if s != sides[0] {
			ratio = spread(over(s.seconds, sides[0].seconds))
		}
		fmt.Fprintf(&b, "| %s | %s | %.2f | %.0f | %s | %d | %.4f |\n", s.name, spread(s.seconds), median(s.cpu), float64(tokens)/median(s.seconds), ratio, s.peak>>10, s.first)
	}
	return b.String()
}

// serve is our side: a line in, a step, a line out.
func serve(o *options) error {
	t, err := newTrainee(o)
	if err != nil {
		return err
	}
	defer t.pool.Close()
	if o.profile != "" {
		f, err := os.Create(o.profile)
		if err != nil {
			return err
		}
		defer f.Close()
		if err := pprof.StartCPUProfile(f); err != nil {
			return err
		}
		defer pprof.StopCPUProfile()
	}
	in, out := json.NewDecoder(os.Stdin), json.NewEncoder(os.Stdout)
	for {
		var word string
		if err := in.Decode(&word); err != nil || word != "step" {
			return nil // the end of the contest
		}
		answer, err := t.step(context.Background())
		if err != nil {
			return err
		}
		if err := out.Encode(answer); err != nil {
			return err
		}
	}
}
