package cli

import (
	"context"
	"errors"
	"os"

	"github.com/spf13/cobra"

	"macaron/internal/app"
	"macaron/internal/auth"
	"macaron/internal/config"
	"macaron/internal/disk"
	"macaron/internal/models"
	"macaron/internal/obs"
	"macaron/internal/progress"
)

// WithStore opens the log for one command. A server may be running.
func (e *Env) WithStore(ctx context.Context, do func(app.Store) error) error {
	c, err := e.Config()
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

// WithFetcher runs fn with a fetcher that tells of its transfers on standard error.
func (e *Env) WithFetcher(fn func(*models.Fetcher, config.Config) error) error {
	c, err := e.Config()
	if err != nil {
		return err
	}
	s, err := models.Open(c.Home)
	if err != nil {
		return err
	}
	defer s.Close() // a directory handle
	bars := progress.New(os.Stderr)
	defer bars.Close()
	tell := models.Progress(bars.Tell)
	if bars == nil {
		tell = progress.Lines(e.Err)
	}
	return fn(&models.Fetcher{Store: s, Endpoint: c.Models.Endpoint, Python: c.Models.Python, Progress: tell}, c)
}

// WithModel runs fn with the configured model's file, fetched if need be, or with
// none when an upstream serves.
func (e *Env) WithModel(cmd *cobra.Command, fn func(config.Config, models.Local) error) error {
	c, err := e.Config()
	if err != nil {
		return err
	}
	if len(c.Below()) > 0 {
		return fn(c, models.Local{})
	}
	var file models.Local
	err = e.WithFetcher(func(f *models.Fetcher, c config.Config) (err error) {
		file, err = f.Resolve(cmd.Context(), c.Model)
		return err
	})
	if err != nil {
		return err
	}
	return fn(c, file)
}

// WithApp makes the program with the configured model in this process, without serving.
func (e *Env) WithApp(cmd *cobra.Command, do func(context.Context, *app.App) error) error {
	return e.WithModel(cmd, func(c config.Config, m models.Local) error {
		a, err := app.New(c, app.Options{Version: Version, Model: m, Log: obs.NewLog(e.Err, "error", c.Log.Format)})
		if err != nil {
			return err
		}
		ctx := auth.With(cmd.Context(), auth.Principal{Owner: auth.Local})
		if err = a.WaitReady(ctx); err == nil {
			err = do(ctx, a)
		}
		return errors.Join(err, a.Close())
	})
}
