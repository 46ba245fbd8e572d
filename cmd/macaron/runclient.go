package main

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"time"

	"github.com/spf13/cobra"

	"macaron/internal/errs"
)

// withRunning runs fn with the Macaron that serves here, and with no other: what goes on
// behind the command needs a process that stays.
func (e *env) withRunning(cmd *cobra.Command, fn func(context.Context, *client) error) error {
	c, err := e.config()
	if err != nil {
		return err
	}
	running, err := serving(cmd.Context(), c)
	if err != nil {
		return err
	}
	if running == nil {
		return errs.New(errs.UpstreamUnavailable, "no Macaron serves here, so nothing would go on with the run", "start `macaron up`, or leave --detach out")
	}
	return fn(cmd.Context(), running)
}

// fetch reads the JSON at a path, and gives its text too.
func (c *client) fetch(ctx context.Context, path string, into any) ([]byte, error) {
	resp, err := c.get(ctx, path)
	if err != nil {
		return nil, err
	}
	return readJSON(resp, into)
}

// run posts to a path of runs and reads the run that comes back.
func (c *client) run(ctx context.Context, path string, body any) (*taskRun, error) {
	resp, err := c.post(ctx, path, body)
	if err != nil {
		return nil, err
	}
	r := &taskRun{}
	r.raw, err = readJSON(resp, r)
	return r, err
}

func (c *client) runAt(ctx context.Context, id string) (*taskRun, error) {
	r := &taskRun{}
	var err error
	r.raw, err = c.fetch(ctx, "/v1/runs/"+id, r)
	return r, err
}

// await looks until a run stands still.
func (c *client) await(ctx context.Context, id string) (*taskRun, error) {
	for wait := 20 * time.Millisecond; ; wait = min(2*wait, time.Second) {
		r, err := c.runAt(ctx, id)
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
