package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"macaron/internal/app"
	"macaron/internal/auth"
	"macaron/internal/disk"
	"macaron/internal/errs"
	"macaron/internal/harness"
	"macaron/internal/record"
	"macaron/internal/retention"
	"macaron/internal/ui4a/album"
)

func newData(e *env) *cobra.Command {
	return noun("data", "Export and delete what people said, and make training data of it", newDataDelete(e), newDataExport(e), newDataReport(e))
}

// withStore opens the log for one command. A server may be running.
func (e *env) withStore(ctx context.Context, do func(app.Store) error) error {
	c, err := e.config()
	if err != nil {
		return err
	}
	if c.Store.URL == "" { // a home where nothing was done yet has nothing to tell
		if err := os.MkdirAll(c.Home, 0o700); err != nil {
			return disk.Error(err, c.Home+" cannot be made")
		}
	}
	s, err := app.OpenStore(ctx, c)
	if err != nil {
		return err
	}
	return errors.Join(do(s), s.Close())
}

func newDataDelete(e *env) *cobra.Command {
	var what retention.What
	var before, why string
	o := record.Erase{}
	c := &cobra.Command{
		Use: "delete", Short: "Delete conversations for good", Args: noArgs,
		Long: "Deletes sessions with all that was forked from them, whole or not at all, while a server\n" +
			"runs or not. That they were there, why they are gone and how much they were stays in the log.",
		Example: "  macaron data delete --session ses_01J... --dry-run\n  macaron data delete --tenant acme\n  macaron data delete --before 90d\n  macaron data delete --tenant acme --before 2026-01-31 --why \"contract ended\"",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if what.Owner == "" && what.Session == "" && before == "" {
				return errs.New(errs.InvalidRequest, "nothing says what to delete", "give --session, --tenant or --before; --dry-run shows what would go")
			}
			if what.Session != "" && before != "" {
				return errs.New(errs.InvalidRequest, "--session and --before do not go together", "leave one of them out")
			}
			o.Time, o.Why = time.Now(), why
			var err error
			if what.Before, err = moment(before, o.Time); err != nil {
				return err
			}
			if what.Session != "" && what.Owner == "" {
				what.Owner = auth.Local
			}
			return e.withStore(cmd.Context(), func(s app.Store) error {
				if err := e.deleteData(cmd.Context(), s, what, o); err != nil || o.DryRun {
					return err
				}
				if what.Session == "" && before == "" { // all that there is of the tenant
					if err := e.clearPictures(what.Owner); err != nil {
						return err
					}
				}
				return e.collectRuns(cmd.Context(), s, o.Time)
			})
		},
	}
	c.Flags().StringVar(&what.Owner, "tenant", "", "whose conversations; with --session the default is "+auth.Local)
	c.Flags().StringVar(&what.Session, "session", "", "one session, and those forked from it")
	c.Flags().StringVar(&before, "before", "", "those unchanged since: a date (2026-01-31), a time (RFC 3339) or an age (90d)")
	c.Flags().StringVar(&why, "why", "deleted by macaron data delete", "the reason, which stays in the log")
	c.Flags().BoolVar(&o.DryRun, "dry-run", false, "show what would go; delete nothing")
	return c
}

// collectRuns deletes what deleted runs have left in the home.
func (e *env) collectRuns(ctx context.Context, s app.Store, now time.Time) error {
	c, err := e.config()
	if err != nil {
		return err
	}
	_, err = harness.Collect(ctx, s, filepath.Join(c.Home, "runs"), now)
	return err
}

// clearPictures deletes the pictures that a tenant has put by for cards.
func (e *env) clearPictures(owner string) error {
	c, err := e.config()
	if err != nil {
		return err
	}
	return album.New(c.Home).Clear(owner)
}

func (e *env) deleteData(ctx context.Context, s app.Store, w retention.What, o record.Erase) error {
	list := []record.Erased{}
	if err := retention.Delete(ctx, s, w, o, func(g record.Erased) { list = append(list, g) }); err != nil {
		return err
	}
	if e.json {
		return e.printJSON(map[string]any{"dry_run": o.DryRun, "sessions": list})
	}
	var records, size int64
	for _, g := range list {
		fmt.Fprintf(e.out, "%s  tenant %s, %d turns, %d records\n", g.Session, g.Owner, g.Turns, g.Records)
		records, size = records+g.Records, size+g.Bytes
	}
	word := "deleted"
	if o.DryRun {
		word = "would go; nothing was deleted"
	}
	fmt.Fprintf(e.out, "%d sessions, %d records, %d bytes: %s\n", len(list), records, size, word)
	return nil
}

// moment reads a date, a time or an age; "" is no time.
func moment(text string, now time.Time) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	if days, ok := strings.CutSuffix(text, "d"); ok {
		if n, err := strconv.ParseUint(days, 10, 16); err == nil {
			return now.AddDate(0, 0, -int(n)), nil
		}
	}
	for _, layout := range []string{time.DateOnly, time.RFC3339} {
		if at, err := time.Parse(layout, text); err == nil {
			return at, nil
		}
	}
	return time.Time{}, errs.New(errs.InvalidRequest, fmt.Sprintf("%.40q is no time", text), "use 2026-01-31, 2026-01-31T12:00:00Z or 90d")
}

