package bench

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"macaron/cmd/macaron/cli"
	"macaron/internal/app"
	"macaron/internal/backend/upstream"
	"macaron/internal/bench/ui4a"
	"macaron/internal/bench/ui4a/exam"
	"macaron/internal/bench/ui4a/mutant"
	"macaron/internal/clock"
	"macaron/internal/disk"
	"macaron/internal/errs"
)

// benchCards is the flags of macaron bench ui4a.
type benchCards struct {
	check, list, reference, null, compare bool
	configured, tokens, pictures          bool
	cards, out, adapter                   string
	endpoint, model, key                  string // of a server that writes cards
	judge, judgeModel, judgeKey           string
	answers                               string // directory of kept answers of judges
	rescore, kind                         string
	tabs, mutants                         int
}

func newBenchUI4A(e *cli.Env) *cobra.Command {
	var b benchCards
	c := &cobra.Command{
		Use: "ui4a [CASE...]", Short: "Measure cards: compile, render, content, looks, use, constraints",
		Args: cli.Args(0, 1000, "names of cases, or their beginnings"),
		Long: "Get an answer to each case of UI4A-Bench, put the card on two screens of a real Chromium, use it as a person would, and score it\n" +
			"in five layers. Cards come from a directory (NAME.tsx, or NAME.md for a text), or are the hand-written references, or show nothing.",
		Example: "  macaron bench ui4a --check split-bill\n  macaron bench ui4a --reference --out runs/reference\n  macaron bench ui4a --cards ./cards --out runs/mine\n  macaron bench ui4a --compare runs/mine runs/reference",
		RunE: func(cmd *cobra.Command, names []string) error {
			if b.compare {
				return compareCards(e, names)
			}
			cases, err := ui4a.Cases(names...)
			if err != nil {
				return err
			}
			if !b.configured {
				return measureCards(cmd.Context(), e, b, cases, nil)
			}
			return e.WithApp(cmd, func(ctx context.Context, a *app.App) error {
				g, revision, err := a.BenchCards(ctx, b.adapter)
				if err != nil {
					return err
				}
				return measureCards(ctx, e, b, cases, exam.Model{Label: b.adapter, Generator: g, Revision: revision, Seed: 1, MaxTokens: longestCard})
			})
		},
	}
	f := c.Flags()
	f.BoolVar(&b.list, "list", false, "print the cases and do nothing else")
	f.BoolVar(&b.check, "check", false, "hold references and twins to every rule of their cases")
	f.BoolVar(&b.reference, "reference", false, "the hand-written cards answer")
	f.BoolVar(&b.null, "null", false, "a card that shows nothing answers")
	f.BoolVar(&b.compare, "compare", false, "set two runs side by side: their directories in the place of cases")
	f.BoolVar(&b.configured, "configured", false, "the model that is configured answers")
	f.StringVar(&b.adapter, "adapter", "L3", "of --configured: the adapter that writes cards")
	f.StringVar(&b.endpoint, "endpoint", "", "an OpenAI-compatible server answers: its address up to and including /v1")
	f.StringVar(&b.model, "model", "", "of --endpoint: the model's name there")
	f.StringVar(&b.key, "key-file", "", "of --endpoint: file with the credential")
	f.StringVar(&b.judge, "judge", "", "an OpenAI-compatible server answers questions about each card")
	f.StringVar(&b.judgeModel, "judge-model", "", "name of the judging model; without --judge its kept answers alone count")
	f.StringVar(&b.judgeKey, "judge-key-file", "", "of --judge: file with the credential")
	f.StringVar(&b.answers, "judge-answers", "", "directory in which answers of judges are kept and found again")
	f.BoolVar(&b.pictures, "judge-pictures", false, "of --judge: the model sees pictures")
	f.BoolVar(&b.tokens, "tokens", false, "print the tokens of cards and of the same as pages, and do nothing else")
	f.StringVar(&b.cards, "cards", "", "directory of answers: NAME.tsx, NAME.md")
	f.StringVar(&b.out, "out", "", "directory for results and evidence")
	f.IntVar(&b.mutants, "mutants", 0, "break this many references in each of a hundred ways, and see which layers drop")
	f.StringVar(&b.kind, "kind", "", "of --mutants: expression that names of kinds must match")
	f.StringVar(&b.rescore, "rescore", "", "score the run in this directory again from its evidence, without a browser; --judge-model: with another judge")
	f.IntVar(&b.tabs, "tabs", 2, "pages of the browser at once")
	return c
}

// longestCard bounds an answer in tokens.
const longestCard = 4000

// server is an OpenAI-compatible server with the credential in a file.
func server(url, model, keyFile string) (*upstream.Backend, error) {
	key := ""
	if keyFile != "" {
		b, err := os.ReadFile(keyFile)
		if err != nil {
			return nil, errs.Wrap(errs.NotFound, err, keyFile+" cannot be read", "")
		}
		key = strings.TrimSpace(string(b))
	}
	return upstream.New(upstream.Config{Name: model, URL: url, Key: key, Models: map[string]string{"": model}}), nil
}

