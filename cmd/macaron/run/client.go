package run

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"time"

	"github.com/spf13/cobra"

	"macaron/cmd/macaron/cli"
	"macaron/internal/errs"
)

// withRunning runs fn with the Macaron that serves here, and with no other: what goes on
// behind the command needs a process that stays.
func withRunning(e *cli.Env, cmd *cobra.Command, fn func(context.Context, *cli.Client) error) error {
	c, err := e.Config()
	if err != nil {
		return err
	}
	running, err := cli.Serving(cmd.Context(), c)
	if err != nil {
		return err
	}
	if running == nil {
		return errs.New(errs.UpstreamUnavailable, "no Macaron serves here, so nothing would go on with the run", "start `macaron up`, or leave --detach out")
	}
	return fn(cmd.Context(), running)
}

// fetch reads the JSON at a path, and gives its text too.
func fetch(ctx context.Context, c *cli.Client, path string, into any) ([]byte, error) {
	resp, err := c.Get(ctx, path)
	if err != nil {
		return nil, err
	}
	return readJSON(resp, into)
}

// posted posts to a path of runs and reads the run that comes back.
func posted(ctx context.Context, c *cli.Client, path string, body any) (*taskRun, error) {
	resp, err := c.Post(ctx, path, body)
	if err != nil {
		return nil, err
	}
	r := &taskRun{}
	r.raw, err = readJSON(resp, r)
	return r, err
}

func runAt(ctx context.Context, c *cli.Client, id string) (*taskRun, error) {
	r := &taskRun{}
	var err error
	r.raw, err = fetch(ctx, c, "/v1/runs/"+id, r)
	return r, err
}

// await looks until a run stands still.
func await(ctx context.Context, c *cli.Client, id string) (*taskRun, error) {
	for wait := 20 * time.Millisecond; ; wait = min(2*wait, time.Second) {
		r, err := runAt(ctx, c, id)
		if err != nil || r.Status != "running" {
			return r, err
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return nil, errs.Wrap(errs.Canceled, ctx.Err(), "stopped waiting for "+id, "macaron run show "+id+" tells how it stands")
		}
	}
}

func readJSON(resp *http.Response, into any) ([]byte, error) {
	defer resp.Body.Close()
	raw, err := io.ReadAll(io.LimitReader(resp.Body, 64<<20))
	if err == nil {
		err = json.Unmarshal(raw, into)
	}
	return raw, errs.Wrap(errs.UpstreamFailed, err, "the server gave an answer that is none of Macaron's", "see what listens at that address")
}
