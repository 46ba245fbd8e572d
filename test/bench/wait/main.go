// Command wait measures what the user waits for: 48 requests of mixed domains in six
// conversations, at temperature 0, streamed, with answers of 256 tokens, on the embedded
// engine with the default set; back to back, or with pauses between.
//
//	go run ./test/bench/wait [-pause 2s] [-natural]
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"log"
	"slices"
	"time"

	"macaron/test/eval"
)

// held makes an answer of as many tokens as it may have: a string that cannot end before.
const held = `{"type":"json_schema","json_schema":{"name":"long","schema":{"type":"object","properties":{"text":{"type":"string","minLength":4000}},"required":["text"]}}}`

func main() {
	program := flag.String("program", "bin/macaron", "the built program")
	pause := flag.Duration("pause", 0, "between the end of an answer and the next request")
	natural := flag.Bool("natural", false, "answers end where the model ends them, within 256 tokens")
	flag.Parse()
	if err := run(*program, *pause, *natural); err != nil {
		log.Fatal(err)
	}
}

func run(program string, pause time.Duration, natural bool) error {
	ctx := context.Background()
	s, err := eval.Start(ctx, program, func(c string) string { return c })
	if err != nil {
		return err
	}
	defer s.Close() //nolint:errcheck // a measurement's own home
	// The prefix of the route prompt is read once, as in any server that is up.
	if _, err := s.Chat(ctx, []eval.Message{{Role: "user", Content: "Hello!"}}, map[string]any{"max_tokens": 1, "user": "warm"}); err != nil {
		return err
	}
	var all []eval.Timed
	sessions := map[string]bool{}
	begun := time.Now()
	for c, turns := range conversations() {
		var history []eval.Message
		for _, text := range turns {
			history = append(history, eval.Message{Role: "user", Content: text})
			t, err := s.Stream(ctx, history, body(fmt.Sprint(c), natural))
			if err != nil {
				return err
			}
			history = append(history, eval.Message{Role: "assistant", Content: t.Text})
			all, sessions[t.Report.Session] = append(all, t), true
			time.Sleep(pause)
		}
	}
	took := time.Since(begun)
	time.Sleep(3 * time.Second) // the last summary
	return report(ctx, s, all, sessions, took, pause)
}

// body is a request but for its messages.
func body(user string, natural bool) map[string]any {
	b := map[string]any{"temperature": 0, "max_tokens": 256, "user": user}
	if !natural {
		b["response_format"] = json.RawMessage(held)
	}
	return b
}

// cost is what the hops of a kind came to.
type cost struct {
	n, prompt, cached, output int
	ms                        float64
}

func report(ctx context.Context, s *eval.Server, all []eval.Timed, sessions map[string]bool, took time.Duration, pause time.Duration) error {
	var wall, route, answer float64
	var first, tail []float64
	output := 0
	for _, t := range all {
		wall += ms(t.Wall)
		first, tail = append(first, ms(t.First)), append(tail, ms(t.Tail))
		for _, h := range t.Report.Hops {
			if h.Hop == "route" {
				route += h.TotalMS
			} else {
				answer, output = answer+h.TotalMS, output+h.OutputTokens
			}
		}
	}
	rest := wall - route - answer
	fmt.Printf("%d requests, %s apart, %.1f s in all, %d tokens an answer\n\n", len(all), pause, took.Seconds(), output/len(all))
	fmt.Printf("| of what the client waited, %.1f s | s | share |\n|---|---|---|\n| routing | %.2f | %.2f %% |\n| waiting for summaries, and everything but model calls | %.2f | %.2f %% |\n| **both** | %.2f | **%.2f %%** |\n| the answer | %.2f | %.2f %% |\n\n",
		wall/1000, route/1000, 100*route/wall, rest/1000, 100*rest/wall, (route+rest)/1000, 100*(route+rest)/wall, answer/1000, 100*answer/wall)
	fmt.Printf("until the first text: median %.0f ms, 95 %% %.0f ms; from the last text to the end of the stream: median %.2f ms, worst %.2f ms\n\n", at(first, 0.5), at(first, 0.95), at(tail, 0.5), at(tail, 1))
	return hops(ctx, s, sessions)
}

// hops tells what all model calls came to, those in the background too.
func hops(ctx context.Context, s *eval.Server, sessions map[string]bool) error {
	kinds := map[string]*cost{"route": {}, "answer": {}, "summary": {}}
	for id := range sessions {
		var view struct {
			Tree []struct{ Hops []eval.Hop }
		}
		if err := s.Get(ctx, "/admin/sessions/"+id, &view); err != nil {
			return err
		}
		for _, t := range view.Tree {
			for _, h := range t.Hops {
				k := kinds[h.Hop]
				k.n, k.prompt, k.cached, k.output, k.ms = k.n+1, k.prompt+h.PromptTokens, k.cached+h.CachedTokens, k.output+h.OutputTokens, k.ms+h.TotalMS
			}
		}
	}
	var rows, time float64
	for _, k := range kinds {
		rows, time = rows+float64(k.prompt-k.cached+k.output), time+k.ms
	}
	fmt.Printf("| hop | calls | prompt tokens | from the cache | output tokens | share of tokens computed | share of model time |\n|---|---|---|---|---|---|---|\n")
	for _, name := range []string{"route", "answer", "summary"} {
		k := kinds[name]
		fmt.Printf("| %s | %d | %d | %.0f %% | %d | %.1f %% | %.1f %% |\n", name, k.n, k.prompt, 100*float64(k.cached)/float64(max(1, k.prompt)), k.output, 100*float64(k.prompt-k.cached+k.output)/rows, 100*k.ms/time)
	}
	return nil
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

func at(v []float64, q float64) float64 {
	slices.Sort(v)
	return v[min(len(v)-1, int(q*float64(len(v))))]
}
