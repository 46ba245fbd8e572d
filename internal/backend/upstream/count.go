package upstream

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"macaron/internal/backend"
	"macaron/internal/errs"
)

var _ backend.Counter = (*Backend)(nil)

// countBody is a prompt as POST /tokenize takes it.
type countBody struct {
	Model    string    `json:"model"`
	Messages []message `json:"messages"`
	Tools    []tool    `json:"tools,omitempty"`
	Begin    bool      `json:"add_generation_prompt"`
}

// Count implements backend.Counter, by the tokenizer of servers that have /tokenize.
func (b *Backend) Count(ctx context.Context, r backend.Request) (int, error) {
	d, err := b.dialect(ctx)
	if err != nil {
		return 0, err
	}
	if !d.counts {
		return 0, b.uncounted(d.name)
	}
	model, err := b.ModelOf(r.Revision)
	if err != nil {
		return 0, err
	}
	q := compose(model, d, r)
	text, err := json.Marshal(countBody{model, q.Messages, q.Tools, true})
	if err != nil {
		return 0, errs.Wrap(errs.Internal, err, "the request to the engine cannot be written as JSON", "")
	}
	ctx, stop := context.WithTimeout(ctx, b.Timeout)
	defer stop()
	resp, err := b.post(ctx, strings.TrimSuffix(b.URL, "/v1")+"/tokenize", model, text)
	var no *refusal
	if errors.As(err, &no) && (no.status == http.StatusNotFound || no.status == http.StatusMethodNotAllowed) {
		return 0, b.uncounted(d.name)
	}
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	return b.counted(ctx, resp.Body)
}

// counted reads the answer; the list of tokens in it is passed over.
func (b *Backend) counted(ctx context.Context, in io.Reader) (int, error) {
	text, err := io.ReadAll(io.LimitReader(in, maxEvent+1))
	if err != nil {
		return 0, b.unreachable(ctx, err)
	}
	var answer struct {
		Count *int `json:"count"`
	}
	if err := json.Unmarshal(text, &answer); err != nil || answer.Count == nil || *answer.Count < 0 {
		return 0, errs.New(errs.UpstreamFailed, "the engine at "+b.host+" counts tokens in a form that is not understood", "")
	}
	return *answer.Count, nil
}

func (b *Backend) uncounted(kind string) error {
	return errs.New(errs.Unsupported, fmt.Sprintf("the engine, of the kind %s, does not count the tokens of a prompt", kind), "use the built-in engine, or one with POST /tokenize")
}
