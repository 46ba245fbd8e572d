package anthropic

import (
	"encoding/json"

	"macaron/internal/chat"
	"macaron/internal/errs"
	"macaron/internal/limits"
	"macaron/internal/wire/chatapi"
)

// reader takes one field of the body into the request.
type reader func(r *request, field string, raw json.RawMessage) error

// fields is the whole API: each field that is known, and how it is honoured.
var fields = map[string]reader{
	"model": func(r *request, f string, raw json.RawMessage) (err error) {
		if r.model, err = limits.Text(f, raw, limits.NameBytes); err == nil {
			r.Adapter, err = chatapi.Model(f, r.model)
		}
		return err
	},
	"system":   systemField,
	"messages": messagesField,
	"max_tokens": func(r *request, f string, raw json.RawMessage) error {
		n, err := limits.Whole(f, raw, 1, limits.OutputTokens)
		r.MaxTokens = int(n)
		return err
	},
	"temperature": number(func(s *chat.Sampling) **float64 { return &s.Temperature }),
	"top_p":       number(func(s *chat.Sampling) **float64 { return &s.TopP }),
	"top_k": func(r *request, f string, raw json.RawMessage) error {
		n, err := limits.Whole(f, raw, 0, 1<<20)
		k := int(n)
		r.Sampling.TopK = &k
		return err
	},
	"stop_sequences": func(r *request, f string, raw json.RawMessage) (err error) {
		if _, err = limits.List(f, raw, limits.StopCount); err == nil {
			r.Sampling.Stop, err = chatapi.Stop(f, raw)
		}
		return err
	},
	"stream": func(r *request, f string, raw json.RawMessage) (err error) {
		r.stream, err = limits.Bool(f, raw)
		return err
	},
	"tools":         toolsField,
	"tool_choice":   toolChoice,
	"thinking":      thinkingField,
	"output_config": outputConfig,
	"metadata":      metadata,
	"macaron": func(r *request, f string, raw json.RawMessage) error {
		return chatapi.Extension(&r.Request, f, raw)
	},
	"cache_control":      reported,
	"diagnostics":        reported,
	"inference_geo":      reported,
	"service_tier":       reported,
	"speed":              reported,
	"user_profile_id":    reported,
	"workspace_id":       reported,
	"container":          refused("there are no containers here", "leave it out"),
	"mcp_servers":        refused("no servers of tools are called from here", "call them yourself and offer their tools in tools"),
	"context_management": refused("the history is not edited here", "leave it out"),
	"output_format":      refused("output_format is the old form", "send output_config.format"),
}

func number(at func(*chat.Sampling) **float64) reader {
	return func(r *request, field string, raw json.RawMessage) (err error) {
		*at(&r.Sampling), err = limits.Number(field, raw, 0, 1)
		return err
	}
}

// metadata reads user_id, within which conversations are found again.
func metadata(r *request, field string, raw json.RawMessage) error {
	members, err := limits.Object(field, raw)
	if err != nil {
		return err
	}
	r.unknown(field, members, "user_id")
	if id := members["user_id"]; !limits.Absent(id) {
		r.Scope, err = limits.Text(field+".user_id", id, limits.NameBytes)
	}
	return err
}

// reported is a wish that nobody here can fulfil and that changes no answer.
func reported(r *request, field string, _ json.RawMessage) error {
	r.ignore(field)
	return nil
}

func refused(message, next string) reader {
	return func(_ *request, field string, _ json.RawMessage) error {
		return errs.New(errs.Unsupported, message, next).In(field)
	}
}
