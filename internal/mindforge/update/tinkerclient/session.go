package tinkerclient

import (
	"context"
	"net/http"
	"net/url"
	"time"

	"macaron/internal/errs"
	"macaron/internal/train"
)

// version is what a server is told of this client: the last one whose results are JSON.
const version = "0.24.1"

// Base is a model that a server trains adapters of.
type Base struct {
	Name    string `json:"model_name"`
	Context int    `json:"max_context_length"`
}

// Bases lists what the server trains.
func (c *Client) Bases(ctx context.Context) ([]Base, error) {
	a, err := c.insist(ctx, func() (*answer, error) {
		return c.ask(ctx, http.MethodGet, "get_server_capabilities", "", nil)
	})
	if err != nil {
		return nil, err
	}
	var out struct {
		Models []Base `json:"supported_models"`
	}
	return out.Models, a.read("get_server_capabilities", &out)
}

// Begin opens a session and gives its name.
func (c *Client) Begin(ctx context.Context, tags []string, metadata map[string]string) (string, error) {
	var out struct {
		ID string `json:"session_id"`
	}
	err := c.post(ctx, "create_session", map[string]any{"type": "create_session", "tags": tags, "user_metadata": metadata, "sdk_version": version}, &out)
	if err == nil && out.ID == "" {
		err = errs.New(errs.UpstreamFailed, "the training service gives a session without a name", "look at its version")
	}
	return out.ID, err
}

// Alive keeps a session from ending by silence; errs.Gone says that it has ended, and
// errs.NotFound that the server does not know it.
func (c *Client) Alive(ctx context.Context, session string) error {
	return c.post(ctx, "session_heartbeat", map[string]any{"type": "session_heartbeat", "session_id": session}, nil)
}

// Finish ends a session. What was saved in it stays.
func (c *Client) Finish(ctx context.Context, session string) error {
	return c.post(ctx, "sessions/"+url.PathEscape(session)+"/finish", map[string]any{"reason": map[string]string{"type": "success"}, "detail": ""}, nil)
}

// Start says what a model begins from: an adapter of a shape, whose first values are by the
// seed, or the checkpoint at Path, with its own shape.
type Start struct {
	Base string
	Spec train.Spec // of a new one: rank, seed and the three groups of modules; alpha is the server's, 32
	Path string     // tinker://...; "": a new one
	// Metadata go with what is published of the run: data, recipe, contract, metric.NAME.
	Metadata map[string]string
}

// Model begins a training run, the session's number n from 0. The same number again gives
// the run that it began.
func (c *Client) Model(ctx context.Context, session string, n int64, s Start) (*Model, error) {
	m := &Model{c: c, session: session}
	path, body := "create_model", map[string]any{"type": "create_model", "session_id": session, "model_seq_id": n, "user_metadata": s.Metadata}
	if s.Path != "" {
		path, body["type"] = "load_weights", "load_weights"
		body["path"], body["optimizer"] = s.Path, false
	} else {
		body["base_model"] = s.Base
		body["lora_config"] = map[string]any{"rank": s.Spec.Rank, "seed": s.Spec.Seed, "train_attn": s.Spec.Attn, "train_mlp": s.Spec.MLP, "train_unembed": s.Spec.Unembed}
	}
	out, err := m.result(ctx, path, body)
	if err != nil {
		return nil, err
	}
	if out.Model == "" {
		return nil, errs.New(errs.UpstreamFailed, "the training service gives a model without a name", "look at its version")
	}
	m.ID, m.beat = out.Model, time.Now()
	return m, nil
}
