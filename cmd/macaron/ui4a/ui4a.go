// Package ui4a is `macaron ui4a`: files of cards, checked, built, shown and exported.
package ui4a

import (
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"macaron/cmd/macaron/cli"
	"macaron/internal/disk"
	"macaron/internal/errs"
	"macaron/internal/ui4a"
	"macaron/internal/ui4a/compile"
)

// New gives the commands of ui4a.
func New(e *cli.Env) *cobra.Command {
	return cli.Noun("ui4a", "Compile, check, look at, photograph and export cards", newUI4ABuild(e), newUI4ACheck(e), newUI4AExport(e), newUI4APrompt(e), newUI4AServe(e), newUI4AShot(e))
}

func newUI4ABuild(e *cli.Env) *cobra.Command {
	var out string
	c := &cobra.Command{
		Use: "build FILE", Short: "Compile a card to one script", Args: cli.Args(1, 1, "the card's file; - for standard input"),
		Long: "Compiles a card to the script that the runtime loads, and prints what is wrong with it to the standard error.\n" +
			"A card that cannot run gives no script and exit code 2.",
		Example: "  macaron ui4a build budget.ui4a.tsx -o budget.js\n  macaron ui4a build - < card.tsx",
		RunE:    func(_ *cobra.Command, given []string) error { return buildCard(e, given[0], out) },
	}
	c.Flags().StringVarP(&out, "output", "o", "", "file to write; standard output otherwise")
	return c
}

// cardReport is what --json prints of one card.
type cardReport struct {
	File     string            `json:"file"`
	OK       bool              `json:"ok"` // no error; warnings do not count
	Revision string            `json:"revision"`
	Imports  []string          `json:"imports"`
	Keys     []compile.Key     `json:"keys"`
	Findings []ui4a.Diagnostic `json:"findings"`
	Script   string            `json:"script,omitempty"`
	Output   string            `json:"output,omitempty"`
}

// readCard reads a card's source: a file, or standard input for -.
func readCard(e *cli.Env, file string) (string, error) {
	in := e.In
	if file != "-" {
		f, err := os.Open(file)
		if err != nil {
			return "", errs.Wrap(errs.NotFound, err, file+" cannot be opened", "name the card's file; - for standard input")
		}
		defer f.Close() // read-only
		in = f
	}
	b, err := io.ReadAll(io.LimitReader(in, ui4a.MaxSource+1)) // one more, so that the compiler tells of it
	return string(b), errs.Wrap(errs.StorageFailed, err, file+" cannot be read", "name a file")
}

func compileCard(e *cli.Env, file string) (compile.Result, cardReport, error) {
	source, err := readCard(e, file)
	if err != nil {
		return compile.Result{}, cardReport{}, err
	}
	r, found := compile.Compile(source, compile.Options{})
	return r, cardReport{
		File: file, OK: !ui4a.Failed(found), Revision: string(r.Revision),
		Imports: listed(r.Imports), Keys: listed(r.Keys), Findings: listed(found),
	}, nil
}

// listed makes of no list an empty one, which JSON has as [].
func listed[T any](list []T) []T { return append([]T{}, list...) }

func buildCard(e *cli.Env, file, out string) error {
	r, report, err := compileCard(e, file)
	if err != nil {
		return err
	}
	report.Output = out
	if out != "" && r.JS != "" {
		if err := disk.Replace(out, []byte(r.JS), 0o644); err != nil {
			return err
		}
	}
	if out == "" {
		report.Script = r.JS
	}
	if e.JSON {
		if err := e.PrintJSON(report); err != nil {
			return err
		}
	} else {
		printFindings(e.Err, report)
		fmt.Fprint(e.Out, report.Script)
	}
	if r.JS == "" {
		return e.Behind(badCards(1, 1))
	}
	return nil
}

func newUI4ACheck(e *cli.Env) *cobra.Command {
	return &cobra.Command{
		Use: "check FILE...", Short: "Say what is wrong with cards", Args: cli.Args(1, 10000, "the cards' files; - for standard input"),
		Long: "Compiles cards and applies the rules of docs/formats/ui4a.md; nothing is run. Each finding is a line:\n" +
			"FILE:LINE:COLUMN: severity: message [code]; fix. Exit code 0 says that no card has an error, 2 that one has; warnings do not count.",
		Example: "  macaron ui4a check cards/*.tsx\n  macaron ui4a check --json - < card.tsx",
		RunE:    func(_ *cobra.Command, given []string) error { return checkCards(e, given) },
	}
}

func checkCards(e *cli.Env, files []string) error {
	reports, bad := []cardReport{}, 0
	for _, file := range files {
		_, report, err := compileCard(e, file)
		if err != nil {
			return err
		}
		if !report.OK {
			bad++
		}
		reports = append(reports, report)
		if !e.JSON {
			printFindings(e.Out, report)
		}
	}
	if e.JSON {
		if err := e.PrintJSON(map[string]any{"ok": bad == 0, "cards": reports}); err != nil {
			return err
		}
	}
	if bad > 0 {
		return e.Behind(badCards(bad, len(files)))
	}
	if !e.JSON {
		fmt.Fprintf(e.Out, "%d of %d cards are good\n", len(files), len(files))
	}
	return nil
}

func badCards(bad, all int) error {
	return errs.New(errs.InvalidRequest, fmt.Sprintf("%d of %d cards have errors", bad, all), "each finding says what to write instead")
}

// printFindings prints a line for each finding.
func printFindings(w io.Writer, r cardReport) {
	var b strings.Builder
	for _, d := range r.Findings {
		fmt.Fprintf(&b, "%s:%s\n", r.File, d)
	}
	fmt.Fprint(w, b.String())
}
