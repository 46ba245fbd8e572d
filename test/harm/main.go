// Command harm asks whether routing hurts: the turns with one intent of
// test/intents/turns.tsv, each with a check of its answer, in three arms with the same
// seeds. Direct goes to the specialist that the label names; the others are routed, with
// keys and values kept between requests and with room for one request only. Equivalence is
// tested with the margin that docs/ROUTING_EVAL.md has stated.
//
//	go run ./test/harm [-seeds 5]
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"sync"

	"macaron/test/eval"
)

// margin is the difference of passed checks, in points, that would matter.
const margin = 5.0

func main() {
	program := flag.String("program", "bin/macaron", "the built program")
	set := flag.String("set", "test/intents/turns.tsv", "labelled turns; those with one label are taken")
	seeds := flag.Int("seeds", 5, "how often each task is done, with seeds from 1")
	most := flag.Int("tokens", 128, "of an answer, at most")
	flag.Parse()
	if err := run(*program, *set, *seeds, *most); err != nil {
		log.Fatal(err)
	}
}

// arm is one way to serve the tasks.
type arm struct {
	name   string
	direct bool
	flags  []string
	atOnce int
}

// result is a task's answer.
type result struct {
	passed, routed bool
	text           string
	cached, prompt int
}

// noRoom is memory for keys and values of about 400 tokens of the default base: what one
// request leaves is gone when the next has begun.
const noRoom = "9500000"

func run(program, set string, seeds, most int) error {
	all, err := eval.ReadTurns(set)
	if err != nil {
		return err
	}
	var tasks []eval.Turn
	for _, t := range all {
		if len(t.Labels) == 1 {
			tasks = append(tasks, t)
		}
	}
	arms := []arm{{name: "direct", direct: true, atOnce: 4}, {name: "routed, KV kept", atOnce: 4}, {name: "routed, KV not kept", flags: []string{"--kv-bytes", noRoom}, atOnce: 1}}
	results := make([][]result, len(arms))
	for i, a := range arms {
		if results[i], err = serve(program, a, tasks, seeds, most); err != nil {
			return fmt.Errorf("%s: %w", a.name, err)
		}
	}
	report(arms, results, len(tasks), seeds)
	return nil
}

// serve does every task with every seed, in the order of tasks and then seeds.
func serve(program string, a arm, tasks []eval.Turn, seeds, most int) ([]result, error) {
	ctx, stop := context.WithCancelCause(context.Background())
	defer stop(nil)
	s, err := eval.Start(ctx, program, func(c string) string { return c }, a.flags...)
	if err != nil {
		return nil, err
	}
	defer s.Close() //nolint:errcheck // a measurement's own home
	out := make([]result, len(tasks)*seeds)
	next := make(chan int)
	var workers sync.WaitGroup
	for range a.atOnce {
		workers.Go(func() {
			for i := range next {
				r, err := do(ctx, s, a, tasks[i/seeds], i%seeds+1, i, most)
				if err != nil {
					stop(err)
				}
				out[i] = r
			}
		})
	}
	for i := range out {
		next <- i
	}
	close(next)
	workers.Wait()
	return out, context.Cause(ctx)
}

func do(ctx context.Context, s *eval.Server, a arm, t eval.Turn, seed, i, most int) (r result, err error) {
	body := map[string]any{"seed": seed, "max_tokens": most, "user": fmt.Sprint(i)}
	if a.direct {
		body["model"] = "macaron/" + t.Labels[0]
	}
	got, err := s.Chat(ctx, []eval.Message{{Role: "user", Content: t.Text}}, body)
	if err != nil {
		return r, err
	}
	r = result{passed: t.Passed(got.Text()) == 1, routed: got.Macaron.Adapter == t.Labels[0], text: got.Text()}
	for _, h := range got.Macaron.Hops {
		r.cached, r.prompt = r.cached+h.CachedTokens, r.prompt+h.PromptTokens
	}
	return r, nil
}

func report(arms []arm, results [][]result, tasks, seeds int) {
	fmt.Printf("%d tasks, %d seeds\n\n| arm | checks passed (Wilson 95 %%) | went to the labelled specialist | of the prompts from the cache |\n|---|---|---|---|\n", tasks, seeds)
	for i, a := range arms {
		var passed, routed, cached, prompt int
		for _, r := range results[i] {
			passed, routed, cached, prompt = passed+one(r.passed), routed+one(r.routed), cached+r.cached, prompt+r.prompt
		}
		n := len(results[i])
		fmt.Printf("| %s | %s | %s | %.0f %% |\n", a.name, eval.Share(passed, n), eval.Share(routed, n), 100*float64(cached)/float64(prompt))
	}
	fmt.Printf("\n| difference, points | mean | 90 %% (TOST) | within %.0f points | equal answers |\n|---|---|---|---|---|\n", margin)
	for _, pair := range [][2]int{{1, 0}, {2, 0}, {1, 2}} {
		// A task's seeds belong together: tasks are what is sampled.
		diffs, equal := make([]float64, tasks), 0
		for i := range results[0] {
			a, b := results[pair[0]][i], results[pair[1]][i]
			diffs[i/seeds] += 100 * float64(one(a.passed)-one(b.passed)) / float64(seeds)
			equal += one(a.text == b.text)
		}
		mean, low, high := eval.Paired(diffs, 0.90)
		verdict := "not shown"
		if low > -margin && high < margin {
			verdict = "yes"
		}
		fmt.Printf("| %s less %s | %+.1f | %+.1f to %+.1f | %s | %d of %d |\n", arms[pair[0]].name, arms[pair[1]].name, mean, low, high, verdict, equal, tasks*seeds)
	}
}

func one(b bool) int {
	if b {
		return 1
	}
	return 0
}