// judges are who answers questions, where somebody is asked for.
func (b benchCards) judges() (exam.Judges, error) {
	if b.judgeModel == "" {
		return nil, nil
	}
	j := &exam.Judge{Label: b.judgeModel, Dir: b.answers, Pictures: b.pictures}
	if b.judge != "" {
		g, err := server(b.judge, b.judgeModel, b.judgeKey)
		if err != nil {
			return nil, err
		}
		j.Generator = g
	}
	return j, nil
}

// source is who answers.
func (b benchCards) source() (exam.Source, error) {
	switch {
	case b.reference:
		return exam.Reference{}, nil
	case b.null:
		return exam.Null{}, nil
	case b.cards != "":
		return exam.Directory{Path: b.cards}, nil
	case b.endpoint != "":
		g, err := server(b.endpoint, b.model, b.key)
		return exam.Model{Label: b.model, Generator: g, Seed: 1, MaxTokens: longestCard}, err
	}
	return nil, errs.New(errs.InvalidRequest, "whose cards?", "use --cards DIR, --reference, --null, --endpoint URL --model NAME, or --configured")
}

func measureCards(ctx context.Context, e *cli.Env, b benchCards, cases []*ui4a.Case, source exam.Source) error {
	if b.list {
		return listCases(e, cases)
	}
	if b.tokens {
		return cardTokens(e, cases)
	}
	if b.mutants > 0 {
		return mutants(ctx, e, b, cases)
	}
	began := clock.System{}.Now()
	o := exam.Options{Cases: cases, Tabs: b.tabs, Out: b.out, Began: began, Told: func(r exam.CaseResult) { tellCard(e, r) }}
	if b.check {
		return checkCases(ctx, e, o)
	}
	var err error
	if o.Judges, err = b.judges(); err != nil {
		return err
	}
	if b.rescore != "" {
		return rescoreCards(ctx, e, b, o)
	}
	if o.Source = source; source == nil {
		if o.Source, err = b.source(); err != nil {
			return err
		}
	}
	r, err := exam.Do(ctx, o)
	if err != nil {
		return err
	}
	r.Seconds = time.Since(began).Seconds()
	if b.out != "" {
		if err := saveCards(e, r, b.out); err != nil {
			return err
		}
	}
	return printCards(e, r)
}

func saveCards(e *cli.Env, r *exam.Run, dir string) error {
	if err := r.Save(dir); err != nil {
		return err
	}
	path, err := exam.WriteReport(dir)
	if err != nil {
		return err
	}
	fmt.Fprintln(e.Err, "the report is", path)
	return nil
}

// rescoreCards writes the result into --out, with a copy of the evidence, or over the old one.
func rescoreCards(ctx context.Context, e *cli.Env, b benchCards, o exam.Options) error {
	r, err := exam.Rescore(ctx, b.rescore, o.Cases, o.Judges)
	if err != nil {
		return err
	}
	dir := b.rescore
	if b.out != "" {
		dir = b.out
		if err := os.CopyFS(filepath.Join(dir, "cases"), os.DirFS(filepath.Join(b.rescore, "cases"))); err != nil {
			return disk.Error(err, "the evidence cannot be copied to "+dir)
		}
	}
	if err := saveCards(e, r, dir); err != nil {
		return err
	}
	return printCards(e, r)
}

// compareCards prints the differences of two runs and writes their page.
func compareCards(e *cli.Env, dirs []string) error {
	if len(dirs) != 2 {
		return errs.New(errs.InvalidRequest, "two runs are compared", "macaron bench ui4a --compare DIR DIR")
	}
	c, path, err := exam.Compare(dirs[0], dirs[1])
	if err != nil {
		return err
	}
	fmt.Fprintln(e.Err, "the page is", path)
	if e.JSON {
		return e.PrintJSON(c)
	}
	for _, d := range c.Rows {
		fmt.Fprintf(e.Out, "%-24s %s  %s  difference %s\n", d.Name, points(d.A), points(d.B), points(d.D))
	}
	printSwap(e, c.Swap)
	return nil
}

// printSwap tells what another judge answers otherwise.
func printSwap(e *cli.Env, s *exam.Swap) {
	if s == nil {
		return
	}
	fmt.Fprintf(e.Out, "judges %s and %s: %d questions about the same cards, yes %d and %d, %d answered otherwise\n", s.A, s.B, s.Asked, s.YesA, s.YesB, len(s.Changes))
	word := map[bool]string{true: "yes", false: "no"}
	for _, c := range s.Changes {
		fmt.Fprintf(e.Out, "  %s at %d, %s: %s %s (%q), then %s (%q)\n", c.Case, c.Width, c.Layer, c.Question, word[c.YesA], errs.Clip(c.QuoteA), word[!c.YesA], errs.Clip(c.QuoteB))
	}
}

