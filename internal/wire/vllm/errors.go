package vllm

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"strings"

	"macaron/internal/errs"
	"macaron/internal/wire/chatapi"
)

type errorBody struct {
	Error errorDetail `json:"error"`
}

// errorDetail is vLLM's error object: the code is the HTTP status. What we call the error
// and what to do about it stand beside it.
type errorDetail struct {
	Message string  `json:"message"`
	Type    string  `json:"type"`
	Param   *string `json:"param"`
	Code    int     `json:"code"`
	Reason  string  `json:"reason"`
	Next    string  `json:"next,omitempty"`
}

// WriteError answers with the error's own HTTP status, in the API's shape.
func WriteError(w http.ResponseWriter, err error) { writeError(w, err, 0) }

func writeError(w http.ResponseWriter, err error, status int) {
	e := errs.As(err)
	if status == 0 {
		status = statusOf(e)
	}
	if status == http.StatusUnauthorized {
		w.Header().Set("WWW-Authenticate", "Bearer")
	}
	chatapi.WriteStatus(w, status, e, errorOf(e, status))
}

// statusOf is the HTTP status of a code. Here nothing is upstream: what is not there now
// is this process.
func statusOf(e *errs.Error) int {
	switch {
	case e.Code == errs.UpstreamUnavailable:
		return http.StatusServiceUnavailable
	case errors.Is(e, context.DeadlineExceeded):
		return http.StatusGatewayTimeout
	}
	return e.Code.Status()
}

// errorOf builds the body; the cause inside e stays with the operator.
func errorOf(e *errs.Error, status int) errorBody {
	d := errorDetail{Message: e.Message, Type: typeOf(status), Code: status, Reason: string(e.Code), Next: e.Next}
	if e.Next != "" {
		if !strings.HasSuffix(e.Message, ".") {
			d.Message += ":"
		}
		d.Message += " " + e.Next
	}
	if e.Field != "" {
		d.Param = &e.Field
	}
	return errorBody{Error: d}
}

func typeOf(status int) string {
	switch {
	case status == http.StatusUnauthorized:
		return "AuthenticationError"
	case status == http.StatusForbidden:
		return "PermissionDeniedError"
	case status == http.StatusNotFound:
		return "NotFoundError"
	case status == http.StatusMethodNotAllowed:
		return "MethodNotAllowedError"
	case status == http.StatusTooManyRequests:
		return "RateLimitError"
	case status == http.StatusServiceUnavailable:
		return "ServiceUnavailableError"
	case status >= http.StatusInternalServerError:
		return "InternalServerError"
	}
	return "BadRequestError"
}

func (a *api) fail(w http.ResponseWriter, r *http.Request, err error, status int) {
	a.note(r, err)
	writeError(w, err, status)
}

// note tells the operator of an error. What is wrong with a request is named by code and
// field only: the message quotes the request, and a conversation is not for the log.
func (a *api) note(r *http.Request, err error) {
	e := errs.As(err)
	a.Meter.Error(string(e.Code))
	level, what := slog.LevelInfo, slog.String("field", e.Field)
	if statusOf(e) >= 500 {
		level, what = slog.LevelError, slog.Any("err", err)
	}
	a.Log.LogAttrs(r.Context(), level, "request failed", slog.String("id", r.Header.Get("X-Request-Id")), slog.String("code", string(e.Code)), what)
}

func writeJSON(w http.ResponseWriter, v any) {
	_ = chatapi.WriteJSON(w, v) // a client that went away is no failure of ours
}
