// Command overlay measures the layout where the answer goes on from the route hop's prompt
// (router.overlay) next to the plain one, through the served product: routing on the
// development split, answers on labelled turns, and the time until the answer begins.
//
//	python test/bench/overlay/dev.py > dev.jsonl
//	go run ./test/overlay dev.jsonl
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"log"
	"os"
	"slices"
	"strings"

	"macaron/test/eval"
)

func main() {
	program := flag.String("program", "bin/macaron", "the built program")
	set := flag.String("set", "test/intents/turns.tsv", "labelled turns, for answers")
	every := flag.Int("every", 1, "take every so manieth row of the development split")
	some := flag.Int("turns", 0, "answer so many of the labelled turns, evenly spread; 0: all")
	flag.Parse()
	if flag.NArg() != 1 {
		log.Fatal("name the file of the development split")
	}
	if err := run(*program, *set, flag.Arg(0), *every, *some); err != nil {
		log.Fatal(err)
	}
}

// row is a routing turn of the development split.
type row struct {
	Text, Label string
	Previous    *struct{ Label, Text string }
}

func rows(path string, every int) ([]row, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close() // read only
	var all []row
	lines := bufio.NewScanner(f)
	for i := 0; lines.Scan(); i++ {
		var r row
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			return nil, err
		}
		if i%every == 0 {
			all = append(all, r)
		}
	}
	return all, lines.Err()
}

// arm is what one layout gave.
type arm struct {
	right   []bool // routing, in the order of the rows
	passed  []int  // checks, in the order of the turns
	route   []float64
	first   []float64 // of the answer, from its beginning
	until   []float64 // both: until the answer begins
	overlay int       // tokens that the router computed for answers
	cached  int
	prompt  int
}

func run(program, set, dev string, every, some int) error {
	all, err := rows(dev, every)
	if err != nil {
		return err
	}
	turns, err := eval.ReadTurns(set)
	if err != nil {
		return err
	}
	if some > 0 && some < len(turns) {
		step := len(turns) / some
		for i := range some {
			turns[i] = turns[i*step]
		}
		turns = turns[:some]
	}
	plain, err := measure(program, all, turns, func(c string) string { return c })
	if err != nil {
		return err
	}
	over, err := measure(program, all, turns, func(c string) string { return strings.Replace(c, "[router]\n", "[router]\noverlay = true\n", 1) })
	if err != nil {
		return err
	}
	report(all, turns, plain, over)
	return nil
}

func measure(program string, all []row, turns []eval.Turn, edit func(string) string) (*arm, error) {
	ctx := context.Background()
	s, err := eval.Start(ctx, program, edit)
	if err != nil {
		return nil, err
	}
	defer s.Close() //nolint:errcheck // a measurement's own home
	a := &arm{}
	for _, r := range all {
		var messages []eval.Message
		if r.Previous != nil { // brought along, so that both layouts know as much
			messages = append(messages, eval.Message{Role: "user", Content: r.Previous.Text}, eval.Message{Role: "assistant", Content: "Done."})
		}
		var got eval.Report
		if err := s.Post(ctx, "/v1/route", map[string]any{"messages": append(messages, eval.Message{Role: "user", Content: r.Text})}, &got); err != nil {
			return nil, err
		}
		a.right = append(a.right, got.Adapter == r.Label)
	}
	for i, t := range turns {
		got, err := s.Chat(ctx, []eval.Message{{Role: "user", Content: t.Text}}, map[string]any{"temperature": 0, "max_tokens": 192, "user": fmt.Sprint(i)})
		if err != nil {
			return nil, err
		}
		a.passed = append(a.passed, t.Passed(got.Text()))
		var route float64
		for _, h := range got.Macaron.Hops {
			if h.Hop == "route" {
				route = h.TotalMS
				continue
			}
			a.route, a.first, a.until = append(a.route, route), append(a.first, h.FirstMS), append(a.until, route+h.FirstMS)
			a.overlay, a.cached, a.prompt = a.overlay+h.Overlay, a.cached+h.CachedTokens, a.prompt+h.PromptTokens
		}
	}
	return a, nil
}

func report(all []row, turns []eval.Turn, plain, over *arm) {
	fmt.Printf("| | plain | overlay | difference (paired bootstrap 95 %%) |\n|---|---|---|---|\n")
	var p, o int
	var diffs []float64
	for i := range all {
		a, b := one(plain.right[i]), one(over.right[i])
		p, o, diffs = p+a, o+b, append(diffs, float64(100*(b-a)))
	}
	line("routing right", eval.Share(p, len(all)), eval.Share(o, len(all)), diffs, "points")
	p, o, diffs = 0, 0, nil
	checks := 0
	for i, t := range turns {
		checks, p, o = checks+len(t.Checks), p+plain.passed[i], o+over.passed[i]
		diffs = append(diffs, 100*float64(over.passed[i]-plain.passed[i])/float64(len(t.Checks)))
	}
	line("checks passed", eval.Share(p, checks), eval.Share(o, checks), diffs, "points")
	for _, v := range []struct {
		name string
		a, b []float64
	}{{"route hop, ms", plain.route, over.route}, {"answer hop until its first token, ms", plain.first, over.first}, {"both, ms", plain.until, over.until}} {
		diffs = nil
		for i := range v.a {
			diffs = append(diffs, v.b[i]-v.a[i])
		}
		line(v.name+" (median)", fmt.Sprintf("%.0f", median(v.a)), fmt.Sprintf("%.0f", median(v.b)), diffs, "ms")
	}
	fmt.Printf("\nof the answers' prompts came from the cache: plain %d of %d tokens, overlay %d of %d; the router computed %d\n", plain.cached, plain.prompt, over.cached, over.prompt, over.overlay)
}

func line(name, a, b string, diffs []float64, unit string) {
	mean, low, high := eval.Paired(diffs, 0.95)
	fmt.Printf("| %s | %s | %s | %+.1f %s (%+.1f to %+.1f) |\n", name, a, b, mean, unit, low, high)
}

func median(v []float64) float64 {
	s := slices.Sorted(slices.Values(v))
	return s[len(s)/2]
}

func one(b bool) int {
	if b {
		return 1
	}
	return 0
}
