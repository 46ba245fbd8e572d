// Command overlay measures what an overlay costs: how far the distribution of a
// specialist's tokens moves, and how many answers and route decisions change, when
// another adapter's keys and values stand for all of the prompt but its last tokens.
//
//	python test/bench/overlay/dev.py > dev.jsonl
//	go run ./test/bench/overlay -model FILE.gguf dev.jsonl
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"slices"

	"golang.org/x/sync/errgroup"

	"macaron/internal/adapter"
	"macaron/internal/backend"
	"macaron/internal/backend/local"
	"macaron/internal/chat"
	"macaron/internal/contract"
	"macaron/internal/engine"
	"macaron/internal/engine/lora"
	"macaron/internal/engine/sample"
)

// line is one request of the file.
type line struct {
	Text, Label string
	Previous    *contract.Previous
}

// bench is everything that is measured with.
type bench struct {
	eng      *engine.Engine
	back     *local.Backend
	contract *contract.Contract
	adapters map[string]*lora.Adapter // by label; "base" is nil
	keep     int                      // tokens of the prompt that the adapter reads itself
	tokens   int                      // of an answer
}

// result is what one request gave under one overlay.
type result struct {
	Kind, Source, Target string
	KL                   float64 // nats a token, estimated from the sampled answer
	Tokens               int
	Same                 bool // greedy answer, or label
	Right, RightOver     bool // label: the file's, exact and with the overlay
}

func main() {
	model := flag.String("model", "", "GGUF file")
	hcp := flag.String("contract", "macaron.toml", "contract")
	keep := flag.Int("keep", 1, "last tokens of a prompt that the adapter itself reads")
	tokens := flag.Int("tokens", 32, "of an answer")
	every := flag.Int("every", 1, "take every n-th request")
	flag.Parse()
	if err := run(*model, *hcp, flag.Arg(0), bench{keep: *keep, tokens: *tokens}, *every); err != nil {
		fmt.Fprintln(os.Stderr, "overlay:", err)
		os.Exit(1)
	}
}

