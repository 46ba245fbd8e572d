// Package hcp is `macaron hcp`: contracts read, compared, signed and packed.
package hcp

import (
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"macaron/cmd/macaron/cli"
	"macaron/cmd/macaron/run"
	"macaron/internal/contract"
	"macaron/internal/contract/molprofile"
	"macaron/internal/disk"
	"macaron/internal/errs"
)

// New gives the commands of hcp.
func New(e *cli.Env) *cobra.Command {
	return cli.Noun("hcp", "Make, check, compare, sign and move harness contracts", newHCPInit(e), newHCPCheck(e), newHCPShow(e), newHCPDiff(e), newHCPHash(e), newHCPKeygen(e), newHCPSign(e),
		newHCPVerify(e), newHCPPack(e), newHCPUnpack(e), newHCPMigrate(e), newHCPRelease(e), run.NewHCPAudit(e), newImportMol(e))
}

func newImportMol(e *cli.Env) *cobra.Command {
	var o molprofile.Options
	var out string
	c := &cobra.Command{
		Use:   "import-mol DIR",
		Short: "Turn a Python harness's profile into a contract",
		Long: "Read lora.md, route.md, intro.md and summary.md of a profile and write a contract; its adapters are\n" +
			"models of an upstream, and its prompts are built as that harness builds them. What neither has is taken from\n" +
			"the configured contract. What cannot be carried over is told line by line.",
		Example: "  macaron hcp import-mol profiles/My-Model --base my-base --default L2 -o macaron.toml",
		Args:    cli.Args(1, 1, "the directory of the profile"),
		RunE:    func(_ *cobra.Command, given []string) error { return importMol(e, given[0], out, o) },
	}
	c.Flags().StringVar(&o.Name, "model-name", "", "name for {{MODEL_NAME}}; the directory's name otherwise")
	c.Flags().StringVar(&o.Base, "base", "", "name of the base model, for {{BASE_MODEL}} and model.base (required)")
	c.Flags().StringVar(&o.Default, "default", "", "label that takes turns when routing fails; the first otherwise")
	c.Flags().BoolVar(&o.Quoted, "quoted", false, "route prompts with the request quoted, after the instruction: for another router than the profile's")
	c.Flags().StringVarP(&out, "output", "o", "", "file to write, which must not exist; standard output otherwise")
	return c
}

func importMol(e *cli.Env, dir, out string, o molprofile.Options) error {
	if o.Base == "" {
		return errs.New(errs.InvalidRequest, "--base is missing", "name the base model that the adapters were made for")
	}
	c, err := e.Config()
	if err != nil {
		return err
	}
	if o.Like, err = contract.Load(c.Contract); err != nil {
		return err
	}
	text, notes, err := molprofile.Import(dir, o)
	if err != nil {
		return err
	}
	if out != "" {
		if _, err := os.Lstat(out); err == nil {
			return errs.New(errs.InvalidRequest, out+" exists", "name another file with -o")
		}
		if err := disk.Replace(out, text, 0o644); err != nil {
			return err
		}
	}
	taken := []string{"prompts.tools", "router.min_probability", "router.context_chars", "router.sticky_margin", "router.shortlist", "budgets.summary_wait_ms"}
	if o.Quoted {
		taken = []string{"prompts.foreign", "prompts.tools", "router", "budgets", "sampling"}
	}
	if e.JSON {
		return e.PrintJSON(map[string]any{"contract": string(text), "output": out, "notes": notes, "from_configured": taken})
	}
	if out == "" {
		fmt.Fprint(e.Out, string(text))
	}
	for _, n := range notes {
		fmt.Fprintf(e.Err, "%s:%d: %s\n", n.File, n.Line, n.What)
	}
	fmt.Fprintf(e.Err, "from %s: %s\n", c.Contract, strings.Join(taken, ", "))
	return nil
}
