// Package run is `macaron run`: tasks that the model works on with tools.
package run

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"macaron/cmd/macaron/cli"
	"macaron/internal/app"
	"macaron/internal/auth"
	"macaron/internal/disk"
	"macaron/internal/errs"
	"macaron/internal/money"
	"macaron/internal/record"

	runsapi "macaron/internal/wire/runs"
)

// New gives the commands of run.
func New(e *cli.Env) *cobra.Command {
	return cli.Noun("run", "Run tasks: a model acts under the contract, with tools",
		newRunStart(e), newRunList(e), newRunShow(e), newRunExport(e), newRunResume(e), newRunCancel(e), newRunApprove(e), newRunJudge(e))
}

// taskRun is a run as the API shows it.
type taskRun struct {
	ID     string           `json:"id"`
	Status record.RunStatus `json:"status"`
	Reason string           `json:"reason"`
	Answer string           `json:"answer"`
	Totals record.RunTotals `json:"totals"`
	Waits  *struct {
		Call      string          `json:"call"`
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
	} `json:"waits"`

	raw []byte
}

func newRunStart(e *cli.Env) *cobra.Command {
	var file, mode, files, suite, purpose, consent string
	var limits record.RunLimits
	var seed uint64
	var detach bool
	c := &cobra.Command{
		Use:   "start [TASK]",
		Short: "Run a task",
		Long: "Run a task under the contract and print its answer. The Macaron that serves here does it, if one does;\n" +
			"else this process, and --detach needs the former. Exit code 0 means that the run is done, 11 that it ended otherwise,\n12 that it waits for a person.",
		Example: "  macaron run start 'list the files and say which is the largest' --files ./data\n  macaron run start --task task.md --mode hybrid --max-turns 8\n  macaron run start 'tidy up' --detach --json",
		Args:    cli.Args(0, 1, "one task, or --task FILE"),
		RunE: func(cmd *cobra.Command, given []string) error {
			text, err := task(e, given, file)
			if err != nil {
				return err
			}
			body := map[string]any{"instruction": text, "limits": nonZero(limits), "seed": seed}
			for name, v := range map[string]string{"mode": mode, "suite": suite, "purpose": purpose, "consent": consent} {
				if v != "" {
					body[name] = v
				}
			}
			if body["files"], err = readTree(files); err != nil {
				return err
			}
			return onRun(e, cmd, detach, func(ctx context.Context, c *cli.Client) (*taskRun, error) {
				if e.Flags["contract"] != "" && c.Other {
					return nil, errs.New(errs.InvalidRequest, "the Macaron that serves at "+c.Base+" acts under its own contract, not under the one of --contract",
						"leave --contract out, or name another --home and --listen for a process of its own")
				}
				return posted(ctx, c, "/v1/runs", body)
			})
		},
	}
	f := c.Flags()
	f.StringVar(&file, "task", "", "file with the task; - is standard input")
	f.StringVar(&mode, "mode", "", "functions, repl or hybrid; the contract's by default")
	f.StringVar(&files, "files", "", "directory whose files are put into the workspace")
	f.StringVar(&suite, "suite", "", "name of the suite that the task is of")
	f.StringVar(&purpose, "purpose", "", "production, evaluation, discovery, training or replay; production by default")
	f.StringVar(&consent, "consent", "", "train: a run of production may be trained on; none by default")
	f.Uint64Var(&seed, "seed", 0, "seed of sampling and of Python")
	f.IntVar(&limits.Turns, "max-turns", 0, "model calls at most; like the next ones, it lowers the contract's bound")
	f.IntVar(&limits.Tokens, "max-tokens", 0, "tokens of all model calls at most")
	f.IntVar(&limits.ToolCalls, "max-tool-calls", 0, "tool calls at most")
	f.Int64Var(&limits.WallMS, "max-wall-ms", 0, "milliseconds at most")
	f.TextVar(&limits.CostUSD, "max-cost-usd", money.USD(0), "US dollars at most, by the prices of config.toml")
	f.BoolVar(&detach, "detach", false, "do not wait for the end")
	return c
}

// nonZero leaves out the bounds that were not given.
func nonZero(l record.RunLimits) map[string]any {
	out := map[string]any{}
	if text, err := json.Marshal(l); err == nil {
		_ = json.Unmarshal(text, &out) // its own text
	}
	return out
}

