package upstream

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"

	"macaron/internal/backend"
	"macaron/internal/chat"
	"macaron/internal/errs"
)

// dialect is what one kind of server understands beyond the common API. Each has a
// file of its own; docs/formats/engines.md lists them.
type dialect struct {
	name string
	// known recognises the server by what it told of itself.
	known func(*Facts) bool
	// extended: top_k, min_p and repetition_penalty are taken, and reasoning is given back.
	extended bool
	// salted: cache_salt keeps the prefix caches of tenants apart.
	salted bool
	// ids: return_token_ids has an answer tell the tokens of its prompt and its own.
	ids bool
	// counts: POST /tokenize tells the tokens of a conversation.
	counts bool
	// templated: an answer that is begun is gone on from, and templates are told things.
	templated bool
	// choose asks for exactly one of the choices; nil: nothing does. wrapped: the answer
	// is a JSON object with the label in it.
	choose  func(q *body, choices []string)
	wrapped bool
	// alternatives is how many of the likeliest tokens come with a choice; 0: none.
	alternatives int
	// constrain holds an answer to a language.
	constrain func(q *body, c backend.Constraint) bool
	// address chooses the adapter in the request; nil: the model name does. The release
	// is called when the answer has ended.
	address func(ctx context.Context, b *Backend, q *body, r backend.Request) (release func(), err error)
	// Of an API that is not Chat Completions: its path, how requests are written and signed,
	// and how answers are read.
	path  string
	write func(q body, r backend.Request) ([]byte, error)
	read  func(p *parser, contentType string, in io.Reader) error
	sign  func(h http.Header, key string)
}

// Auto finds the dialect out by asking the server.
const Auto = "auto"

var dialects = []*dialect{macaron, vllm, sglang, llama, anthropic, plain}

// former are names that the dialects have had.
var former = map[string]string{"llama": llama.name, "plain": plain.name, "": plain.name}

// Dialects lists the names that Config.Dialect takes.
func Dialects() []string {
	out := []string{Auto}
	for _, d := range dialects {
		out = append(out, d.name)
	}
	return out
}

// SameDialect reports whether two names are those of one dialect.
func SameDialect(a, b string) bool {
	one, err := named(a)
	two, wrong := named(b)
	return err == nil && wrong == nil && one == two
}

// named finds a dialect; nil stands for Auto.
func named(name string) (*dialect, error) {
	if now, ok := former[name]; ok {
		name = now
	}
	if name == Auto {
		return nil, nil
	}
	i := slices.IndexFunc(dialects, func(d *dialect) bool { return d.name == name })
	if i < 0 {
		return nil, errs.New(errs.InvalidRequest, fmt.Sprintf("there is no dialect %q", errs.Clip(name)), "use one of "+strings.Join(Dialects(), ", "))
	}
	return dialects[i], nil
}

// capabilities are those of a server of which nothing more is known.
func (d *dialect) capabilities() backend.Capabilities {
	if d.write != nil {
		return backend.Capabilities{Adapters: true, Tools: true, ForcedTools: true, CachedTokens: true}
	}
	return backend.Capabilities{
		Adapters: true, Choices: d.choose != nil, Logprobs: true, TokenIDs: d.ids, Tools: true, ForcedTools: true,
		Images: true, JSONSchema: true, Reasoning: true, Samplers: d.extended, CachedTokens: true,
	}
}

// structuredOutputs are the constraints as vLLM takes them.
func structuredOutputs(q *body, c backend.Constraint) bool {
	switch c.Kind {
	case backend.Regex:
		q.StructuredOutputs = &structured{Regex: c.Text}
	case backend.Grammar:
		q.StructuredOutputs = &structured{Grammar: c.Text}
	default:
		return responseFormat(q, c)
	}
	return true
}

// responseFormat are the constraints of the common API.
func responseFormat(q *body, c backend.Constraint) bool {
	switch c.Kind {
	case backend.JSONObject:
		q.ResponseFormat = json.RawMessage(`{"type":"json_object"}`)
	case backend.JSONSchema:
		q.ResponseFormat = schemaFormat("answer", json.RawMessage(c.Text))
	default:
		return false
	}
	return true
}

func schemaFormat(name string, schema json.RawMessage) json.RawMessage {
	return json.RawMessage(`{"type":"json_schema","json_schema":{"name":` + chat.Quote(name) + `,"strict":true,"schema":` + string(schema) + `}}`)
}

// endpoint is where requests go, behind the server's URL.
func (d *dialect) endpoint() string {
	if d.path != "" {
		return d.path
	}
	return "/chat/completions"
}

func (d *dialect) encode(q body, r backend.Request) ([]byte, error) {
	if d.write != nil {
		return d.write(q, r.Asked())
	}
	return q.encode()
}
