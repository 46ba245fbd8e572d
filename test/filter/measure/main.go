// Command measure says how well the data filter finds personal data and secrets in the
// labelled set, and tells languages on the routing test split.
//
//	go run ./test/filter/measure [-copies 10] [-errors] [-half held-out]
package main

import (
	"flag"
	"fmt"
	"os"

	"macaron/internal/mint/filter"
	labelled "macaron/test/filter"
)

func main() {
	copies := flag.Int("copies", 10, "copies of each template")
	errors := flag.Bool("errors", false, "print what was missed and what was found by mistake")
	half := flag.String("half", "", "development or held-out; both")
	routing := flag.String("routing", "recipes/default-set/test/routing.jsonl", "texts with their language")
	flag.Parse()
	if err := run(*copies, *errors, *half, *routing); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(copies int, errors bool, half, routing string) error {
	for _, h := range []struct {
		name string
		make func(int) ([]labelled.Text, error)
	}{{"development", labelled.Development}, {"held-out", labelled.HeldOut}} {
		if half != "" && half != h.name {
			continue
		}
		texts, err := h.make(copies)
		if err != nil {
			return err
		}
		s := labelled.NewScore()
		for _, t := range texts {
			s.Add(t, filter.Find(t.Text, filter.Types))
		}
		fmt.Printf("\n%s: %d texts of %d templates\n", h.name, len(texts), s.Clusters())
		fmt.Print(s.Table(filter.Types))
		if errors {
			fmt.Print(s.Errors())
		}
	}
	return languages(routing)
}
