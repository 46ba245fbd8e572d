package vllm

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	"macaron/internal/chat"
	"macaron/internal/engine/sample"
	"macaron/internal/errs"
	"macaron/internal/limits"
	"macaron/internal/wire/chatapi"
)

// The bounds of this API.
const (
	maxChoices  = 64
	maxBiases   = 1024
	maxStopIDs  = 128
	saltBytes   = 1024
	listPrompts = 2048
)

// sampling are the fields that completions and chat completions share.
var sampling = map[string]reader{
	"model": func(r *request, f string, raw json.RawMessage) (err error) {
		r.model, err = limits.Text(f, raw, limits.NameBytes)
		return err
	},
	"stream":                     boolean(func(r *request) *bool { return &r.stream }),
	"stream_options":             streamOptions,
	"temperature":                number(func(s *chat.Sampling) **float64 { return &s.Temperature }, 0, 100),
	"top_p":                      number(func(s *chat.Sampling) **float64 { return &s.TopP }, 0, 1),
	"min_p":                      number(func(s *chat.Sampling) **float64 { return &s.MinP }, 0, 1),
	"repetition_penalty":         number(func(s *chat.Sampling) **float64 { return &s.RepetitionPenalty }, 0.01, 10),
	"presence_penalty":           number(func(s *chat.Sampling) **float64 { return &s.PresencePenalty }, -2, 2),
	"frequency_penalty":          number(func(s *chat.Sampling) **float64 { return &s.FrequencyPenalty }, -2, 2),
	"top_k":                      topK,
	"seed":                       seed,
	"stop":                       stop,
	"stop_token_ids":             stopIDs,
	"logit_bias":                 bias,
	"include_stop_str_in_output": boolean(func(r *request) *bool { return &r.includeStop }),
	"ignore_eos":                 boolean(func(r *request) *bool { return &r.Decoding.IgnoreEOS }),
	"min_tokens":                 count(func(r *request) *int { return &r.Decoding.MinTokens }, 0, limits.OutputTokens),
	"n":                          count(func(r *request) *int { return &r.n }, 1, maxChoices),
	"best_of":                    count(func(r *request) *int { return &r.bestOf }, 1, maxChoices),
	"skip_special_tokens": func(r *request, f string, raw json.RawMessage) error {
		skip, err := limits.Bool(f, raw)
		r.Decoding.KeepSpecial = !skip
		return err
	},
	"prompt_logprobs": func(r *request, f string, raw json.RawMessage) error {
		n, err := limits.Whole(f, raw, 0, limits.TopLogprobs)
		r.Wanted.PromptLogprobs = ptr(int(n))
		return err
	},
	"return_token_ids":           boolean(func(r *request) *bool { return &r.tokenIDs }),
	"return_tokens_as_token_ids": boolean(func(r *request) *bool { return &r.tokensAsIDs }),
	"add_special_tokens": func(r *request, f string, raw json.RawMessage) error {
		add, err := limits.Bool(f, raw)
		r.special = &add
		return err
	},
	"cache_salt": salt,
	"session_id": turns,
	"user":       turns, // read after session_id, which is the narrower one
	"request_id": func(r *request, f string, raw json.RawMessage) (err error) {
		r.id, err = limits.Text(f, raw, limits.NameBytes)
		return err
	},
	"response_format":    responseFormat,
	"structured_outputs": structuredOutputs,
	"guided_json":        schemaField,
	"guided_regex":       regexField,
	"guided_choice":      choiceField,
	"guided_grammar":     grammarField,
	"grammar":            grammarField,
	"json_schema":        schemaField,
	"lora":               loraField,
	"overlay":            overlayField,

	// Asked for nothing, these are taken; what they would do otherwise is not done here.
	"use_beam_search":               only("there is no beam search", "false"),
	"length_penalty":                only("there is no beam search", "1", "1.0"),
	"watermarking":                  only("there is no watermark", "false"),
	"spaces_between_special_tokens": only("control tokens are not parted by spaces", "true"),
	"truncate_prompt_tokens":        only("prompts are never cut", "-1"),
	"truncation_side":               only("prompts are never cut", `"left"`, `"right"`),
	"allowed_token_ids":             only("the tokens of an answer are not listed", "[]"),
	"logprob_token_ids":             only("log probabilities are those of the likeliest tokens", "[]"),
	"bad_words":                     only("words are not forbidden", "[]"),
	"logits_processors":             only("requests bring no code", "[]"),
	"priority":                      only("the queue has no priorities", "0"),
	"kv_transfer_params":            only("keys and values stay here", "{}"),
	"ec_transfer_params":            only("there are no encoders of images", "{}"),
	"vllm_xargs":                    only("there are no extensions", "{}"),
	"repetition_detection":          only("repetitions are not looked for", "{}"),
	"thinking_token_budget":         only("reasoning is not counted apart", "-1"),
	"stream_interval":               only("each token has its chunk", "1"),
	"return_token_offsets":          only("there are no offsets of tokens", "false"),
	"routed_experts_prompt_start":   only("there are no experts", "0"),
	"return_mm_kwargs":              only("there are no images here", "false"),
	"mm_payload":                    only("there are no images here", `"tensors"`, `"none"`),
	"mm_processor_kwargs":           only("there are no images here", "{}"),
	"media_io_kwargs":               only("there are no images here", "{}"),
	"guided_decoding_backend":       only("there is one way to constrain", `"auto"`),
	"guided_whitespace_pattern":     only("white space in JSON is decided here"),
	"cache_prompt":                  only("prefixes are always reused; cache_salt keeps them apart", "true"),
	"id_slot":                       only("there are no slots", "-1"),
	"functions":                     only("functions is the old form; send tools"),
	"function_call":                 only("function_call is the old form; send tool_choice"),
}

