package openai

import (
	"encoding/json"
	"fmt"

	"macaron/internal/chat"
	"macaron/internal/errs"
	"macaron/internal/limits"
	"macaron/internal/wire/chatapi"
)

// reader takes one field of the body into the request.
type reader func(r *request, field string, raw json.RawMessage) error

// fields is the whole API: each field that is known, and how it is honoured.
var fields = map[string]reader{
	"model": modelField,
	"messages": func(r *request, f string, raw json.RawMessage) (err error) {
		r.Messages, err = chatapi.Messages(f, raw, &r.ignored)
		return err
	},
	"tools": func(r *request, f string, raw json.RawMessage) (err error) {
		r.Tools, err = chatapi.Tools(f, raw, &r.ignored)
		return err
	},
	"stream": func(r *request, f string, raw json.RawMessage) (err error) {
		r.stream, err = limits.Bool(f, raw)
		return err
	},
	"stream_options":     streamOptions,
	"temperature":        number(sample(func(s *chat.Sampling) **float64 { return &s.Temperature }), 0, 2),
	"top_p":              number(sample(func(s *chat.Sampling) **float64 { return &s.TopP }), 0, 1),
	"min_p":              number(sample(func(s *chat.Sampling) **float64 { return &s.MinP }), 0, 1),
	"repetition_penalty": number(sample(func(s *chat.Sampling) **float64 { return &s.RepetitionPenalty }), 0.01, 10),
	"presence_penalty":   number(sample(func(s *chat.Sampling) **float64 { return &s.PresencePenalty }), -2, 2),
	"frequency_penalty":  number(sample(func(s *chat.Sampling) **float64 { return &s.FrequencyPenalty }), -2, 2),
	"top_k":              topK,
	"seed": func(r *request, f string, raw json.RawMessage) (err error) {
		r.Sampling.Seed, err = chatapi.Seed(f, raw)
		return err
	},
	"stop": func(r *request, f string, raw json.RawMessage) (err error) {
		r.Sampling.Stop, err = chatapi.Stop(f, raw)
		return err
	},
	"max_tokens":            maxTokens,
	"max_completion_tokens": maxTokens,
	"logprobs": func(r *request, f string, raw json.RawMessage) (err error) {
		r.Sampling.Logprobs, err = limits.Bool(f, raw)
		return err
	},
	"top_logprobs":    topLogprobs,
	"response_format": responseFormat,
	"tool_choice": func(r *request, f string, raw json.RawMessage) error {
		return chatapi.ToolChoice(&r.ToolChoice, f, raw)
	},
	"parallel_tool_calls": parallel,
	"reasoning_effort": func(r *request, f string, raw json.RawMessage) (err error) {
		r.Reasoning, err = chatapi.OneOf(f, raw, "none", "minimal", "low", "medium", "high", "xhigh")
		return err
	},
	"user": func(r *request, f string, raw json.RawMessage) (err error) {
		r.Scope, err = limits.Text(f, raw, limits.NameBytes)
		return err
	},
	"metadata": metadata,
	"macaron": func(r *request, f string, raw json.RawMessage) error {
		return chatapi.Extension(&r.Request, f, raw)
	},
	"n":             onlyOne,
	"logit_bias":    refusedUnlessEmpty("tokens cannot be biased here"),
	"functions":     refused("functions is the old form", "send tools instead"),
	"function_call": refused("function_call is the old form", "send tool_choice instead"),
	"modalities":    modalities,
	"audio":         refused("there is no audio here", "leave it out"),
}

func modelField(r *request, field string, raw json.RawMessage) error {
	id, err := limits.Text(field, raw, limits.NameBytes)
	if err != nil {
		return err
	}
	r.model = id
	r.Adapter, err = chatapi.Model(field, id)
	return err
}

func streamOptions(r *request, field string, raw json.RawMessage) error {
	members, err := limits.Object(field, raw)
	if err != nil {
		return err
	}
	for name, value := range members {
		if name != "include_usage" {
			r.ignored.Add(field + "." + errs.Clip(name))
			continue
		}
		if r.includeUsage, err = limits.Bool(field+"."+name, value); err != nil {
			return err
		}
	}
	return nil
}

func topK(r *request, field string, raw json.RawMessage) error {
	n, err := limits.Whole(field, raw, -1, 1<<20)
	k := int(max(n, 0)) // -1 and 0 both mean all
	r.Sampling.TopK = &k
	return err
}

func topLogprobs(r *request, field string, raw json.RawMessage) error {
	n, err := limits.Whole(field, raw, 0, limits.TopLogprobs)
	r.Sampling.TopLogprobs = int(n)
	return err
}

func responseFormat(r *request, field string, raw json.RawMessage) error {
	members, err := limits.Object(field, raw)
	if err != nil {
		return err
	}
	if len(raw) > limits.SchemaBytes {
		return errs.Newf(errs.TooLarge, "%s is larger than %d bytes", field, limits.SchemaBytes).In(field)
	}
	kind, err := chatapi.OneOf(field+".type", members["type"], "text", "json_object", "json_schema")
	if kind != "text" {
		r.Sampling.ResponseFormat = raw
	}
	return err
}

// parallel false means at most one call an answer; the turn drops the others.
func parallel(r *request, field string, raw json.RawMessage) error {
	many, err := limits.Bool(field, raw)
	r.ToolChoice.Single = !many
	return err
}

func metadata(r *request, field string, raw json.RawMessage) error {
	r.metadata = raw
	return chatapi.Metadata(field, raw)
}

func onlyOne(_ *request, field string, raw json.RawMessage) error {
	_, err := limits.Whole(field, raw, 1, 1)
	return err
}

func modalities(_ *request, field string, raw json.RawMessage) error {
	items, err := limits.List(field, raw, 8)
	for i := 0; err == nil && i < len(items); i++ {
		_, err = chatapi.OneOf(fmt.Sprintf("%s[%d]", field, i), items[i], "text")
	}
	return err
}

func refused(message, next string) reader {
	return func(_ *request, field string, _ json.RawMessage) error {
		return errs.New(errs.Unsupported, message, next).In(field)
	}
}

func refusedUnlessEmpty(message string) reader {
	return func(_ *request, field string, raw json.RawMessage) error {
		if members, err := limits.Object(field, raw); err != nil || len(members) == 0 {
			return err
		}
		return errs.New(errs.Unsupported, message, "leave it out").In(field)
	}
}
