package tinker

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"net/http"
	"time"
)

// clientConfig answers what every SDK from 0.18 on asks first. It leaves the parts of
// forward_backward unordered and uncompressed: they are put in order here, and the network
// is this machine's own or a near one.
func (a *api) clientConfig(w http.ResponseWriter, r *http.Request) error {
	return a.answer(w, r, map[string]any{
		"pjwt_auth_enabled": false, "credential_default_source": "api_key",
		"parallel_fwdbwd_chunks": true, "proto_compress_fwdbwd": false, "fwdbwd_max_chunk_len": 1024,
		"sample_max_concurrent_requests": 512, "sample_use_retrieve_futures": false, "sample_join_sampling_session": false,
		"custom_loss_server_side": false, "use_pyqwest_transport": true,
	})
}

func (a *api) dynamicConfig(w http.ResponseWriter, r *http.Request) error {
	return a.answer(w, r, map[string]any{"refresh_interval_sec": 300, "sample_cancel_enabled": true, "sample_cancel_max_batch_size": 64})
}

func (a *api) healthz(w http.ResponseWriter, r *http.Request) error {
	return a.answer(w, r, map[string]string{"status": "ok"})
}

// telemetry is taken and thrown away: what clients of a server tell of themselves is not kept.
func (a *api) telemetry(w http.ResponseWriter, r *http.Request) error {
	if _, err := body(r); err != nil {
		return err
	}
	return a.answer(w, r, map[string]string{"status": "accepted"})
}

// token says who the caller is, in the form that the SDK's whoami reads. It is signed so that
// nobody takes another's for it, and opens nothing: requests show keys.
func (a *api) token(w http.ResponseWriter, r *http.Request) error {
	owner, now := a.owner(r), a.Clock.Now()
	claims := encode(map[string]any{"sub": "macaron:tenant:" + owner, "org_id": owner, "iat": now.Unix(), "exp": now.Add(time.Hour).Unix()})
	b64 := base64.RawURLEncoding.EncodeToString
	text := b64([]byte(`{"alg":"HS256","typ":"JWT"}`)) + "." + b64(claims)
	return a.answer(w, r, map[string]string{"jwt": text + "." + b64(a.mac("token", text))})
}

// mac authenticates a text for one purpose.
func (a *api) mac(purpose, text string) []byte {
	m := hmac.New(sha256.New, a.Key)
	fmt.Fprintf(m, "%s\n%s", purpose, text)
	return m.Sum(nil)
}

type supported struct {
	Name       string `json:"model_name"`
	Context    int    `json:"max_context_length,omitempty"`
	Trainable  bool   `json:"trainable"`
	Sampleable bool   `json:"sampleable"`
}

func (a *api) capabilities(w http.ResponseWriter, r *http.Request) error {
	bases, err := a.Service.Bases(r.Context(), a.owner(r))
	if err != nil {
		return err
	}
	models := []supported{}
	for _, b := range bases {
		models = append(models, supported{b.Name, b.MaxContext, b.Trainable, b.Sampleable})
	}
	return a.answer(w, r, map[string]any{"supported_models": models})
}

// tokenizer is what a client loads the tokenizer of a base from.
func (a *api) tokenizer(r *http.Request, base string) (string, error) {
	bases, err := a.Service.Bases(r.Context(), a.owner(r))
	for _, b := range bases {
		if b.Name == base && b.Tokenizer != "" {
			return b.Tokenizer, err
		}
	}
	return base, err
}

// info answers get_info at once.
func (a *api) info(w http.ResponseWriter, r *http.Request) error {
	o, err := body(r)
	if err != nil {
		return err
	}
	id := o.id("model_id")
	if err := o.close(); err != nil {
		return err
	}
	m, err := a.Service.Model(r.Context(), a.owner(r), id)
	if err != nil {
		return err
	}
	tokenizer, err := a.tokenizer(r, m.Base)
	if err != nil {
		return err
	}
	return a.answer(w, r, map[string]any{
		"type": "get_info", "model_id": m.ID, "model_name": m.Base, "is_lora": true, "lora_rank": m.Spec.Rank, "optimizer_config": optimizer,
		"model_data": map[string]string{"model_name": m.Base, "tokenizer_id": tokenizer},
	})
}

// optimizer is the one that there is.
var optimizer = map[string]string{"type": adamw}

const adamw = "adamw"