// turns names whose request it is: those of one session take turns with all others as one.
func turns(r *request, field string, raw json.RawMessage) error {
	name, err := limits.Text(field, raw, limits.NameBytes)
	if r.Session == "" {
		r.Session = name
	}
	return err
}

// boolean makes a reader of true or false.
func boolean(at func(*request) *bool) reader {
	return func(r *request, f string, raw json.RawMessage) (err error) {
		*at(r), err = limits.Bool(f, raw)
		return err
	}
}

// count makes a reader of a whole number.
func count(at func(*request) *int, low, high int64) reader {
	return func(r *request, f string, raw json.RawMessage) error {
		n, err := limits.Whole(f, raw, low, high)
		*at(r) = int(n)
		return err
	}
}

// number makes a reader of a parameter of the sampler.
func number(at func(*chat.Sampling) **float64, low, high float64) reader {
	return func(r *request, f string, raw json.RawMessage) (err error) {
		*at(&r.Sampling), err = limits.Number(f, raw, low, high)
		return err
	}
}

// only takes the values that ask for nothing and refuses the others.
func only(why string, values ...string) reader {
	return func(_ *request, f string, raw json.RawMessage) error {
		var b bytes.Buffer
		if err := json.Compact(&b, raw); err == nil && slices.Contains(values, b.String()) {
			return nil
		}
		return errs.New(errs.Unsupported, f+" is not supported: "+why, "leave it out").In(f)
	}
}

func streamOptions(r *request, field string, raw json.RawMessage) error {
	members, err := limits.Object(field, raw)
	if err != nil {
		return err
	}
	for name, value := range members {
		at := field + "." + errs.Clip(name)
		switch name {
		case "include_usage":
			r.includeUsage, err = limits.Bool(at, value)
		case "continuous_usage_stats":
			r.everyUsage, err = limits.Bool(at, value)
		default:
			r.ignored = append(r.ignored, at)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func topK(r *request, field string, raw json.RawMessage) error {
	n, err := limits.Whole(field, raw, -1, 1<<20)
	r.Sampling.TopK = ptr(int(max(n, 0))) // -1 and 0 both mean all
	return err
}

func seed(r *request, f string, raw json.RawMessage) (err error) {
	r.Sampling.Seed, err = chatapi.Seed(f, raw)
	return err
}

func stop(r *request, f string, raw json.RawMessage) (err error) {
	r.Sampling.Stop, err = chatapi.Stop(f, raw)
	return err
}

func stopIDs(r *request, f string, raw json.RawMessage) (err error) {
	r.Decoding.StopIDs, err = tokenList(f, raw, maxStopIDs)
	return err
}

// tokenList reads token ids.
func tokenList(field string, raw json.RawMessage, most int) ([]int32, error) {
	items, err := limits.List(field, raw, most)
	if err != nil {
		return nil, err
	}
	out := make([]int32, len(items))
	for i, item := range items {
		id, err := limits.Whole(fmt.Sprintf("%s[%d]", field, i), item, 0, 1<<31-1)
		if err != nil {
			return nil, err
		}
		out[i] = int32(id)
	}
	return out, nil
}

// bias reads {"TOKEN": number}. As in the API a bias is cut to the largest.
func bias(r *request, field string, raw json.RawMessage) error {
	members, err := limits.Object(field, raw)
	if err != nil {
		return err
	}
	if len(members) > maxBiases {
		return errs.Newf(errs.TooLarge, "%s has more than %d entries", field, maxBiases).In(field)
	}
	r.Decoding.Bias = map[int32]float32{}
	for name, value := range members {
		at := field + "." + errs.Clip(name)
		id, err := strconv.ParseInt(name, 10, 32)
		if err != nil || id < 0 {
			return errs.New(errs.InvalidRequest, at+" names no token", "the keys are token ids in decimal").In(at)
		}
		x, err := limits.Number(at, value, -1e6, 1e6)
		if err != nil {
			return err
		}
		r.Decoding.Bias[int32(id)] = float32(min(max(*x, -sample.MaxBias), sample.MaxBias))
	}
	return nil
}

func salt(r *request, field string, raw json.RawMessage) (err error) {
	if r.Salt, err = limits.Text(field, raw, saltBytes); err == nil && r.Salt == "" {
		err = errs.New(errs.InvalidRequest, "cache_salt is empty", "leave it out").In(field)
	}
	return err
}

// maxTokens reads max_tokens and max_completion_tokens, which must agree.
func maxTokens(low int64) reader {
	return func(r *request, field string, raw json.RawMessage) error {
		n, err := limits.Whole(field, raw, low, limits.OutputTokens)
		if err != nil {
			return err
		}
		if r.maxTokens != nil && *r.maxTokens != int(n) {
			return errs.New(errs.InvalidRequest, "max_tokens and max_completion_tokens differ", "send one of them").In(field)
		}
		r.maxTokens = ptr(int(n))
		return nil
	}
}
