// Package anthropic speaks Anthropic's Messages API: it decodes requests to the neutral
// words of chat and encodes events to messages and their streams. It decides nothing.
package anthropic

import (
	"net/http"

	"macaron/internal/errs"
	"macaron/internal/wire/chatapi"
)

// statusOverloaded is the API's own status for a server that is too busy.
const statusOverloaded = 529

// errorBody is the API's error object, as the body of an answer and as the data of an
// error event.
type errorBody struct {
	Type      string      `json:"type"`
	Error     errorDetail `json:"error"`
	RequestID string      `json:"request_id,omitempty"`
}

// errorDetail has the API's members, and those that tell more.
type errorDetail struct {
	Type    string    `json:"type"`
	Message string    `json:"message"`
	Code    errs.Code `json:"code"`
	Param   string    `json:"param,omitempty"`
	Next    string    `json:"next,omitempty"`
}

// WriteError answers with the error's status, in the API's shape.
func WriteError(w http.ResponseWriter, err error) {
	e := errs.As(err)
	chatapi.WriteStatus(w, status(e.Code), e, errorOf(e, w.Header()))
}

// errorOf builds the body; the cause inside e stays with the operator.
func errorOf(e *errs.Error, h http.Header) errorBody {
	d := errorDetail{Type: errorType(e.Code), Message: e.Message, Code: e.Code, Param: e.Field, Next: e.Next}
	if e.Next != "" {
		d.Message += ": " + e.Next
	}
	return errorBody{Type: "error", Error: d, RequestID: h.Get("X-Request-Id")}
}

func status(c errs.Code) int {
	if c == errs.Overloaded {
		return statusOverloaded
	}
	return c.Status()
}

func errorType(c errs.Code) string {
	switch status := status(c); {
	case status == statusOverloaded:
		return "overloaded_error"
	case status == http.StatusUnauthorized:
		return "authentication_error"
	case status == http.StatusForbidden:
		return "permission_error"
	case status == http.StatusNotFound:
		return "not_found_error"
	case status == http.StatusRequestEntityTooLarge:
		return "request_too_large"
	case status == http.StatusPaymentRequired:
		return "billing_error"
	case status == http.StatusTooManyRequests:
		return "rate_limit_error"
	case status < 500:
		return "invalid_request_error"
	}
	return "api_error"
}