func newDataExport(e *env) *cobra.Command {
	var owner, session, format string
	var train bool
	var t trainExport
	c := &cobra.Command{
		Use: "export", Short: "Print the records of conversations as JSON lines, or make a training dataset of them", Args: noArgs,
		Long: "Prints one JSON object a line and record: its head, kind and body, as docs/formats/log.md\ndescribes them, in the order of the log; of a tenant, session after session.\n\n" +
			"With --format atif it prints a session in Harbor's trajectory format: a line for each of its branches, with what became\nof the cards in it and what a model saw of Actions on them.\n\n" +
			"With --train it makes a dataset instead (docs/DATA.md): of what people consented to and agents discovered,\nwithout what is personal, secret, broken, doubled or part of an evaluation.",
		Example: "  macaron data export --session ses_01J... > conversation.jsonl\n  macaron data export --session ses_01J... --format atif\n  macaron data export --tenant acme > acme.jsonl\n  macaron data export --train --tenant acme --settings filter.toml",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if format != "records" && (format != "atif" || session == "" || train) {
				return errs.New(errs.InvalidRequest, fmt.Sprintf("nothing is exported as %.40q that way", format), "use records, or atif with --session and without --train")
			}
			if train {
				if session != "" {
					return errs.New(errs.InvalidRequest, "--session and --train do not go together", "leave one of them out")
				}
				if owner == "" {
					owner = auth.Local
				}
				return e.exportDataset(cmd.Context(), owner, t)
			}
			if t != (trainExport{}) {
				return errs.New(errs.InvalidRequest, "--out, --settings, --evaluation and --encoder are of --train alone", "add --train")
			}
			if owner == "" && session == "" {
				return errs.New(errs.InvalidRequest, "nothing says what to export", "give --session or --tenant")
			}
			if owner == "" {
				owner = auth.Local
			}
			if format == "atif" {
				return e.exportTalks(cmd.Context(), owner, session)
			}
			return e.withStore(cmd.Context(), func(s app.Store) error {
				w := bufio.NewWriter(e.out)
				if err := exportData(cmd.Context(), s, owner, session, w); err != nil {
					return err
				}
				return errs.Wrap(errs.StorageFailed, w.Flush(), "the output cannot be written", "")
			})
		},
	}
	c.Flags().StringVar(&owner, "tenant", "", "whose conversations; with --session the default is "+auth.Local)
	c.Flags().StringVar(&session, "session", "", "one session")
	c.Flags().StringVar(&format, "format", "records", "records, or atif for one session")
	c.Flags().Bool("jsonl", true, "JSON lines, the one form of records")
	c.Flags().BoolVar(&train, "train", false, "make a training dataset")
	c.Flags().StringVar(&t.out, "out", "", "with --train: directory of all datasets (default: datasets in the home)")
	c.Flags().StringVar(&t.settings, "settings", "", "with --train: TOML file of the filter's settings")
	c.Flags().StringVar(&t.evaluation, "evaluation", "", "with --train: registry of further evaluation sets")
	c.Flags().StringVar(&t.encoder, "encoder", "", "with --train: directory of a sentence encoder (default: router.embedding_model)")
	return c
}

// exportTalks prints the branches of a conversation.
func (e *env) exportTalks(ctx context.Context, owner, session string) error {
	c, err := e.config()
	if err != nil {
		return err
	}
	return e.withStore(ctx, func(s app.Store) error {
		talks, err := app.NewProduction(s, c.Home).Talks(ctx, owner, session)
		if err != nil {
			return err
		}
		return e.lines(len(talks), func(i int) (any, error) { return talks[i].ATIF(version), nil })
	})
}

// exportPage is how many sessions, or records, are read at once.
const exportPage = 256

func exportData(ctx context.Context, s app.Store, owner, session string, w io.Writer) error {
	if session != "" {
		if _, err := s.Session(ctx, owner, session); err != nil {
			return err
		}
		return exportSession(ctx, s, owner, session, w)
	}
	for last := ""; ; {
		list, err := s.Stale(ctx, owner, time.Time{}, last, exportPage)
		if err != nil || len(list) == 0 {
			return err
		}
		for _, last = range list {
			if err := exportSession(ctx, s, owner, last, w); err != nil {
				return err
			}
		}
	}
}

func exportSession(ctx context.Context, s app.Store, owner, session string, w io.Writer) error {
	for after := int64(0); ; {
		records, err := s.Records(ctx, owner, session, after, exportPage)
		if err != nil || len(records) == 0 {
			return err
		}
		for _, r := range records {
			line, err := record.EncodeLine(r)
			if err != nil {
				return err
			}
			if _, err := w.Write(append(line, '\n')); err != nil {
				return disk.Error(err, "the output cannot be written")
			}
			after = r.Seq
		}
	}
}