// cardTokens prints how long cards are, and the same interfaces as pages.
func cardTokens(e *cli.Env, cases []*ui4a.Case) error {
	t, err := exam.Tokens(cases)
	if err != nil {
		return err
	}
	if e.JSON {
		return e.PrintJSON(t)
	}
	for _, s := range t.Sums {
		fmt.Fprintf(e.Out, "%-24s n = %d: cards %.0f, pages %.0f tokens (means), %.1f %%\n", s.Tokenizer, s.N, s.Card, s.Twin, 100*s.Ratio)
	}
	return nil
}

func listCases(e *cli.Env, cases []*ui4a.Case) error {
	type line struct {
		ID       string `json:"id"`
		Family   string `json:"family"`
		Language string `json:"language"`
		Card     bool   `json:"card"`
		Twin     bool   `json:"twin"`
		Steps    int    `json:"steps"`
	}
	var lines []line
	for _, c := range cases {
		lines = append(lines, line{c.ID, c.Family, c.Language, c.Wants(), c.Twin != "", len(c.Steps)})
		if !e.JSON {
			fmt.Fprintf(e.Out, "%-32s %-12s %s  %s\n", c.ID, c.Family, c.Language, strings.TrimSpace(firstLine(c.Request)))
		}
	}
	if e.JSON {
		return e.PrintJSON(lines)
	}
	return nil
}

// mutants prints a line for each kind of defect; one whose layer does not drop, or that
// drops another, is enough to fail.
func mutants(ctx context.Context, e *cli.Env, b benchCards, cases []*ui4a.Case) error {
	valid := 0
	like, err := regexp.Compile("(?i)" + b.kind)
	if err != nil {
		return errs.Wrap(errs.InvalidRequest, err, "--kind is no expression", "")
	}
	kinds := slices.DeleteFunc(mutant.Kinds(), func(k mutant.Kind) bool { return !like.MatchString(k.Layer + ", " + k.Name) })
	told := func(r exam.KindResult) {
		if r.Valid {
			valid++
		}
		if e.JSON {
			return
		}
		mark := map[bool]string{true: "ok  ", false: "FAIL"}[r.Valid]
		fmt.Fprintf(e.Out, "%s %-20s %-44s %2d of %2d, median %5.1f; others", mark, r.Layer, r.Kind, r.Dropped, r.N, r.Drop)
		for _, name := range ui4a.LayerNames {
			if v, ok := r.Others[name]; ok {
				fmt.Fprintf(e.Out, " %.1f", v)
			}
		}
		fmt.Fprintln(e.Out, " ", strings.Join(r.Missed, " "))
	}
	results, err := exam.Mutants(ctx, exam.MutantOptions{Cases: cases, Kinds: kinds, Each: b.mutants, Tabs: b.tabs, Out: b.out, Told: told})
	if err != nil {
		return err
	}
	if e.JSON {
		err = e.PrintJSON(results)
	} else {
		fmt.Fprintf(e.Out, "%d of %d kinds are valid\n", valid, len(kinds))
	}
	if err == nil && valid < len(kinds) {
		err = e.Behind(errs.New(errs.FormatInvalid, "the bench does not notice every defect, or not where it is", ""))
	}
	return err
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return errs.Clip(line)
}

// checkCases prints each rule that a reference or a twin does not meet; one is enough to fail.
func checkCases(ctx context.Context, e *cli.Env, o exam.Options) error {
	faults, r, err := exam.Check(ctx, o)
	if err != nil {
		return err
	}
	if e.JSON {
		err = e.PrintJSON(faults)
	} else {
		for _, f := range faults {
			fmt.Fprintln(e.Out, f)
		}
		fmt.Fprintf(e.Out, "%d cases, %d findings; composite of the references %.1f\n", len(r.Cases), len(faults), r.Summary.Composite.Mean)
	}
	if err == nil && len(faults) > 0 {
		err = e.Behind(errs.New(errs.FormatInvalid, "a reference or a twin does not meet its case", "mend the card, or what the case asks for"))
	}
	return err
}

// tellCard says on standard error what came of a case.
func tellCard(e *cli.Env, r exam.CaseResult) {
	fmt.Fprintf(e.Err, "%-32s %5.1f  %s\n", r.ID, r.Score, r.Failure)
}

func printCards(e *cli.Env, r *exam.Run) error {
	if e.JSON {
		return e.PrintJSON(r.Summary)
	}
	s := r.Summary
	fmt.Fprintf(e.Out, "Final Score %s (rules alone %s, phone alone %s), n = %d\n", points(s.Final), points(s.FinalRules), points(s.Mobile), s.Final.N)
	for _, name := range ui4a.LayerNames {
		if v := s.Layers[name]; v.N > 0 {
			fmt.Fprintf(e.Out, "  %-22s %s, n = %d\n", name, points(v), v.N)
		}
	}
	fmt.Fprintf(e.Out, "when to render %s, composite %s, repair rounds %.2f, failed %d, %.0f s\n", points(s.Decision), points(s.Composite), s.Rounds, s.Failed, r.Seconds)
	return nil
}

// points writes a mean with its interval.
func points(i exam.Interval) string {
	return fmt.Sprintf("%.1f [%.1f, %.1f]", i.Mean, i.Low, i.High)
}
