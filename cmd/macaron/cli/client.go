package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"time"

	"github.com/spf13/cobra"

	"macaron/internal/app"
	"macaron/internal/auth"
	"macaron/internal/config"
	"macaron/internal/errs"
	"macaron/internal/models"
	"macaron/internal/obs"
	"macaron/internal/store/homelock"
)

// Client talks to a Macaron over its own API, whichever process that is in.
type Client struct {
	Base  string
	HTTP  *http.Client
	Other bool // it is another process
}

// WithServer runs fn with the Macaron that already serves this home or its address, or
// else with one inside this process, on a free port, for as long as fn runs.
func (e *Env) WithServer(cmd *cobra.Command, fn func(context.Context, *Client) error) error {
	c, err := e.Config()
	if err != nil {
		return err
	}
	running, err := Serving(cmd.Context(), c)
	if err != nil {
		return err
	}
	if running != nil {
		return fn(cmd.Context(), running)
	}
	return e.WithModel(cmd, func(c config.Config, m models.Local) error {
		c.Listen, c.Door, c.Key = "127.0.0.1:0", config.Door{}, config.Secret(auth.NewSecret())
		a, err := app.New(c, app.Options{Version: Version, Model: m, Log: obs.NewLog(e.Err, "error", c.Log.Format), Key: c.Key})
		if err != nil {
			return err
		}
		return inProcess(cmd.Context(), c, a, fn)
	})
}

// Serving finds the Macaron that serves this home: at the address of the settings, else
// where the process that holds the home says that it serves. nil: there is none.
func Serving(ctx context.Context, c config.Config) (*Client, error) {
	for _, at := range []struct {
		address  func() string
		patience time.Duration
	}{{func() string { return c.Listen }, Asking}, {func() string { return homelock.Serving(c.Home) }, busy}} {
		if c.Listen = at.address(); c.Listen == "" {
			continue
		}
		base, self, err := app.Self(c)
		if err != nil {
			return nil, err
		}
		if running := (&Client{Base: base, HTTP: self, Other: true}); running.Alive(ctx, at.patience) {
			return running, nil
		}
	}
	return nil, nil
}

func inProcess(ctx context.Context, cfg config.Config, a *app.App, fn func(context.Context, *Client) error) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	l, err := app.Listen(ctx, cfg.Listen)
	if err != nil {
		return errors.Join(err, a.Close())
	}
	served := make(chan error, 1)
	go func() { served <- a.Serve(ctx, l) }()
	if err = a.WaitReady(ctx); err == nil {
		cfg.Listen = l.Addr().String()
		c := &Client{}
		if c.Base, c.HTTP, err = app.Self(cfg); err == nil {
			err = fn(ctx, c)
			c.HTTP.CloseIdleConnections()
		}
	}
	stop()
	if ended := <-served; err == nil {
		err = ended
	}
	return err
}

// Asking and busy are how long a server may take to say that it is one: at an address where anybody may be, and where the
// holder of the home says that it serves, which would refuse a second process anyhow.
const Asking, busy = time.Second, 10 * time.Second

// Alive reports whether a Macaron answers there.
func (c *Client) Alive(ctx context.Context, patience time.Duration) bool {
	ctx, stop := context.WithTimeout(ctx, patience)
	defer stop()
	var health struct {
		Status  string `json:"status"`
		Version string `json:"version"`
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, c.Base+"/healthz", http.NoBody)
	if err != nil {
		return false
	}
	resp, err := c.HTTP.Do(req)
	if err != nil {
		return false
	}
	defer resp.Body.Close()
	return json.NewDecoder(io.LimitReader(resp.Body, 1<<16)).Decode(&health) == nil && health.Status == "ok" && health.Version != ""
}

// Post sends JSON and returns the answer of a success; its body is the caller's to close.
func (c *Client) Post(ctx context.Context, path string, body any) (*http.Response, error) {
	text, err := json.Marshal(body)
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.Base+path, bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	return c.send(ctx, req)
}

// Get asks for what stands at a path, as post does.
func (c *Client) Get(ctx context.Context, path string) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, c.Base+path, http.NoBody)
	if err != nil {
		return nil, err
	}
	return c.send(ctx, req)
}

func (c *Client) send(ctx context.Context, req *http.Request) (*http.Response, error) {
	resp, err := c.HTTP.Do(req)
	if err != nil {
		if ctx.Err() != nil {
			return nil, errs.Wrap(errs.Canceled, err, "stopped", "")
		}
		return nil, errs.Wrap(errs.UpstreamUnavailable, err, "the server at "+c.Base+" does not answer", "start it with `macaron up`")
	}
	if resp.StatusCode == http.StatusOK {
		return resp, nil
	}
	defer resp.Body.Close()
	return nil, Refusal(resp.Body)
}

// Refusal reads the API's error object back into an error.
func Refusal(r io.Reader) error {
	var body struct {
		Error struct {
			Message string `json:"message"`
			Code    string `json:"code"`
			Param   string `json:"param"`
		} `json:"error"`
	}
	if err := json.NewDecoder(io.LimitReader(r, 1<<20)).Decode(&body); err != nil || body.Error.Message == "" {
		return errs.Wrap(errs.UpstreamFailed, errors.Join(err, errors.New("no error object")), "the server gave an answer that is none of Macaron's", "see what listens at that address")
	}
	next := ""
	if body.Error.Code == string(errs.Unauthenticated) {
		next = "set MACARON_KEY or --key-file to a key of that server"
	}
	return errs.New(errs.Code(body.Error.Code), body.Error.Message, next).In(body.Error.Param)
}
