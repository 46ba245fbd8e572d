package doctor

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/spf13/cobra"

	"macaron/cmd/macaron/cli"
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

// NewHealth gives `macaron health`.
func NewHealth(e *cli.Env) *cobra.Command {
	var within time.Duration
	c := &cobra.Command{
		Use: "health", Short: "Ask the running server whether it can serve", Args: cli.NoArgs,
		Long: "Asks the server at the configured address, as a container's health check does: exit code 0 when it\n" +
			"could serve a turn now, 6 when not, or when nobody answers.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx, stop := context.WithTimeout(cmd.Context(), within)
			defer stop()
			r, err := ready(ctx, e)
			if err != nil {
				return err
			}
			return showReadiness(e, r)
		},
	}
	c.Flags().DurationVar(&within, "within", 5*time.Second, "longest wait for the answer")
	return c
}

func ready(ctx context.Context, e *cli.Env) (r readiness, err error) {
	c, err := e.Config()
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

func showReadiness(e *cli.Env, r readiness) error {
	if e.JSON {
		if err := e.PrintJSON(r); err != nil {
			return err
		}
	} else {
		fmt.Fprintln(e.Out, r.Status)
		for _, c := range r.Checks {
			if !c.Ready {
				fmt.Fprintln(e.Out, "  "+c.Name+": "+c.Error)
			}
		}
	}
	if r.Status != "ready" {
		return cli.Reported(errs.UpstreamUnavailable)
	}
	return nil
}
