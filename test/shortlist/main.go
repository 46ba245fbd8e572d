// Command shortlist measures how often the adapter that a request is for is among the
// first that are ranked: over 200 described adapters with three requests each, by words,
// by embeddings, and by both.
//
//	go run ./test/shortlist [-model DIR] [-misses]
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"math"
	"time"

	"macaron/internal/engine/encoder"
	"macaron/internal/route/shortlist"
)

func main() {
	path := flag.String("set", "internal/route/shortlist/testdata/adapters.tsv", "file of adapters and their requests")
	model := flag.String("model", "", "directory of the sentence encoder; none: words only")
	misses := flag.Bool("misses", false, "print the requests that are not among the first five")
	flag.Parse()
	if err := run(*path, *model, *misses); err != nil {
		log.Fatal(err)
	}
}

func run(path, model string, misses bool) error {
	set, err := shortlist.ReadSet(path)
	if err != nil {
		return err
	}
	rankers := map[string]*shortlist.Ranker{shortlist.Lexical: {}}
	names := []string{shortlist.Lexical}
	if model != "" {
		e, err := encoder.Open(model)
		if err != nil {
			return err
		}
		defer e.Close()
		rankers[shortlist.Embedding] = &shortlist.Ranker{Embedder: e}
		rankers[shortlist.Fused] = &shortlist.Ranker{Embedder: e, Fuse: true}
		names = append(names, shortlist.Embedding, shortlist.Fused)
	}
	fmt.Printf("%d adapters, %d requests\n\n| ranked by | recall@1 | @5 | @10 | @20 | @40 | ms a request |\n|---|---|---|---|---|---|---|\n", len(set.Contract.Adapters), len(set.Requests))
	for _, name := range names {
		ctx := context.Background()
		rankers[name].Warm(ctx, set.Contract)
		begun := time.Now()
		ranks := set.Ranks(ctx, rankers[name])
		took := time.Since(begun).Seconds() * 1000 / float64(len(ranks))
		fmt.Printf("| %s | %s | %s | %s | %s | %s | %.2f |\n", name, recall(ranks, 1), recall(ranks, 5), recall(ranks, 10), recall(ranks, 20), recall(ranks, 40), took)
		for i, r := range ranks {
			if misses && r > 5 {
				fmt.Printf("  %s at %d: %s\n", set.Requests[i].Label, r, set.Requests[i].Text)
			}
		}
	}
	return nil
}

// recall is the share of ranks within k, with its Wilson 95 % interval.
func recall(ranks []int, k int) string {
	in, n, z := 0.0, float64(len(ranks)), 1.959964
	for _, r := range ranks {
		if r <= k {
			in++
		}
	}
	p := in / n
	mid, half := (p+z*z/(2*n))/(1+z*z/n), z*math.Sqrt(p*(1-p)/n+z*z/(4*n*n))/(1+z*z/n)
	return fmt.Sprintf("%.1f %% (%.1f - %.1f)", 100*p, 100*(mid-half), 100*(mid+half))
}
