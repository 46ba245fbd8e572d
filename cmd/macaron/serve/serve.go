// Package serve is `macaron serve` and `macaron up`: the program in the foreground.
package serve

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"macaron/cmd/macaron/cli"
	"macaron/internal/app"
	"macaron/internal/config"
	"macaron/internal/errs"
	"macaron/internal/models"
)

// New gives `macaron serve`.
func New(e *cli.Env) *cobra.Command {
	return &cobra.Command{
		Use:   "serve",
		Short: "Serve with what is on this machine; fetch nothing",
		Long: "Serve the API and the chat page in the foreground, with the embedded engine or, with\n" +
			"--upstream URL, with an OpenAI-compatible server whose model names are the adapters.",
		Example: "  macaron serve\n  macaron serve --upstream http://127.0.0.1:8000/v1 --upstream-models L0=chat,L2=coder",
		Args:    cli.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := e.Config()
			if err != nil {
				return err
			}
			return serve(cmd.Context(), e, c, models.Local{})
		},
	}
}

// serve runs the app in the foreground until ctx ends, and tells where it is.
func serve(ctx context.Context, e *cli.Env, c config.Config, model models.Local) error {
	return ServeAs(ctx, e, c, model, false)
}

// ServeAs is serve with all rooms, or with the training service alone.
func ServeAs(ctx context.Context, e *cli.Env, c config.Config, model models.Local, training bool) error {
	l, err := app.Listen(ctx, c.Listen)
	if err != nil {
		return err
	}
	a, err := app.New(c, app.Options{Version: cli.Version, Model: model, Training: training, Hurry: e.Hurry, Settings: e.Config})
	if err != nil {
		return errors.Join(err, l.Close())
	}
	defer reloads(a)()
	ready := make(chan error, 1)
	go func() { ready <- announce(ctx, e, a, c, c.Scheme()+l.Addr().String(), training) }()
	err = a.Serve(ctx, l)
	if told := <-ready; err == nil && errs.CodeOf(told) != errs.Canceled {
		err = told
	}
	return err
}

// reloads has the app read its settings again at each SIGHUP, until the returned function is called.
func reloads(a *app.App) (end func()) {
	signals, done := make(chan os.Signal, 1), make(chan struct{})
	signal.Notify(signals, syscall.SIGHUP)
	go func() {
		for {
			select {
			case <-signals:
				_, _ = a.Reload() // the log has told
			case <-done:
				return
			}
		}
	}()
	return func() {
		signal.Stop(signals)
		close(done)
	}
}

// announce waits for the model and prints where everything is that is served.
func announce(ctx context.Context, e *cli.Env, a *app.App, c config.Config, url string, training bool) error {
	if !e.JSON {
		fmt.Fprintf(e.Out, "Macaron listens at %s; loading ...\n", url)
	}
	if err := a.WaitReady(ctx); err != nil {
		return err
	}
	facts, err := a.Facts(ctx)
	if err != nil {
		return err
	}
	if e.JSON {
		return e.PrintJSON(map[string]any{"url": url, "home": c.Home, "engine": facts.Engine, "contract": facts.Contract, "adapters": facts.Adapters})
	}
	if training {
		fmt.Fprintf(e.Out, "Ready.\n  clients     TINKER_BASE_URL=%s\n  curves      %s/training\n  engine      %s\n  state       %s\nStop with Ctrl-C.\n", url, url, facts.Engine, c.Home)
		return nil
	}
	var names []string
	for _, s := range facts.Adapters {
		names = append(names, s.Name+" "+s.Title)
	}
	fmt.Fprintf(e.Out, "Ready.\n  chat page   %s/\n  API         %s/v1   model \"macaron\", or \"macaron/%s\" to force one\n  adapters    %s\n  engine      %s\n  contract    %s\n  state       %s\nStop with Ctrl-C.\n",
		url, url, facts.Adapters[0].Name, strings.Join(names, ", "), facts.Engine, facts.Contract, c.Home)
	return nil
}
