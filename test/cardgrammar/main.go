// Command cardgrammar measures what the grammar of cards does for the specialist that
// writes them: the requests of requests.toml, answered by L3 of the default contract
// within the grammar and freely, with the same seeds. Of each answer it tells whether the
// card compiles, is on screen in Chromium, and shows what the request has said. How long a
// token takes is measured with -parallel 1 on a quiet machine.
//
//	go run ./test/cardgrammar [-seeds 1] [-adapters DIR] [-parallel 4] [-out FILE]
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"log"
	"os"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"macaron/internal/bench/ui4a"
	"macaron/test/eval"
)

func main() {
	program := flag.String("program", "bin/macaron", "the built program")
	set := flag.String("set", "test/cardgrammar/requests.toml", "requests")
	seeds := flag.Int("seeds", 1, "how often each is answered, with seeds from 1")
	adapters := flag.String("adapters", "", "a directory that takes the place of adapters/L3")
	out := flag.String("out", "", "where the answers go, as JSON lines")
	arms := flag.String("arms", "grammar,free", "within the grammar, freely, or both")
	flag.IntVar(&parallel, "parallel", 4, "how many are answered at once")
	flag.Parse()
	if err := run(*program, *set, *adapters, *out, *arms, *seeds); err != nil {
		log.Fatal(err)
	}
}

var parallel int

// request is what is asked, and what must be on the card.
type request struct {
	Say     string    `toml:"say"`
	Text    []string  `toml:"text"`
	Numbers []float64 `toml:"numbers"`
	Role    string    `toml:"role"`
	Card    *bool     `toml:"card"`
}

// wanted says whether a card is right.
func (r request) wanted() bool { return r.Card == nil || *r.Card }

// asCase is the request as the bench has it.
func (r request) asCase() *ui4a.Case {
	return &ui4a.Case{ID: "held-out", Request: r.Say, Facts: ui4a.Facts{Text: r.Text, Numbers: r.Numbers}}
}

// answer is one, and what became of it.
type answer struct {
	Arm      string   `json:"arm"`
	Say      string   `json:"say"`
	Seed     int      `json:"seed"`
	Text     string   `json:"text"`
	Tokens   int      `json:"tokens"`
	MS       float64  `json:"ms"`
	Cut      bool     `json:"cut"` // by max_tokens
	Wanted   bool     `json:"wanted"`
	Card     bool     `json:"card"`
	Compiles bool     `json:"compiles"` // there is a script
	Checks   bool     `json:"checks"`   // the compiler's rules find no error either
	Mounts   bool     `json:"mounts"`   // it is on screen, and nothing was thrown or told as an error
	Shows    bool     `json:"shows"`    // all that must be there
	Missing  []string `json:"missing,omitempty"`
}

// free is a contract that holds no adapter to a grammar.
func free(contract string) string { return strings.ReplaceAll(contract, "language = \"ui4a\"\n", "") }

func run(program, set, adapters, out, arms string, seeds int) error {
	requests, err := read(set)
	if err != nil {
		return err
	}
	own := func(contract string) string {
		if adapters != "" {
			contract = strings.ReplaceAll(contract, `"adapters/L3"`, fmt.Sprintf("%q", adapters))
		}
		return contract
	}
	ctx := context.Background()
	edits := map[string]func(string) string{"grammar": own, "free": func(c string) string { return free(own(c)) }}
	var all []answer
	for _, arm := range strings.Split(arms, ",") {
		edit, ok := edits[arm]
		if !ok {
			return fmt.Errorf("there is no arm %q", arm)
		}
		answers, err := ask(ctx, program, arm, edit, requests, seeds)
		if err != nil {
			return err
		}
		all = append(all, answers...)
	}
	if err := look(ctx, requests, all); err != nil {
		return err
	}
	report(all)
	return keep(out, all)
}

func read(set string) ([]request, error) {
	var file struct {
		Request []request `toml:"request"`
	}
	text, err := os.ReadFile(set)
	if err == nil {
		err = toml.Unmarshal(text, &file)
	}
	return file.Request, err
}

// ask has every request answered, some at a time.
func ask(ctx context.Context, program, arm string, edit func(string) string, requests []request, seeds int) ([]answer, error) {
	s, err := eval.Start(ctx, program, edit)
	if err != nil {
		return nil, err
	}
	defer s.Close() //nolint:errcheck // a measurement's own home
	out := make([]answer, len(requests)*seeds)
	failed := make(chan error, len(out))
	turn := make(chan int)
	for range parallel {
		go func() {
			for i := range turn {
				failed <- one(ctx, s, &out[i], arm, requests[i/seeds], i%seeds+1)
			}
		}()
	}
	go func() {
		defer close(turn)
		for i := range out {
			turn <- i
		}
	}()
	for range out {
		if err := <-failed; err != nil {
			return nil, err
		}
	}
	return out, nil
}

func one(ctx context.Context, s *eval.Server, a *answer, arm string, r request, seed int) error {
	got, err := s.Chat(ctx, []eval.Message{{Role: "user", Content: r.Say}}, map[string]any{"model": "macaron/L3", "seed": seed, "user": fmt.Sprint(arm, seed, r.Say)})
	if err != nil {
		return err
	}
	*a = answer{Arm: arm, Say: r.Say, Seed: seed, Text: got.Text(), Cut: got.Choices[0].Finish == "length", Wanted: r.wanted()}
	for _, h := range got.Macaron.Hops {
		if h.Hop == "answer" {
			a.Tokens, a.MS = h.OutputTokens, h.TotalMS
		}
	}
	return nil
}

func keep(out string, all []answer) error {
	if out == "" {
		return nil
	}
	f, err := os.Create(out)
	if err != nil {
		return err
	}
	w := json.NewEncoder(f)
	for _, a := range all {
		if err := w.Encode(a); err != nil {
			return err
		}
	}
	return f.Close()
}
