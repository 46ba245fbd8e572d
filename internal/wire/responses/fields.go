package responses

import (
	"encoding/json"

	"macaron/internal/errs"
	"macaron/internal/limits"
	"macaron/internal/wire/chatapi"
)

// reader takes one field of the body into the request.
type reader func(r *request, field string, raw json.RawMessage) error

// fields is the whole API: each field that is known, and how it is honoured.
var fields = map[string]reader{
	"model":        modelField,
	"input":        inputField,
	"instructions": instructions,
	"stream":       flag(func(r *request) *bool { return &r.stream }),
	"store":        flag(func(r *request) *bool { return &r.asked.Store }),
	"background":   flag(func(r *request) *bool { return &r.asked.Background }),
	"previous_response_id": func(r *request, f string, raw json.RawMessage) (err error) {
		r.asked.PreviousResponseID = raw
		r.previous, err = limits.Text(f, raw, limits.NameBytes)
		return err
	},
	"conversation": conversation,
	"temperature": number(0, 2, func(r *request, raw json.RawMessage, x *float64) {
		r.asked.Temperature, r.Sampling.Temperature = raw, x
	}),
	"top_p": number(0, 1, func(r *request, raw json.RawMessage, x *float64) {
		r.asked.TopP, r.Sampling.TopP = raw, x
	}),
	"max_output_tokens": func(r *request, f string, raw json.RawMessage) error {
		n, err := limits.Whole(f, raw, 1, limits.OutputTokens)
		r.asked.MaxOutputTokens, r.MaxTokens = raw, int(n)
		return err
	},
	"tools":       tools,
	"tool_choice": toolChoice,
	"parallel_tool_calls": func(r *request, f string, raw json.RawMessage) (err error) {
		r.asked.ParallelToolCalls, err = limits.Bool(f, raw)
		r.ToolChoice.Single = !r.asked.ParallelToolCalls
		return err
	},
	"text":      text,
	"reasoning": reasoning,
	"metadata": func(r *request, f string, raw json.RawMessage) error {
		r.asked.Metadata = raw
		return chatapi.Metadata(f, raw)
	},
	"user": func(r *request, f string, raw json.RawMessage) (err error) {
		r.asked.User = raw
		r.user, err = limits.Text(f, raw, limits.NameBytes)
		return err
	},
	"safety_identifier": func(r *request, f string, raw json.RawMessage) (err error) {
		r.asked.SafetyIdentifier = raw
		r.safety, err = limits.Text(f, raw, limits.NameBytes)
		return err
	},
	"macaron": func(r *request, f string, raw json.RawMessage) error {
		return chatapi.Extension(&r.Request, f, raw)
	},
	"include":    include,
	"truncation": truncation,
	"max_tool_calls": func(r *request, f string, raw json.RawMessage) error { // it counts calls of built-in tools, of which there are none
		_, err := limits.Whole(f, raw, 1, 1<<20)
		r.asked.MaxToolCalls = raw
		return reported(r, f, err)
	},
	"prompt_cache_key": func(r *request, f string, raw json.RawMessage) error {
		_, err := limits.Text(f, raw, limits.NameBytes)
		r.asked.PromptCacheKey = raw
		return reported(r, f, err)
	},
	"top_logprobs": func(_ *request, f string, raw json.RawMessage) error {
		if n, err := limits.Whole(f, raw, 0, limits.TopLogprobs); err != nil || n == 0 {
			return err
		}
		return noLogprobs(f)
	},
	"stream_options":         ignored,
	"service_tier":           ignored,
	"prompt_cache_retention": ignored,
	"prompt_cache_options":   ignored,
	"access_programs":        ignored,
	"background_options":     ignored,
	"image":                  ignored,
	"prompt":                 refused("there are no stored prompts here", "send instructions and input"),
	"moderation":             refused("there is no moderation here", "leave it out"),
	"context_management":     refused("a conversation is not compacted on request", "leave it out"),
}

func noLogprobs(field string) error {
	return errs.New(errs.Unsupported, "this interface does not tell log probabilities", "ask POST /v1/chat/completions for them").In(field)
}

func modelField(r *request, field string, raw json.RawMessage) (err error) {
	if r.asked.Model, err = limits.Text(field, raw, limits.NameBytes); err != nil {
		return err
	}
	r.Adapter, err = chatapi.Model(field, r.asked.Model)
	return err
}

func instructions(r *request, field string, raw json.RawMessage) (err error) {
	r.asked.Instructions = raw
	r.instructions, err = limits.Text(field, raw, limits.TextBytes)
	return err
}

// conversation reads an id or an object with one.
func conversation(r *request, field string, raw json.RawMessage) error {
	at, id := field, raw
	if raw[0] == '{' {
		members, err := limits.Object(field, raw)
		if err != nil {
			return err
		}
		at, id = field+".id", members["id"]
	}
	s, err := limits.Text(at, id, limits.NameBytes)
	if err != nil {
		return err
	}
	r.asked.Conversation = &named{ID: s}
	r.session, err = parseConversation(at, s)
	return err
}

