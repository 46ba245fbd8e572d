// Package openai speaks the Chat Completions API: it decodes requests to the neutral
// words of chat and encodes events to JSON answers and streams. It decides nothing.
package openai

import (
	"net/http"

	"macaron/internal/errs"
	"macaron/internal/wire/chatapi"
)

// errorBody is the API's error object.
type errorBody struct {
	Error errorDetail `json:"error"`
}

type errorDetail struct {
	Message string  `json:"message"`
	Type    string  `json:"type"`
	Param   *string `json:"param"`
	Code    string  `json:"code"`
	Next    string  `json:"next,omitempty"` // what to do; Message has it too, for clients that show nothing else
}

// WriteError answers with the error's own HTTP status, in the API's shape.
func WriteError(w http.ResponseWriter, err error) {
	e := errs.As(err)
	chatapi.WriteStatus(w, e.Code.Status(), e, errorOf(e))
}

// errorOf builds the body; the cause inside e stays with the operator.
func errorOf(e *errs.Error) errorBody {
	d := errorDetail{Message: e.Message, Type: errorType(e.Code), Code: string(e.Code), Next: e.Next}
	if e.Next != "" {
		d.Message += ": " + e.Next
	}
	if e.Field != "" {
		d.Param = &e.Field
	}
	return errorBody{Error: d}
}

func errorType(c errs.Code) string {
	switch status := c.Status(); {
	case c == errs.BudgetSpent:
		return "insufficient_quota"
	case status == http.StatusTooManyRequests:
		return "rate_limit_error"
	case status == http.StatusUnauthorized:
		return "authentication_error"
	case status == http.StatusForbidden:
		return "permission_error"
	case status == http.StatusNotFound:
		return "not_found_error"
	case status < 500:
		return "invalid_request_error"
	}
	return "server_error"
}
