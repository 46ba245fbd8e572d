package anthropic

import (
	"encoding/json"
	"fmt"

	"macaron/internal/errs"
	"macaron/internal/limits"
	"macaron/internal/wire/chatapi"
)

// minBudget is the API's least budget of thinking.
const minBudget = 1024

// thinking is what a body says of it in two places.
type thinking struct {
	mode   string // of thinking: "", enabled, adaptive, disabled
	budget int64
	effort string // of output_config
	field  string // which of them asks for more than the engine's own way
}

// thinkingField reads the thinking object. Engines take an effort, no budget in tokens;
// settle makes one of it.
func thinkingField(r *request, field string, raw json.RawMessage) error {
	members, err := limits.Object(field, raw)
	if err != nil {
		return err
	}
	r.unknown(field, members, "type", "budget_tokens", "display")
	if r.think.mode, err = chatapi.OneOf(field+".type", members["type"], "enabled", "adaptive", "disabled"); err != nil {
		return err
	}
	if r.think.mode == "enabled" {
		if r.think.budget, err = limits.Whole(field+".budget_tokens", members["budget_tokens"], minBudget, limits.OutputTokens); err != nil {
			return err
		}
	} else if !limits.Absent(members["budget_tokens"]) {
		r.ignore(field + ".budget_tokens")
	}
	if display := members["display"]; !limits.Absent(display) {
		how, err := chatapi.OneOf(field+".display", display, "summarized", "omitted")
		r.hidden = how == "omitted"
		return err
	}
	return nil
}

// settle finds the effort: that of output_config, else one for the budget. Adaptive
// thinking is the engine's own way and asks for nothing.
func (t *thinking) settle(r *request) error {
	if t.mode == "enabled" && r.MaxTokens > 0 && t.budget >= int64(r.MaxTokens) {
		return errs.New(errs.InvalidRequest, fmt.Sprintf("thinking.budget_tokens is %d, and must be less than max_tokens, which is %d", t.budget, r.MaxTokens), "").In("thinking.budget_tokens")
	}
	switch {
	case t.mode == "disabled":
		r.Reasoning = "none"
		if t.effort != "" {
			r.ignore("output_config.effort")
		}
	case t.effort != "":
		r.Reasoning, t.field = t.effort, "output_config.effort"
	case t.mode == "enabled":
		r.Reasoning, t.field = effortOf(t.budget), "thinking"
	}
	return nil
}

// effortOf is the effort that stands for a budget of tokens.
func effortOf(budget int64) string {
	switch {
	case budget < 4096:
		return "low"
	case budget < 16384:
		return "medium"
	}
	return "high"
}

// outputConfig reads the effort and the format of the answer.
func outputConfig(r *request, field string, raw json.RawMessage) error {
	members, err := limits.Object(field, raw)
	if err != nil {
		return err
	}
	r.unknown(field, members, "effort", "format")
	if effort := members["effort"]; !limits.Absent(effort) {
		if r.think.effort, err = chatapi.OneOf(field+".effort", effort, "low", "medium", "high", "xhigh", "max"); err != nil {
			return err
		}
		if r.think.effort == "max" {
			r.think.effort = "xhigh" // the highest that engines know
		}
	}
	if format := members["format"]; !limits.Absent(format) {
		return r.format(field+".format", format)
	}
	return nil
}

// format reads a schema for the answer.
func (r *request) format(field string, raw json.RawMessage) error {
	members, err := limits.Object(field, raw)
	if err != nil {
		return err
	}
	r.unknown(field, members, "type", "schema")
	if _, err := chatapi.OneOf(field+".type", members["type"], "json_schema"); err != nil {
		return err
	}
	if _, err := limits.Object(field+".schema", members["schema"]); err != nil {
		return err
	}
	if len(raw) > limits.SchemaBytes {
		return errs.Newf(errs.TooLarge, "%s is larger than %d bytes", field, limits.SchemaBytes).In(field)
	}
	r.Sampling.ResponseFormat, err = json.Marshal(map[string]any{
		"type": "json_schema", "json_schema": map[string]any{"name": "answer", "strict": true, "schema": members["schema"]},
	})
	return errs.Wrap(errs.Internal, err, "a schema cannot be written again", "")
}