// task reads the task from the command line, a file or standard input.
func task(e *cli.Env, given []string, file string) (string, error) {
	switch {
	case len(given) == 1 && file == "":
		return given[0], nil
	case file == "" || len(given) == 1:
		return "", errs.New(errs.InvalidRequest, "there is no task, or there are two", "give one as the argument, or a file with --task")
	}
	in := e.In
	if file != "-" {
		f, err := os.Open(file)
		if err != nil {
			return "", disk.OpenError(err, "the task "+file+" cannot be opened", "")
		}
		defer f.Close() // read-only
		in = f
	}
	text, err := io.ReadAll(io.LimitReader(in, 1<<20+1))
	return string(text), disk.Error(err, "the task cannot be read")
}

// readTree reads the files below a directory, as the API takes them.
func readTree(dir string) (map[string]any, error) {
	if dir == "" {
		return nil, nil
	}
	out, total := map[string]any{}, 0
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if total += len(b); total > 6<<20 {
			return errs.New(errs.TooLarge, "the files in "+dir+" are more than 6 MiB", "give fewer")
		}
		name, err := filepath.Rel(dir, path)
		if utf8.Valid(b) {
			out[filepath.ToSlash(name)] = string(b)
		} else {
			out[filepath.ToSlash(name)] = map[string]any{"base64": b}
		}
		return err
	})
	if err != nil && errs.CodeOf(err) == errs.Internal {
		err = disk.OpenError(err, "the files in "+dir+" cannot be read", "")
	}
	return out, err
}

func newRunList(e *cli.Env) *cobra.Command {
	var limit int
	var owner string
	c := &cobra.Command{
		Use: "list", Short: "List runs, the newest first", Args: cli.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return e.WithStore(cmd.Context(), func(s app.Store) error {
				list, err := s.Runs(cmd.Context(), owner, "", limit)
				if err != nil {
					return err
				}
				if e.JSON {
					return e.PrintJSON(runsapi.List(list, limit))
				}
				rows := [][]string{{"RUN", "STATUS", "MODE", "OPENED", "TASK"}}
				for _, r := range list {
					rows = append(rows, []string{r.Run, string(r.Status), r.Mode, r.Opened.Format(time.DateTime), r.Title})
				}
				return e.Table(rows...)
			})
		},
	}
	c.Flags().IntVar(&limit, "limit", 50, "runs at most")
	c.Flags().StringVar(&owner, "tenant", auth.Local, "whose runs")
	return c
}

func newRunResume(e *cli.Env) *cobra.Command {
	var d struct {
		Retry      string `json:"retry,omitempty"`
		AssumeDone string `json:"assume_done,omitempty"`
	}
	var detach bool
	c := &cobra.Command{
		Use: "resume RUN", Short: "Go on with a run that stands still", Args: cli.Args(1, 1, "a run"),
		Long: "Go on with a run that was stopped, waits, or is in doubt. Calls that are on record are not made again.\n" +
			"A call that began and has no result may have taken effect: see whether it has, then say so.",
		Example: "  macaron run resume run_01J...\n  macaron run resume run_01J... --assume-done call_1f...",
		RunE: func(cmd *cobra.Command, given []string) error {
			if err := stands(cmd.Context(), e, given[0]); err != nil {
				return err
			}
			return onRun(e, cmd, detach, func(ctx context.Context, c *cli.Client) (*taskRun, error) {
				return posted(ctx, c, "/v1/runs/"+given[0]+"/resume", d)
			})
		},
	}
	c.Flags().StringVar(&d.Retry, "retry", "", "the call that is in doubt did nothing: make it again")
	c.Flags().StringVar(&d.AssumeDone, "assume-done", "", "the call that is in doubt was carried out: go on")
	c.Flags().BoolVar(&detach, "detach", false, "do not wait for the end")
	return c
}

func newRunCancel(e *cli.Env) *cobra.Command {
	return &cobra.Command{
		Use: "cancel RUN", Short: "End a run", Args: cli.Args(1, 1, "a run"),
		RunE: func(cmd *cobra.Command, given []string) error {
			r, err := cancel(cmd.Context(), e, given[0])
			if err != nil {
				return err
			}
			return printRun(e, r)
		},
	}
}