// text reads the format that the answer is to have, into the form of Chat Completions
// that engines take.
func text(r *request, field string, raw json.RawMessage) error {
	members, err := limits.Object(field, raw)
	if err != nil {
		return err
	}
	r.asked.Text = raw
	r.ignored.Rest(field, members, "format")
	if limits.Absent(members["format"]) {
		return nil
	}
	at := field + ".format"
	format, err := limits.Object(at, members["format"])
	if err != nil {
		return err
	}
	if len(raw) > limits.SchemaBytes {
		return errs.Newf(errs.TooLarge, "%s is larger than %d bytes", at, limits.SchemaBytes).In(at)
	}
	kind, err := chatapi.OneOf(at+".type", format["type"], "text", "json_object", "json_schema")
	if err != nil || kind == "text" {
		return err
	}
	nested := map[string]json.RawMessage{"type": format["type"]}
	if kind == "json_schema" {
		if _, err := limits.Object(at+".schema", format["schema"]); err != nil {
			return err
		}
		delete(format, "type")
		if nested["json_schema"], err = json.Marshal(format); err != nil {
			return errs.Wrap(errs.InvalidRequest, err, at+" cannot be read", "")
		}
	}
	r.Sampling.ResponseFormat, err = json.Marshal(nested)
	return err
}

func reasoning(r *request, field string, raw json.RawMessage) error {
	members, err := limits.Object(field, raw)
	if err != nil {
		return err
	}
	r.asked.Reasoning = raw
	for name, value := range members {
		at := field + "." + errs.Clip(name)
		switch {
		case limits.Absent(value):
		case name == "effort":
			if r.Reasoning, err = chatapi.OneOf(at, value, "none", "minimal", "low", "medium", "high", "xhigh"); err != nil {
				return err
			}
		default: // the reasoning itself is in the answer; nobody sums it up
			r.ignored.Add(at)
		}
	}
	return nil
}

// include asks for more in the answer. What belongs to tools that are not here is never
// missing; encrypted reasoning is reported, since the reasoning comes in plain text.
func include(r *request, field string, raw json.RawMessage) error {
	items, err := limits.List(field, raw, 32)
	for i := 0; err == nil && i < len(items); i++ {
		var what string
		if what, err = limits.Text(field, items[i], limits.NameBytes); err != nil {
			return err
		}
		switch what {
		case "message.output_text.logprobs":
			return noLogprobs(field)
		case "message.input_image.image_url":
		default:
			r.ignored.Add(field + ": " + errs.Clip(what))
		}
	}
	return err
}

// truncation: a view that does not fit is refused with numbers, or compacted as the
// contract says; a request cannot ask for it.
func truncation(r *request, field string, raw json.RawMessage) error {
	kind, err := chatapi.OneOf(field, raw, "disabled", "auto")
	if kind == "auto" {
		r.ignored.Add(field)
	}
	return err
}

func flag(at func(*request) *bool) reader {
	return func(r *request, field string, raw json.RawMessage) (err error) {
		*at(r), err = limits.Bool(field, raw)
		return err
	}
}

func number(low, high float64, set func(*request, json.RawMessage, *float64)) reader {
	return func(r *request, field string, raw json.RawMessage) error {
		x, err := limits.Number(field, raw, low, high)
		set(r, raw, x)
		return err
	}
}

func ignored(r *request, field string, _ json.RawMessage) error { return reported(r, field, nil) }

func reported(r *request, field string, err error) error {
	r.ignored.Add(field)
	return err
}

func refused(message, next string) reader {
	return func(_ *request, field string, _ json.RawMessage) error {
		return errs.New(errs.Unsupported, message, next).In(field)
	}
}

// tools reads functions, whose members stand beside their type here.
func tools(r *request, field string, raw json.RawMessage) error {
	items, err := limits.List(field, raw, limits.ToolCount)
	if err != nil {
		return err
	}
	r.asked.Tools = raw
	for i, item := range items {
		at := indexed(field, i)
		members, err := limits.Object(at, item)
		if err != nil {
			return err
		}
		if err := function(at, members["type"], "built-in tools are not run here"); err != nil {
			return err
		}
		r.ignored.Rest(at, members, "type", "name", "description", "parameters", "strict")
		t, err := chatapi.Function(at, members)
		if err != nil {
			return err
		}
		r.Tools = append(r.Tools, t)
	}
	return nil
}

// function refuses every other type of tool by its name.
func function(at string, kind json.RawMessage, message string) error {
	s, err := limits.Text(at+".type", kind, limits.NameBytes)
	if err == nil && s != "function" {
		err = errs.New(errs.Unsupported, message+": \""+errs.Clip(s)+"\"", "use \"function\"").In(at + ".type")
	}
	return err
}

func toolChoice(r *request, field string, raw json.RawMessage) error {
	r.asked.ToolChoice = raw
	if raw[0] == '"' {
		return chatapi.ToolChoice(&r.ToolChoice, field, raw)
	}
	members, err := limits.Object(field, raw)
	if err != nil {
		return err
	}
	if err := function(field, members["type"], "a choice of this type cannot be kept to"); err != nil {
		return err
	}
	r.ToolChoice.Mode = "function"
	r.ToolChoice.Name, err = limits.Text(field+".name", members["name"], limits.NameBytes)
	return err
}
