package mint

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"macaron/cmd/macaron/cli"
	"macaron/internal/app"
	"macaron/internal/disk"
)

// pageFlag has a command show its run on a page.
func pageFlag(c *cobra.Command, address *string) {
	c.Flags().StringVar(address, "page", "", "show the curves live on a page of this machine, at `ADDRESS` (joined by =) or at a free port")
	c.Flags().Lookup("page").NoOptDefVal = app.FreePort
}

// shown is a page that is served beside what a command does.
type shown struct {
	end  context.CancelFunc
	done chan error
}

// showRun serves a run's page and says where, until close. The listener is taken before anything
// is loaded or asked.
func showRun(ctx context.Context, e *cli.Env, address string, run app.TrainingRun) (*shown, error) {
	l, err := app.ListenHere(ctx, address)
	if err != nil {
		return nil, err
	}
	p := app.NewCurvePage(run, app.Options{Hurry: e.Hurry})
	ctx, end := context.WithCancel(ctx)
	s := &shown{end, make(chan error, 1)}
	go func() { s.done <- p.Serve(ctx, l) }()
	if err := tellPage(e, run.ID, p.URL(l)); err != nil {
		return nil, errors.Join(err, s.close())
	}
	return s, nil
}

func tellPage(e *cli.Env, run, url string) error {
	if e.JSON {
		return e.PrintJSON(map[string]string{"url": url})
	}
	_, err := fmt.Fprintf(e.Out, "%s is shown on %s\n", cli.Cell(run), url)
	return disk.Error(err, "the output cannot be written")
}

// wait gives the end of the page, which the command's own end brings, or a listener that failed.
func (s *shown) wait() error { return <-s.done }

// close ends the page; what is open of it is over first.
func (s *shown) close() error {
	s.end()
	return s.wait()
}
