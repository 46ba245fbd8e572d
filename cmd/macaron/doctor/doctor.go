// Package doctor is `macaron doctor`, which looks for what is wrong on this machine, and
// `macaron health`.
package doctor

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"macaron/cmd/macaron/cli"
	"macaron/internal/config"
	"macaron/internal/errs"
)

// finding is the result of one check.
type finding struct {
	Check  string    `json:"check"`
	Status string    `json:"status"` // ok, note or problem
	Detail string    `json:"detail"`
	Next   string    `json:"next,omitempty"`
	Code   errs.Code `json:"code,omitempty"` // of a problem
}

func ok(check, format string, args ...any) finding {
	return finding{Check: check, Status: "ok", Detail: fmt.Sprintf(format, args...)}
}

// note is worth knowing and keeps nothing from working.
func note(check, detail, next string) finding {
	return finding{Check: check, Status: "note", Detail: detail, Next: next}
}

func problem(check string, err error) finding {
	e := errs.As(err)
	return finding{Check: check, Status: "problem", Detail: e.Message, Next: e.Next, Code: e.Code}
}

// New gives `macaron doctor`.
func New(e *cli.Env) *cobra.Command {
	return &cobra.Command{
		Use: "doctor", Short: "Check this machine and say what to do", Args: cli.NoArgs,
		Long: "Checks the processor, the state directory and who can read it, the disk, the clock, keys and certificate,\n" +
			"the log's database, the model, the contract and its adapters, the port, what fetching needs, and each\n" +
			"engine below: what it is, and whether it has the adapters. The exit code is that of the first problem.",
		RunE: func(cmd *cobra.Command, _ []string) error { return doctor(cmd.Context(), e) },
	}
}

func doctor(ctx context.Context, e *cli.Env) error {
	var list []finding
	c, err := e.Config()
	if err != nil {
		list = []finding{checkProcessor(), problem("settings", err)}
	} else {
		list = examine(ctx, c)
	}
	if e.JSON {
		if err := e.PrintJSON(list); err != nil {
			return err
		}
	} else if err := showFindings(e, list); err != nil {
		return err
	}
	return verdict(list)
}

// examine makes every check, whatever the others find.
func examine(ctx context.Context, c config.Config) []finding {
	list := []finding{checkProcessor(), ok("settings", "read; macaron config show lists them")}
	list = append(list, checkHome(c)...)
	list = append(list, checkKeys(ctx, c))
	list = append(list, checkStore(ctx, c)...)
	list = append(list, checkCertificate(c)...)
	list = append(list, checkStrays(c)...)
	model := checkModel(c)
	list = append(list, model)
	list = append(list, checkContract(c)...)
	list = append(list, checkPort(ctx, c), checkPython(ctx, c, model.Status == "ok"))
	list = append(list, checkEngines(ctx, c)...)
	list = append(list, checkSandbox(ctx, c)...)
	return list
}

func showFindings(e *cli.Env, list []finding) error {
	for _, f := range list {
		fmt.Fprintf(e.Out, "%-8s %-10s %s\n", f.Status, f.Check, f.Detail)
		if f.Next != "" {
			fmt.Fprintf(e.Out, "%-19s %s\n", "", "-> "+f.Next)
		}
	}
	return nil
}

func verdict(list []finding) error {
	for _, f := range list {
		if f.Status == "problem" {
			return cli.Reported(f.Code)
		}
	}
	return nil
}
