package forge

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"macaron/cmd/macaron/cli"
	"macaron/internal/auth"
	"macaron/internal/errs"
	"macaron/internal/jobs"
	"macaron/internal/mindforge/ledger"

	storejobs "macaron/internal/store/jobs"
)

func newForgeStatus(e *cli.Env) *cobra.Command {
	return &cobra.Command{Use: "status [RUN]", Short: "Tell how runs of the loop stand: stage, progress, the time that is left of it, what was spent", Args: cli.Args(0, 1, "a run"),
		Long: "Check the whole ledger, and tell how runs of the loop stand. Where the ledger is not what was written, that is told behind the runs, and\nwhat is told of them cannot be relied upon. Exit code 0: the ledger is as it was written; 7: it is not.",
		RunE: func(cmd *cobra.Command, given []string) error {
			return withForge(cmd.Context(), e, func(l *ledger.Ledger, q *storejobs.Queue) error {
				runs, checked, err := lookForge(cmd.Context(), l, q, given)
				if err != nil {
					return err
				}
				return showChecked(e, runs, checked)
			})
		}}
}

// checkedLedger is what a check of the whole ledger came to.
type checkedLedger struct {
	Entries int64         `json:"entries"`        // that are as they were written, from the first
	Head    string        `json:"head,omitempty"` // of the last of them, as N:HASH
	Error   *jobs.Failure `json:"error"`          // what is not; null: all of it is
}

// lookForge checks the ledger and tells how the runs stand that were asked for, or all. Of a damaged ledger
// what it says is told as well: what a person has to do, and what is not true any more, needs both.
func lookForge(ctx context.Context, l *ledger.Ledger, q *storejobs.Queue, given []string) (all []forgeStatus, c checkedLedger, err error) {
	byRun := map[string][]ledger.Entry{}
	head, damage := l.Check(ctx, auth.Local, func(x ledger.Entry) { byRun[x.Run] = append(byRun[x.Run], x) })
	if damage != nil && errs.CodeOf(damage) != errs.ChecksumMismatch {
		return nil, c, damage
	}
	if c.Entries = head.Seq; head.Seq > 0 {
		c.Head = fmt.Sprintf("%d:%s", head.Seq, head.Hash)
	}
	runs := given
	if len(runs) == 0 {
		if runs, err = l.Store.LedgerRuns(ctx, auth.Local, 100); err != nil {
			return nil, c, err
		}
	}
	all = []forgeStatus{}
	for _, run := range runs {
		var s forgeStatus
		if damage == nil {
			s, err = forgeOf(ctx, q, run, byRun[run])
		} else if s, err = forgeAt(ctx, l, q, run); err != nil && errs.CodeOf(err) != errs.NotFound {
			s, err = forgeStatus{Run: run, State: "unknown"}, nil // its entries cannot be read any more
		}
		if err != nil {
			return nil, c, err
		}
		all = append(all, s)
	}
	if damage != nil {
		x := errs.As(damage)
		c.Error = &jobs.Failure{Code: x.Code, Message: x.Message, Next: x.Next}
	}
	return all, c, nil
}

func showChecked(e *cli.Env, runs []forgeStatus, c checkedLedger) error {
	if e.JSON {
		if err := e.PrintJSON(map[string]any{"runs": runs, "ledger": c}); err != nil {
			return err
		}
	} else if err := tellForge(e, runs); err != nil {
		return err
	}
	switch {
	case c.Error != nil && !e.JSON:
		fmt.Fprintf(e.Out, "the ledger is damaged, and what is told here cannot be relied upon (%s): %s\n  %s\n  as they were written: the first %d entries\n", c.Error.Code, c.Error.Message, c.Error.Next, c.Entries)
	case c.Entries > 0 && !e.JSON:
		fmt.Fprintf(e.Out, "the ledger is as it was written: %d entries, head %s\n", c.Entries, c.Head)
	}
	if c.Error != nil {
		return cli.Reported(c.Error.Code)
	}
	return nil
}
