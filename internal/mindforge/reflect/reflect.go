// Package reflect has a model propose edits: it is shown what a contract failed at, with the
// evidence, and names one change. Where a search takes committed edits only, the model's
// answer is one letter, which the engine holds it to; where texts are free, it is JSON, which
// is read as data of a stranger.
package reflect

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"macaron/internal/adapter"
	"macaron/internal/backend"
	"macaron/internal/chat"
	"macaron/internal/errs"
	"macaron/internal/mindforge/edit"
	"macaron/internal/mindforge/expansion"
)

// Model is a proposer that asks a model.
type Model struct {
	Called    string // by which candidates name it
	Generator backend.Generator
	Revision  adapter.Revision // zero: the base
	Free      *edit.Catalogue  // whose free choices may be written; nil: letters only
}

// Name implements expansion.Proposer.
func (m Model) Name() string { return m.Called }

// Propose implements expansion.Proposer.
func (m Model) Propose(ctx context.Context, a expansion.Ask) (expansion.Proposal, error) {
	if a.Free && m.Free != nil {
		return m.write(ctx, a)
	}
	return m.choose(ctx, a)
}

const (
	letters  = 8   // options that are shown
	evidence = 4   // failures that are shown
	shown    = 160 // bytes of a line
)

// choose shows some options, those that are meant for what failed first, and has one letter
// drawn by its probability. The prediction is made of the evidence: one letter has none.
func (m Model) choose(ctx context.Context, a expansion.Ask) (expansion.Proposal, error) {
	options := shortlist(a)
	if len(options) == 0 {
		return expansion.Proposal{}, expansion.NoMore()
	}
	var b strings.Builder
	failures(&b, a)
	b.WriteString("Changes that can be made:\n")
	labels := make([]string, len(options))
	for i, o := range options {
		labels[i] = string(rune('A' + i))
		fmt.Fprintf(&b, "%s: %s\n", labels[i], cut(said(o)))
	}
	b.WriteString("Which one change helps most? Answer with its letter.")
	one, seed := 1.0, int64(a.Seed>>1) //nolint:gosec // any bits are a seed
	got, err := m.ask(ctx, backend.Request{Messages: []chat.Message{chat.Text(chat.User, b.String())}, Choices: labels,
		Sampling: chat.Sampling{Temperature: &one, Seed: &seed}, Decoding: backend.Decoding{DrawChoice: true}})
	if err != nil {
		return expansion.Proposal{}, err
	}
	i := slices.Index(labels, strings.TrimSpace(got))
	if i < 0 {
		return expansion.Proposal{}, errs.New(errs.FormatInvalid, "the model named no change: "+errs.Clip(got), "")
	}
	return expansion.Proposal{Edit: options[i].Edit, Prediction: expansion.Expect(a, options[i])}, nil
}

// said is what an option does, in words.
func said(o expansion.Option) string {
	if strings.HasPrefix(o.Edit.Kind, "prompt.") && o.Edit.Value != "" {
		return "say: " + o.Edit.Value
	}
	return o.About + " (" + o.Edit.Component + " " + strings.Join(strings.Fields(o.Edit.Value), " ") + ")"
}

// shortlist draws options that can be made: those for classes that were seen, then others; a tool
// that the evidence names goes before all.
func shortlist(a expansion.Ask) []expansion.Option {
	r := rand.New(rand.NewPCG(a.Seed, 0x73686f72)) //nolint:gosec // a search is no secret
	rank := func(o expansion.Option) int {
		best := 2
		for _, t := range a.Traces {
			name, tool := strings.CutPrefix(o.Edit.Component, "tools.")
			switch {
			case t.Pass || !o.Meant(t.Failure):
			case tool && strings.Contains(strings.Join(t.Evidence, " "), name):
				return 0
			default:
				best = 1
			}
		}
		return best
	}
	out := make([]expansion.Option, len(a.Options))
	ranks := make(map[int]int, len(out))
	for i, at := range r.Perm(len(out)) {
		out[i] = a.Options[at]
		ranks[i] = rank(out[i])
	}
	order := make([]int, len(out))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(x, y int) int { return ranks[x] - ranks[y] })
	short := make([]expansion.Option, 0, letters)
	for _, i := range order {
		if len(short) < letters && (a.Takes == nil || a.Takes(out[i].Edit)) {
			short = append(short, out[i])
		}
	}
	r.Shuffle(len(short), func(i, j int) { short[i], short[j] = short[j], short[i] }) // a letter tells nothing
	return short
}

// failures tells what went wrong.
func failures(b *strings.Builder, a expansion.Ask) {
	b.WriteString("An assistant failed at tasks:\n")
	n := 0
	for _, t := range a.Traces {
		if t.Pass || n == evidence {
			continue
		}
		n++
		fmt.Fprintf(b, "- %s: %s\n", t.Failure, cut(strings.Join(t.Evidence, "; ")))
	}
	if n == 0 {
		b.WriteString("- none was seen so far\n")
	}
}

func cut(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	if len(s) > shown {
		s = strings.ToValidUTF8(s[:shown], "") + " ..."
	}
	return s
}

// ask collects one answer.
func (m Model) ask(ctx context.Context, q backend.Request) (string, error) {
	q.Revision, q.Quiet, q.Salt = m.Revision, true, "reflect"
	var all backend.Collected
	for e, err := range m.Generator.Generate(ctx, q) {
		if err != nil {
			return "", err
		}
		all.Add(e)
	}
	if all.Choice != nil {
		return all.Choice.Label, nil
	}
	msg := all.Message()
	return msg.Text(), nil
}
