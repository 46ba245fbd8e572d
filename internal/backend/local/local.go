// Package local is the Generator of the built-in engine: it turns messages into token
// ids by the model's own chat template, finds the adapter of a revision, and turns the
// engine's tokens back into text, tool calls and choices.
package local

import (
	"context"
	"fmt"

	"macaron/internal/adapter"
	"macaron/internal/backend"
	"macaron/internal/chat"
	"macaron/internal/engine"
	"macaron/internal/engine/template"
	"macaron/internal/errs"
)

// Backend generates with one engine. It is safe for concurrent use.
type Backend struct {
	eng      *engine.Engine
	info     chat.Engine
	context  int
	template *template.Template
	adapters shelf
	grammars grammars
}

var (
	_ backend.Generator = (*Backend)(nil)
	_ backend.Counter   = (*Backend)(nil)
)

// New makes a backend of an open engine, which stays the caller's to close. resolve
// finds the directory of an adapter's revision.
func New(eng *engine.Engine, resolve func(adapter.Revision) (dir string, err error)) (*Backend, error) {
	in := eng.Info()
	b := &Backend{eng: eng, context: in.Context, adapters: shelf{store: eng.Adapters(), resolve: resolve}, grammars: grammars{vocab: eng.Constraints}}
	b.info = chat.Engine{Name: "macaron", Base: string(in.Base), Tokenizer: in.Tokenizer}
	if in.Template != "" {
		t, err := template.Parse(in.Template)
		if err != nil {
			return nil, err
		}
		b.template, b.info.Template = t, t.Hash()
	}
	return b, nil
}

// Capabilities says what the built-in engine can do.
func (b *Backend) Capabilities() backend.Capabilities {
	return backend.Capabilities{Engine: b.info, Adapters: true, Choices: true, Logprobs: true, TokenIDs: true, Samplers: true,
		Tools: b.template != nil, ForcedTools: b.template != nil, JSONSchema: true, Grammars: true, Overlays: true, Context: b.context, CachedTokens: true, TakesTokens: true}
}

// Ready reports whether the engine serves.
func (b *Backend) Ready(context.Context) error { return b.eng.Ready() }

// refuse names what a request asks for and this backend cannot do.
func (b *Backend) refuse(r *backend.Request) error {
	if len(r.Choices) > 0 && len(r.Tools) > 0 {
		return errs.New(errs.InvalidRequest, "a request has choices or tools, not both", "").In("choices")
	}
	for _, id := range r.Decoding.StopIDs {
		if vocab := b.eng.Info().Vocab; id < 0 || int(id) >= vocab {
			return errs.Newf(errs.InvalidRequest, "token %d is not in the vocabulary of %d", id, vocab).In("stop_token_ids")
		}
	}
	for i, m := range r.Messages {
		for _, p := range m.Parts {
			if p.Kind != "text" {
				return errs.New(errs.Unsupported, fmt.Sprintf("message %d holds %q; the built-in engine takes text only", i, p.Kind), "leave it out, or use an engine that takes it with --upstream").In("messages")
			}
		}
	}
	return nil
}
