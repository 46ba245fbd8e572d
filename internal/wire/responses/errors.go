package responses

import (
	"errors"
	"regexp"
	"strings"

	"macaron/internal/errs"
)

// failure is the error of a response that did not come to its end.
type failure struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

func failureOf(err error) *failure {
	e := errs.As(plainNames(err))
	message := e.Message
	if e.Next != "" {
		message += ": " + e.Next
	}
	return &failure{Code: string(e.Code), Message: message}
}

// plainNames gives an error's field the name that it has in this API: the rooms behind
// know the names of Chat Completions.
func plainNames(err error) error {
	var e *errs.Error
	if !errors.As(err, &e) || e.Field == "" {
		return err
	}
	named := *e
	named.Field = plainName(e.Field)
	return &named
}

var toolField = regexp.MustCompile(`^(tools\[\d+\])\.function`)

func plainName(field string) string {
	switch {
	case field == "response_format":
		return "text.format"
	case field == "reasoning_effort":
		return "reasoning.effort"
	case field == "messages" || strings.HasPrefix(field, "messages["):
		return "input"
	}
	return toolField.ReplaceAllString(field, "$1")
}
