package run

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"macaron/cmd/macaron/cli"
	"macaron/cmd/macaron/data"
	"macaron/internal/app"
	"macaron/internal/auth"
	"macaron/internal/contract"
	"macaron/internal/disk"
	"macaron/internal/errs"
	"macaron/internal/ids"
	"macaron/internal/obs"
	"macaron/internal/record"
	"macaron/internal/registry"
	"macaron/internal/trajectory"
	"macaron/internal/transcript"
)

func newRunShow(e *cli.Env) *cobra.Command {
	var owner string
	c := &cobra.Command{Use: "show RUN", Short: "Tell a run step by step", Args: cli.Args(1, 1, "a run's identifier or an exported file"),
		RunE: func(cmd *cobra.Command, given []string) error {
			r, _, err := readRun(cmd.Context(), e, owner, given[0])
			if err != nil {
				return err
			}
			if e.JSON {
				return e.PrintJSON(trajectory.ATIF(r, cli.Version))
			}
			_, err = io.WriteString(e.Out, trajectory.Text(r))
			return disk.Error(err, "the output cannot be written")
		}}
	c.Flags().StringVar(&owner, "tenant", auth.Local, "whose run")
	return c
}

func newRunExport(e *cli.Env) *cobra.Command {
	var owner, format string
	var content, send bool
	c := &cobra.Command{Use: "export RUN", Short: "Print a run in a form for other programs", Args: cli.Args(1, 1, "a run's identifier or an exported file"),
		Long: "Forms: records (the log's own, as JSON lines), atif (Harbor's trajectory format), otel (spans as OTLP/JSON), sft (a row of OpenAI's\nfine-tuning files), grpo (rows of served token ids, log probabilities and mask). The last two take runs of discovery, and of production with consent, alone.",
		RunE: func(cmd *cobra.Command, given []string) error {
			r, records, err := readRun(cmd.Context(), e, owner, given[0])
			if err != nil {
				return err
			}
			if (content || send) && format != "otel" {
				return errs.New(errs.InvalidRequest, "--content and --send are of the form otel alone", "leave them away, or add --format otel")
			}
			if format == "otel" {
				return exportSpans(cmd.Context(), e, r, content, send)
			}
			return exportRun(e, r, records, format)
		}}
	c.Flags().StringVar(&owner, "tenant", auth.Local, "whose run")
	c.Flags().StringVar(&format, "format", "atif", "records, atif, otel, sft or grpo")
	c.Flags().BoolVar(&content, "content", false, "with otel: also what was said, and what tools were given and showed")
	c.Flags().BoolVar(&send, "send", false, "with otel: to the receiver of traces.endpoint, instead of printing")
	return c
}

func exportSpans(ctx context.Context, e *cli.Env, r *transcript.Run, content, send bool) error {
	o := obs.RunOptions{Content: content, Version: cli.Version}
	if !send {
		spans, err := obs.RunOTLP(r, o)
		if err != nil {
			return err
		}
		return e.PrintJSON(spans)
	}
	c, err := e.Config()
	if err != nil {
		return err
	}
	if !c.Traces.On() {
		return errs.New(errs.InvalidRequest, "there is no receiver of traces", "set traces.endpoint, or OTEL_EXPORTER_OTLP_ENDPOINT")
	}
	return obs.SendRun(ctx, r, o, obs.TraceOptions{Endpoint: c.Traces.Endpoint, Headers: c.Traces.Headers.Reveal()})
}

func exportRun(e *cli.Env, r *transcript.Run, records []record.Record, format string) error {
	switch format {
	case "atif":
		return e.PrintJSON(trajectory.ATIF(r, cli.Version))
	case "records":
		return e.Lines(len(records), func(i int) (any, error) {
			line, err := record.EncodeLine(records[i])
			return json.RawMessage(line), err
		})
	case "sft", "grpo":
	default:
		return errs.New(errs.InvalidRequest, fmt.Sprintf("%.40q is no form of a run", format), "use records, atif, otel, sft or grpo")
	}
	t, err := trajectory.Training(r)
	if err != nil {
		return err
	}
	if format == "sft" {
		return e.Lines(1, func(int) (any, error) { return t.SFT(), nil })
	}
	rows, err := t.GRPO()
	if err != nil {
		return err
	}
	return e.Lines(len(rows), func(i int) (any, error) { return rows[i], nil })
}

// readRun reads a run of the log, or of a file that run export --format records made.
func readRun(ctx context.Context, e *cli.Env, owner, name string) (*transcript.Run, []record.Record, error) {
	var records []record.Record
	var err error
	if ids.Check(ids.Run, name) == nil {
		err = e.WithStore(ctx, func(s app.Store) error {
			records, err = recordsOf(ctx, s, owner, name)
			return err
		})
	} else {
		records, err = recordsIn(name)
	}
	if err != nil {
		return nil, nil, err
	}
	r := transcript.Fold(records)
	if r.Records == 0 {
		return nil, nil, errs.New(errs.FormatInvalid, name+" has no run", "export one with macaron run export RUN --format records")
	}
	return r, records, nil
}

