// Command proxy measures what a turn costs in Macaron, in the Python proxy that it is
// compared with, and in the least loop that does such a turn at all: the same scripted
// upstream that answers at once, the same clients, round by round. See docs/BENCHMARKS.md.
//
//	proxy -macaron bin/macaron -peer .cache/peer/harness -python .cache/peer/venv/bin/python
package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"
	"time"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "proxy:", err)
		os.Exit(1)
	}
}

func run() error {
	var o options
	role := flag.String("role", "", "upstream, bare or profiled: what this process is, for those that this program starts")
	listen := flag.String("listen", "", "address of a role")
	upstreamURL := flag.String("upstream", "", "upstream of a role")
	db := flag.String("db", "", "database of the bare loop")
	flush := flag.Bool("flush", false, "the bare loop flushes after every chunk")
	flag.StringVar(&o.macaron, "macaron", "bin/macaron", "the binary")
	flag.StringVar(&o.contract, "contract", "macaron.toml", "its contract")
	flag.StringVar(&o.peer, "peer", "", "directory of the Python proxy; empty leaves it out")
	flag.StringVar(&o.python, "python", "python3", "an interpreter with the Python proxy's requirements")
	flag.StringVar(&o.durability, "durability", "full", "full or normal, of all logs")
	flag.StringVar(&o.profile, "profile", "", "write a CPU profile of Macaron here")
	rounds := flag.Int("rounds", 5, "rounds; each measures every cell of every subject once")
	window := flag.Duration("window", 1500*time.Millisecond, "load of one cell")
	quick := flag.Bool("quick", false, "one round of the cells with 16 and 64 clients and no history")
	only := flag.String("cells", "", "comma-separated names of cells; all if empty")
	out := flag.String("out", ".cache/bench-proxy.jsonl", "every figure, added to what is there")
	flag.DurationVar(&o.word, "word", 0, "pause between two words of the upstream's streams; for -soak, which takes 300ms if it is 0")
	soaks := flag.Bool("soak", false, "soak instead of measuring")
	var k soaking
	flag.Float64Var(&k.minutes, "minutes", 60, "length of a soak")
	flag.IntVar(&k.sessions, "sessions", 10000, "open sessions of a soak")
	flag.IntVar(&k.streams, "streams", 500, "streams at once of a soak")
	flag.DurationVar(&k.outages, "outages", 0, "kill the upstream of a soak so often, for a quarter of that time")
	overloads := flag.Bool("overload", false, "send more than is taken")
	readers := flag.Int("slow", 0, "open so many clients that read slowly, and measure the turns of others")
	report := flag.Bool("report", false, "measure nothing; print the table of -out")
	flag.Parse()
	switch {
	case *role == "profiled":
		return profiled(o.profile)
	case *role != "":
		return serveRole(*role, *listen, *upstreamURL, *db, o, *flush)
	case *soaks:
		if o.word == 0 {
			o.word = 300 * time.Millisecond
		}
		return soak(o, k)
	case *overloads:
		return overload(o, *window)
	case *readers > 0:
		return slowly(o, *readers, *window)
	case *report:
		return printReport(*out)
	}
	cells := cellsFor(*quick, *only)
	if *quick {
		*rounds = 1
	}
	if err := measureAll(o, cells, *rounds, *window, *out); err != nil {
		return err
	}
	return printReport(*out)
}

func cellsFor(quick bool, only string) (picked []cell) {
	for _, c := range cells {
		if quick && (c.Long || c.Rate > 0 || c.Clients == 1) || only != "" && !strings.Contains(","+only+",", ","+c.Name+",") {
			continue
		}
		picked = append(picked, c)
	}
	return picked
}

// measureAll writes a line for each cell, subject and round.
func measureAll(o options, cells []cell, rounds int, window time.Duration, out string) (err error) {
	if o.work, err = os.MkdirTemp("", "bench-proxy"); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(o.work)) }()
	b, err := start(o)
	if err != nil {
		return err
	}
	defer b.stop()
	file, err := os.OpenFile(out, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	defer file.Close()
	for round := range rounds {
		for i, c := range cells {
			for j := range b.subjects { // each begins in turn
				s := b.subjects[(i+j+round)%len(b.subjects)]
				m, err := b.measure(s, c, window)
				if err != nil {
					return fmt.Errorf("%s, %s: %w", s.Name, c.Name, err)
				}
				if err := json.NewEncoder(file).Encode(m); err != nil {
					return err
				}
			}
		}
		fmt.Fprintf(os.Stderr, "round %d of %d\n", round+1, rounds)
	}
	return nil
}