func run(model, hcp, file string, b bench, every int) error {
	lines, err := read(file)
	if err != nil {
		return err
	}
	if b.contract, err = contract.Load(hcp); err != nil {
		return err
	}
	if b.eng, err = engine.Open(context.Background(), engine.Options{Model: model, MaxBatch: 16}); err != nil {
		return err
	}
	defer b.eng.Close() // nothing runs any more
	if b.back, err = local.New(b.eng, func(adapter.Revision) (string, error) { return "", nil }); err != nil {
		return err
	}
	b.adapters = map[string]*lora.Adapter{"base": nil}
	for _, a := range b.contract.Adapters {
		if b.adapters[a.Name], err = b.eng.LoadAdapter(a.Source); err != nil {
			return err
		}
	}
	all := make([][]result, len(lines))
	var g errgroup.Group
	g.SetLimit(6)
	for i := 0; i < len(lines); i += every {
		g.Go(func() (err error) {
			all[i], err = b.measure(lines[i], uint64(i))
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return err
	}
	report(slices.Concat(all...))
	return nil
}

func read(path string) ([]line, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close() // read only
	var out []line
	for s := bufio.NewScanner(f); s.Scan(); {
		var l line
		if err := json.Unmarshal(s.Bytes(), &l); err != nil {
			return nil, err
		}
		out = append(out, l)
	}
	return out, nil
}

// measure routes a request and lets its specialist answer, exactly and with overlays.
func (b *bench) measure(l line, seed uint64) ([]result, error) {
	out, err := b.route(l)
	if err != nil {
		return nil, err
	}
	ids, err := b.back.Encode(backend.Request{Messages: []chat.Message{
		chat.Text(chat.System, b.contract.AnswerSystem(l.Label, nil)), chat.Text(chat.User, l.Text)}})
	if err != nil {
		return nil, err
	}
	exact := engine.Request{Prompt: ids, Adapter: b.adapters[l.Label], MaxTokens: b.tokens}
	greedy, _, err := b.tokensOf(exact)
	if err != nil {
		return nil, err
	}
	exact.Sampling = sample.Params{Temperature: 1, Seed: seed}
	drawn, logps, err := b.tokensOf(exact)
	if err != nil {
		return nil, err
	}
	for _, source := range []string{"base", "L0"} {
		if source == l.Label {
			continue
		}
		r := result{Kind: "answer", Source: source, Target: l.Label, Tokens: len(drawn)}
		over := engine.Request{Prompt: ids, Adapter: exact.Adapter, MaxTokens: b.tokens, Overlay: engine.Overlay{Adapter: b.adapters[source], Tokens: len(ids) - b.keep}}
		other, _, err := b.tokensOf(over)
		if err != nil {
			return nil, err
		}
		r.Same = slices.Equal(greedy, other)
		over.Prompt, over.ScorePrompt, over.MaxTokens = slices.Concat(ids, drawn), true, 1
		scores, err := b.scores(over)
		if err != nil {
			return nil, err
		}
		for i, p := range logps {
			r.KL += (p - scores[len(ids)-1+i]) / float64(len(logps))
		}
		out = append(out, r)
	}
	return out, nil
}

// route takes the label exactly and with the prefix of every other adapter.
func (b *bench) route(l line) ([]result, error) {
	ids, err := b.back.Encode(backend.Request{Messages: b.contract.RouteMessages(l.Text, l.Previous)})
	if err != nil {
		return nil, err
	}
	router := b.contract.Router.Adapter
	q := engine.Request{Prompt: ids, Adapter: b.adapters[router]}
	for _, name := range b.contract.Labels() {
		q.Choices = append(q.Choices, b.eng.Tokenizer().Encode(name, false))
	}
	exact, err := b.choice(q)
	if err != nil {
		return nil, err
	}
	var out []result
	for _, source := range append([]string{"base"}, b.contract.Labels()...) {
		if source == router {
			continue
		}
		q.Overlay = engine.Overlay{Adapter: b.adapters[source], Tokens: len(ids) - b.keep}
		over, err := b.choice(q)
		if err != nil {
			return nil, err
		}
		r := result{Kind: "route", Source: source, Target: router, Tokens: 1, Same: exact.Index == over.Index}
		r.Right, r.RightOver = b.contract.Labels()[exact.Index] == l.Label, b.contract.Labels()[over.Index] == l.Label
		for i, p := range exact.Probabilities {
			if p > 0 {
				r.KL += p * math.Log(p/max(over.Probabilities[i], 1e-30))
			}
		}
		out = append(out, r)
	}
	return out, nil
}

func (b *bench) choice(q engine.Request) (*engine.Choice, error) {
	s, err := b.eng.Submit(context.Background(), q)
	if err != nil {
		return nil, err
	}
	t, err := s.Next()
	return t.Choice, err
}

func (b *bench) tokensOf(q engine.Request) (ids []int32, logps []float64, err error) {
	s, err := b.eng.Submit(context.Background(), q)
	if err != nil {
		return nil, nil, err
	}
	for {
		t, err := s.Next()
		if errors.Is(err, io.EOF) {
			return ids, logps, nil
		}
		if err != nil {
			return nil, nil, err
		}
		ids, logps = append(ids, t.ID), append(logps, t.Logprob)
	}
}

// scores are the log probabilities of a prompt's tokens from the second on.
func (b *bench) scores(q engine.Request) ([]float64, error) {
	s, err := b.eng.Submit(context.Background(), q)
	if err != nil {
		return nil, err
	}
	if _, err := s.Next(); err != nil {
		return nil, err
	}
	var out []float64
	for _, p := range s.Prompt() {
		out = append(out, p.Logprob)
	}
	return out, nil
}

// report prints a row for each overlay.
func report(all []result) {
	type key struct{ kind, source, target string }
	groups := map[key][]result{}
	for _, r := range all {
		k := key{r.Kind, r.Source, r.Target}
		groups[k] = append(groups[k], r)
	}
	var keys []key
	for k := range groups {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, func(a, b key) int {
		return slices.Compare([]string{a.kind, a.target, a.source}, []string{b.kind, b.target, b.source})
	})
	fmt.Println("| hop | adapter | prefix of | n | KL, nats a token (standard error) | same result | right, exact | right, overlay |")
	fmt.Println("|---|---|---|---|---|---|---|---|")
	for _, k := range keys {
		g := groups[k]
		n := float64(len(g))
		var mean, square, same, right, over float64
		for _, r := range g {
			mean, same, right, over = mean+r.KL/n, same+count(r.Same), right+count(r.Right), over+count(r.RightOver)
		}
		for _, r := range g {
			square += (r.KL - mean) * (r.KL - mean)
		}
		row := fmt.Sprintf("| %s | %s | %s | %d | %.4f (%.4f) | %.1f %% |", k.kind, k.target, k.source, len(g), mean, math.Sqrt(square/(n-1)/n), 100*same/n)
		if k.kind == "route" {
			row += fmt.Sprintf(" %.1f %% | %.1f %% |", 100*right/n, 100*over/n)
		} else {
			row += " - | - |"
		}
		fmt.Println(row)
	}
}

func count(b bool) float64 {
	if b {
		return 1
	}
	return 0
}
