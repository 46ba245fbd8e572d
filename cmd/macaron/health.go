package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/spf13/cobra"

	"macaron/internal/app"
	"macaron/internal/errs"
)

// readiness is what GET /readyz answers.
type readiness struct {
	Status string `json:"status"`
	Checks []struct {
		Name  string `json:"name"`
		Ready bool   `json:"ready"`
		Error string `json:"error,omitempty"`
		Next  string `json:"next,omitempty"`
	} `json:"checks"`
}

func newHealth(e *env) *cobra.Command {
	var within time.Duration
	c := &cobra.Command{
		Use: "health", Short: "Ask the running server whether it can serve", Args: noArgs,
		Long: "Asks the server at the configured address, as a container's health check does: exit code 0 when it\n" +
			"could serve a turn now, 6 when not, or when nobody answers.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx, stop := context.WithTimeout(cmd.Context(), within)
			defer stop()
			r, err := e.readiness(ctx)
			if err != nil {
				return err
			}
			return e.showReadiness(r)
		},
	}
	c.Flags().DurationVar(&within, "within", 5*time.Second, "longest wait for the answer")
	return c
}

func (e *env) readiness(ctx context.Context) (r readiness, err error) {
	c, err := e.config()
	if err != nil {
		return r, err
	}
	base, self, err := app.Self(c)
	if err != nil {
		return r, err
	}
	silent := func(err error) error {
		return errs.Wrap(errs.UpstreamUnavailable, err, "no macaron server answers at "+base, "start it with `macaron up`")
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, base+"/readyz", http.NoBody)
	if err != nil {
		return r, err
	}
	resp, err := self.Do(req)
	if err != nil {
		return r, silent(err)
	}
	defer resp.Body.Close()
	if err := json.NewDecoder(io.LimitReader(resp.Body, 1<<20)).Decode(&r); err != nil || r.Status == "" {
		return r, silent(errors.Join(err, errors.New("the answer tells nothing of readiness")))
	}
	return r, nil
}

func (e *env) showReadiness(r readiness) error {
	if e.json {
		if err := e.printJSON(r); err != nil {
			return err
		}
	} else {
		fmt.Fprintln(e.out, r.Status)
		for _, c := range r.Checks {
			if !c.Ready {
				fmt.Fprintln(e.out, "  "+c.Name+": "+c.Error)
			}
		}
	}
	if r.Status != "ready" {
		return reported(errs.UpstreamUnavailable)
	}
	return nil
}