func recordsOf(ctx context.Context, s app.Store, owner, run string) ([]record.Record, error) {
	state, err := s.Run(ctx, owner, run)
	if err != nil {
		return nil, err
	}
	var all []record.Record
	for after := int64(0); ; {
		page, err := s.Records(ctx, owner, state.Session, after, data.ExportPage)
		if err != nil || len(page) == 0 {
			return all, err
		}
		all, after = append(all, page...), page[len(page)-1].Seq
	}
}

// maxRecord bounds a line of an exported run.
const maxRecord = 64 << 20

func recordsIn(path string) ([]record.Record, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, disk.OpenError(err, path+" is neither a run nor a file that can be opened", "macaron run list shows runs")
	}
	defer f.Close() // read-only
	var all []record.Record
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, maxRecord)
	for n := 1; lines.Scan(); n++ {
		r, err := record.DecodeLine(lines.Bytes())
		if err != nil {
			return nil, errs.Wrap(errs.FormatInvalid, err, fmt.Sprintf("%s: line %d is no record", path, n), "export the run again with --format records")
		}
		all = append(all, r)
	}
	return all, errs.Wrap(errs.FormatInvalid, lines.Err(), path+" cannot be read as lines", "export the run again with --format records")
}

// NewHCPAudit gives `macaron hcp audit`, which compares two runs.
func NewHCPAudit(e *cli.Env) *cobra.Command {
	var owner string
	c := &cobra.Command{Use: "audit A B", Short: "Say what differs between two runs: what they were made of, and what they did", Args: cli.Args(2, 2, "two runs, or files of run export --format records"),
		Long: "Compare contract, specialist, engine, template, tokenizer, tools, limits and seed of two runs, such as one of training and one of serving; and,\nbecause equality of those is not equality of behaviour, their recorded token ids, calls and results.",
		RunE: func(cmd *cobra.Command, given []string) error {
			var runs [2]*transcript.Run
			var contracts [2]*contract.Contract
			for i, name := range given {
				var err error
				if runs[i], _, err = readRun(cmd.Context(), e, owner, name); err != nil {
					return err
				}
				if contracts[i], err = kept(e, runs[i].Head.Contract); err != nil {
					return err
				}
			}
			a, err := trajectory.Compare(runs[0], runs[1], contracts[0], contracts[1])
			if err != nil {
				return err
			}
			return showAudit(e, a)
		}}
	c.Flags().StringVar(&owner, "tenant", auth.Local, "whose runs")
	return c
}

// kept gives a contract that was in force here, nil where it never was.
func kept(e *cli.Env, h ids.Digest) (*contract.Contract, error) {
	c, err := e.Config()
	if err != nil || h == "" {
		return nil, err
	}
	k, err := registry.Kept(c.Home, h)
	if errs.CodeOf(err) == errs.NotFound {
		return nil, nil
	}
	return k, err
}

func showAudit(e *cli.Env, a trajectory.Audit) error {
	if e.JSON {
		return e.PrintJSON(a)
	}
	rows := [][]string{{"PART", "A", "B", "EQUAL"}}
	for _, p := range a.Pins {
		rows = append(rows, []string{p.What, brief(p.A), brief(p.B), cli.YesNo(p.Equal)})
	}
	if err := e.Table(rows...); err != nil {
		return err
	}
	for _, c := range a.Contract {
		fmt.Fprintf(e.Out, "  moves %s: %s\n", c.Class, c.What)
	}
	b := a.Behaviour
	fmt.Fprintf(e.Out, "\n%s\n\n", a.Statement)
	rows = [][]string{{"RECORDED", "COMPARED", "EQUAL", "UNKNOWN"}}
	for _, t := range []struct {
		what string
		trajectory.Tally
	}{{"prompts, by token ids", b.Prompts}, {"answers, by token ids", b.Tokens}, {"calls", b.Calls}, {"results", b.Results}} {
		rows = append(rows, []string{t.what, fmt.Sprint(t.Compared), fmt.Sprint(t.Equal), fmt.Sprint(t.Unknown)})
	}
	if err := e.Table(rows...); err != nil {
		return err
	}
	if b.FirstOther != "" {
		fmt.Fprintf(e.Out, "They part at %s.\n", b.FirstOther)
	}
	fmt.Fprintf(e.Out, "Same answer: %s. Same behaviour as far as recorded: %s.\n", cli.YesNo(b.SameAnswer), cli.YesNo(b.SameBehavior))
	return nil
}

func brief(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	if runes := []rune(strings.TrimPrefix(s, "sha256:")); len(runes) > 32 {
		return string(runes[:29]) + "..."
	}
	return s
}