func newRunJudge(e *cli.Env) *cobra.Command {
	var f record.Feedback
	c := &cobra.Command{
		Use: "judge RUN --score N", Short: "Say what you think of a run that has ended; the last word stands", Args: cli.Args(1, 1, "a run"),
		Example: "  macaron run judge run_01J... --score 1\n  macaron run judge run_01J... --score -1 --reason 'it named the wrong file'",
		RunE: func(cmd *cobra.Command, given []string) error {
			if !cmd.Flags().Changed("score") {
				return errs.New(errs.InvalidRequest, "no score was given", "--score is 1, -1, or 0 to take it back").In("score")
			}
			r, err := judge(cmd.Context(), e, given[0], f)
			if err != nil {
				return err
			}
			return printRun(e, r)
		},
	}
	c.Flags().IntVar(&f.Score, "score", 0, "1, -1, or 0 to take it back (required)")
	c.Flags().StringVar(&f.Reason, "reason", "", "why")
	return c
}

func newRunApprove(e *cli.Env) *cobra.Command {
	var no, detach bool
	var reason string
	c := &cobra.Command{
		Use: "approve RUN CALL", Short: "Say yes or no to a call that waits, and go on", Args: cli.Args(2, 2, "a run and a call"),
		Example: "  macaron run approve run_01J... call_1f...\n  macaron run approve run_01J... call_1f... --no --reason 'not on a Friday'",
		RunE: func(cmd *cobra.Command, given []string) error {
			if err := stands(cmd.Context(), e, given[0]); err != nil {
				return err
			}
			return onRun(e, cmd, detach, func(ctx context.Context, c *cli.Client) (*taskRun, error) {
				return posted(ctx, c, "/v1/runs/"+given[0]+"/approve", map[string]any{"call": given[1], "approve": !no, "reason": reason})
			})
		},
	}
	c.Flags().BoolVar(&no, "no", false, "say no: the model is told")
	c.Flags().StringVar(&reason, "reason", "", "why not")
	c.Flags().BoolVar(&detach, "detach", false, "do not wait for the end")
	return c
}

// onRun does something with a run, waits until the run stands still and shows it.
func onRun(e *cli.Env, cmd *cobra.Command, detach bool, do func(context.Context, *cli.Client) (*taskRun, error)) error {
	with := e.WithServer
	if detach {
		with = func(cmd *cobra.Command, fn func(context.Context, *cli.Client) error) error {
			return withRunning(e, cmd, fn)
		}
	}
	var code error
	err := with(cmd, func(ctx context.Context, c *cli.Client) error {
		r, err := do(ctx, c)
		if err == nil && !detach {
			r, err = await(ctx, c, r.ID)
		}
		if err != nil {
			return err
		}
		code = outcome(r, detach)
		return printRun(e, r)
	})
	if err != nil {
		return err
	}
	return code
}

// outcome is the exit code of a run that stands still.
func outcome(r *taskRun, detached bool) error {
	switch {
	case detached || r.Status == record.RunDone:
		return nil
	case r.Status == record.RunWaiting || r.Status == record.RunInDoubt:
		return cli.Exit(12)
	}
	return cli.Exit(11)
}

// again are the flags that say which home and contract the next command is about, as this
// one was told them.
func again(e *cli.Env) string {
	var b strings.Builder
	for _, name := range []string{"home", "contract", "contract-overlays"} {
		if v := e.Flags[strings.ReplaceAll(name, "-", "_")]; v != "" {
			b.WriteString(" --" + name + " '" + strings.ReplaceAll(v, "'", `'\''`) + "'")
		}
	}
	return b.String()
}

// printRun shows a run as it stands.
func printRun(e *cli.Env, r *taskRun) error {
	if e.JSON {
		return e.PrintJSON(json.RawMessage(r.raw))
	}
	t := r.Totals
	fmt.Fprintf(e.Err, "%s: %s, %d turns, %d tool calls, %d cells, %d tokens, %.1f s\n", r.ID, r.Status, t.Turns, t.ToolCalls, t.Cells, t.Usage.PromptTokens+t.Usage.OutputTokens, t.Wall.Seconds())
	if r.Reason != "" {
		fmt.Fprintln(e.Err, r.Reason)
	}
	if w := r.Waits; w != nil {
		fmt.Fprintf(e.Err, "%s %s\n", w.Name, w.Arguments)
		hint := "macaron run approve " + r.ID + " " + w.Call + " [--no]" + again(e)
		if r.Status == record.RunInDoubt {
			hint = "macaron run resume " + r.ID + again(e) + " --assume-done " + w.Call + "   or   --retry " + w.Call
		}
		fmt.Fprintln(e.Err, hint)
	}
	if r.Answer != "" {
		fmt.Fprintln(e.Out, strings.TrimRight(r.Answer, "\n"))
	}
	return nil
}
