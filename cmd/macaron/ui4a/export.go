package ui4a

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"

	"macaron/cmd/macaron/cli"
	"macaron/internal/browser"
	"macaron/internal/errs"
	"macaron/internal/ui4a/a2ui"
	"macaron/internal/ui4a/serve"
)

func newUI4AExport(e *cli.Env) *cobra.Command {
	var to, surface string
	var strict bool
	c := &cobra.Command{
		Use: "export FILE", Short: "Write a card as messages of A2UI", Args: cli.Args(1, 1, "the card's file; - for standard input"),
		Long: "Draws a card in a headless Chromium, uses each of its controls once, and prints what it shows as messages of A2UI v0.9,\n" +
			"a line of JSON for each. What A2UI cannot carry is listed on the standard error, by name (docs/formats/ui4a-hosts.md).",
		Example: "  macaron ui4a export budget.ui4a.tsx --to a2ui > budget.jsonl\n  macaron ui4a export --to a2ui --strict --json - < card.tsx",
		RunE: func(cmd *cobra.Command, given []string) error {
			if to != "a2ui" {
				return errs.New(errs.InvalidRequest, "cards cannot be exported as "+errs.Clip(to), "--to takes a2ui").In("to")
			}
			return exportCard(cmd.Context(), e, given[0], surface, strict)
		},
	}
	c.Flags().StringVar(&to, "to", "a2ui", "what to write: a2ui")
	c.Flags().StringVar(&surface, "surface", "card", "name of the surface in the messages")
	c.Flags().BoolVar(&strict, "strict", false, "fail (exit code 5) if anything is lost")
	return c
}

func exportCard(ctx context.Context, e *cli.Env, file, surface string, strict bool) error {
	source, err := readCard(e, file)
	if err != nil {
		return err
	}
	out, err := exportA2UI(ctx, source, surface)
	if err != nil {
		return err
	}
	if err := printExport(e, file, out); err != nil {
		return err
	}
	if strict && len(out.Loss) > 0 {
		return e.Behind(errs.New(errs.Unsupported, fmt.Sprintf("A2UI does not carry %d parts of the card", len(out.Loss)), "leave --strict away to take what it does carry"))
	}
	return nil
}

func printExport(e *cli.Env, file string, out a2ui.Export) error {
	if e.JSON {
		return e.PrintJSON(map[string]any{"file": file, "to": "a2ui", "version": a2ui.Version, "messages": out.Messages, "loss": out.Loss})
	}
	for _, m := range out.Messages {
		line, err := json.Marshal(m)
		if err != nil {
			return err
		}
		fmt.Fprintf(e.Out, "%s\n", line)
	}
	for _, l := range out.Loss {
		fmt.Fprintf(e.Err, "lost: %s %q: %s\n", l.Kind, l.Name, l.Note)
	}
	return nil
}

// exportA2UI draws a card on a page of this machine.
func exportA2UI(ctx context.Context, source, surface string) (a2ui.Export, error) {
	url, end, err := listenCard(serve.New(cardSurface, func() (string, error) { return source, nil }), 0)
	if err != nil {
		return a2ui.Export{}, err
	}
	defer end()
	b, err := browser.Start(ctx)
	if err != nil {
		return a2ui.Export{}, err
	}
	defer b.Close()
	p, err := b.Page(browser.View{Width: 390, Height: tallest})
	if err != nil {
		return a2ui.Export{}, err
	}
	defer p.Close()
	return a2ui.Draw(p, url+"/?shot&theme=light", surface)
}
