package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"macaron/internal/axe"
	"macaron/internal/bench/ui4a"
	"macaron/internal/bench/ui4a/stage"
	"macaron/internal/browser"
	words "macaron/internal/ui4a"
	"macaron/test/eval"
)

// look compiles the cards, shows them in Chromium, and looks for what must be there.
func look(ctx context.Context, requests []request, all []answer) error {
	b, err := browser.Start(ctx)
	if err != nil {
		return err
	}
	defer b.Close()
	s, err := stage.Open(b, axe.Script)
	if err != nil {
		return err
	}
	defer s.Close()
	t, err := s.Tab()
	if err != nil {
		return err
	}
	defer t.Close()
	for i := range all {
		r := requests[slices.IndexFunc(requests, func(r request) bool { return r.Say == all[i].Say })]
		if err := all[i].look(ctx, t, r); err != nil {
			return fmt.Errorf("%s: %w", r.Say, err)
		}
	}
	return nil
}

// look judges one answer by the first card in it.
func (a *answer) look(ctx context.Context, t *stage.Tab, r request) error {
	blocks := words.SplitFences(a.Text)
	at := slices.IndexFunc(blocks, func(b words.Block) bool { return b.Card })
	if a.Card = at >= 0; !a.Card {
		return nil
	}
	e, err := t.Card(ctx, r.asCase(), blocks[at].Text, ui4a.Views[1], nowhere{})
	a.Compiles, a.Checks = e.Compiled, e.Compiled && !words.Failed(e.Findings)
	a.Mounts = e.Mounted && !slices.ContainsFunc(e.Events, func(x browser.Event) bool { return x.Kind == "error" || x.Kind == "exception" || x.Kind == "policy" })
	if err != nil || !a.Mounts {
		a.Missing = append(a.Missing, e.Failure)
		return err
	}
	a.Missing = missing(r, e)
	a.Shows = a.Checks && len(a.Missing) == 0
	return nil
}

// missing lists the facts that cannot be read, and the control or chart that is not there.
func missing(r request, e ui4a.Evidence) (out []string) {
	layers := r.asCase().Layers(e, nil)
	content := layers[slices.IndexFunc(layers, func(l ui4a.Layer) bool { return l.Name == ui4a.Content })]
	for _, f := range content.Checks[0].Findings {
		if f.Pass < 1 {
			out = append(out, f.What)
		}
	}
	has := slices.ContainsFunc(e.Start.Widgets, func(w ui4a.Widget) bool { return w.Role == r.Role }) ||
		slices.ContainsFunc(e.Roles, func(x ui4a.Element) bool { return x.Role == r.Role })
	switch {
	case r.Role == "chart" && e.Charts == 0, r.Role != "" && r.Role != "chart" && !has:
		out = append(out, "no "+r.Role)
	}
	return out
}

// nowhere keeps no pictures.
type nowhere struct{}

func (nowhere) Keep(string, []byte) (string, error) { return "", nil }

// report prints the table of both arms.
func report(all []answer) {
	var arms []string
	for _, a := range all {
		if !slices.Contains(arms, a.Arm) {
			arms = append(arms, a.Arm)
		}
	}
	fmt.Println("| | " + strings.Join(arms, " | ") + " |\n|---|" + strings.Repeat("---|", len(arms)))
	for _, row := range []struct {
		name string
		of   func(answer) bool // which answers
		is   func(answer) bool
	}{
		{"a card where one is right", wanted, func(a answer) bool { return a.Card }},
		{"it compiles", wanted, func(a answer) bool { return a.Compiles }},
		{"it passes `macaron ui4a check`", wanted, func(a answer) bool { return a.Checks }},
		{"it is drawn without an error", wanted, func(a answer) bool { return a.Mounts }},
		{"it has all that was asked for", wanted, func(a answer) bool { return a.Shows }},
		{"no card where none is right", func(a answer) bool { return !a.Wanted }, func(a answer) bool { return !a.Card }},
		{"cut by max_tokens", func(answer) bool { return true }, func(a answer) bool { return a.Cut }},
	} {
		cells := []string{row.name}
		for _, arm := range arms {
			n, hits := 0, 0
			for _, a := range all {
				if a.Arm == arm && row.of(a) {
					n++
					if row.is(a) {
						hits++
					}
				}
			}
			cells = append(cells, eval.Share(hits, n))
		}
		fmt.Println("| " + strings.Join(cells, " | ") + " |")
	}
	if len(arms) == 2 {
		paired(all)
	}
}

func wanted(a answer) bool { return a.Wanted }

// paired prints how the arms differ on the same requests and seeds.
func paired(all []answer) {
	half := len(all) / 2
	var diffs []float64
	tokens, ms := [2]int{}, [2]float64{}
	for i, a := range all[:half] {
		b := all[half+i]
		tokens[0], tokens[1] = tokens[0]+a.Tokens, tokens[1]+b.Tokens
		ms[0], ms[1] = ms[0]+a.MS, ms[1]+b.MS
		if a.Wanted {
			diffs = append(diffs, 100*(one01(a.Shows)-one01(b.Shows)))
		}
	}
	mean, low, high := eval.Paired(diffs, 0.95)
	fmt.Printf("\nAll that was asked for, grammar less free: %+.1f points (%+.1f - %+.1f). Tokens an answer: %.0f and %.0f; milliseconds a token, %d at once: %.1f and %.1f.\n",
		mean, low, high, float64(tokens[0])/float64(half), float64(tokens[1])/float64(half), parallel, ms[0]/float64(max(tokens[0], 1)), ms[1]/float64(max(tokens[1], 1)))
}

func one01(yes bool) float64 {
	if yes {
		return 1
	}
	return 0
}
