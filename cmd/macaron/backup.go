package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"macaron/cmd/macaron/cli"
	"macaron/internal/archive"
	"macaron/internal/models"
	"macaron/internal/store/sqlite"
)

func newBackup(e *cli.Env) *cobra.Command {
	o := archive.Options{Version: cli.Version}
	c := &cobra.Command{
		Use: "backup FILE", Short: "Write MACARON_HOME to one file", Args: cli.Args(1, 1, "the name of a new file"),
		Long: "Writes the log as it is at one moment, the settings, keys, adapters and contracts to a compressed\n" +
			"archive with checksums, while a server runs or not. A log in Postgres is not in it: pg_dump saves that.",
		Example: "  macaron backup /backups/macaron-$(date +%F).tar.gz",
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := e.Config()
			if err != nil {
				return err
			}
			log := filepath.Join(c.Home, "log.db")
			if _, err := os.Stat(log); c.Store.URL == "" && !errors.Is(err, os.ErrNotExist) {
				o.Snapshot = func(ctx context.Context, to string) error { return sqlite.Snapshot(ctx, log, to) }
			}
			m, err := archive.Backup(cmd.Context(), c.Home, args[0], o)
			if err != nil {
				return err
			}
			if err := tellArchive(e, "saved", args[0], m); err != nil || c.Store.URL == "" {
				return err
			}
			fmt.Fprintf(e.Err, "The log is in %s and not in this file; save it too: pg_dump --format=custom\n", c.Store.Display)
			return nil
		},
	}
	c.Flags().BoolVar(&o.Models, "models", false, "save model files too, which can be fetched again")
	return c
}

func newRestore(e *cli.Env) *cobra.Command {
	return &cobra.Command{
		Use: "restore FILE", Short: "Make an empty MACARON_HOME of a backup", Args: cli.Args(1, 1, "a file that macaron backup wrote"),
		Long: "Checks every file of the archive against its checksum; the home comes whole or not at all. One that\n" +
			"is not empty is refused. Models that were not saved are fetched again by macaron up.",
		Example: "  macaron restore /backups/macaron-2026-01-31.tar.gz --home /srv/macaron",
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := e.Config()
			if err != nil {
				return err
			}
			m, err := archive.Restore(cmd.Context(), args[0], c.Home)
			if err != nil {
				return err
			}
			return tellArchive(e, "restored", c.Home, m)
		},
	}
}

func tellArchive(e *cli.Env, what, where string, m archive.Manifest) error {
	if e.JSON {
		return e.PrintJSON(m)
	}
	var size int64
	for _, f := range m.Files {
		size += f.Size
	}
	fmt.Fprintf(e.Out, "%s: %d files, %s, at %s\n", what, len(m.Files), models.Size(size), where)
	return nil
}
