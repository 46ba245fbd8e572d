package anthropic

import (
	"regexp"
	"strconv"
	"strings"

	"macaron/internal/errs"
	"macaron/internal/turn"
)

var messageAt = regexp.MustCompile(`messages\[\d+\]`)

// ignore reports a field that is read and not honoured, once for all places.
func (r *request) ignore(field string) { r.ignored.Add(field) }

// words are the names that rooms behind use, and this API's own.
var words = strings.NewReplacer(
	".function.parameters", ".input_schema", ".function.", ".", ".tool_call_id", ".tool_use_id",
	"response_format", "output_config.format",
)

// wire gives a field, or a text with fields in it, the names of this API.
func (r *request) wire(text string) string {
	text = messageAt.ReplaceAllStringFunc(text, func(m string) string {
		i, err := strconv.Atoi(m[len("messages[") : len(m)-1])
		if err != nil || i >= len(r.origins) {
			return m
		}
		return r.origins[i]
	})
	return words.Replace(text)
}

// named gives an error of the rooms behind the field names of this API; what is not
// the client's fault names none.
func (r *request) named(err error) error {
	if err == nil {
		return nil
	}
	e := *errs.As(err)
	if e.Code.Status() < 500 {
		e.Message, e.Field = r.wire(e.Message), r.wire(e.Field)
	}
	return &e
}

// told is the turn's report with the field names of this API.
func (r *request) told(report turn.Report) turn.Report {
	var out []string
	for _, f := range report.Ignored {
		if f != "reasoning_effort" {
			out = append(out, r.wire(f))
		} else if r.think.field != "" {
			out = append(out, r.think.field)
		}
	}
	report.Ignored = out
	return report
}
