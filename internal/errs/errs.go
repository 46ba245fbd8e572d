// Package errs holds the closed set of error codes that cross rooms. An error
// carries a message for the person who sees it and what to do next; anything
// without a code is internal, is logged for the operator and never reaches a client.
package errs

import (
	"errors"
	"fmt"
	"time"
)

// Code is one member of the closed set below.
type Code string

// The closed set. Each has one HTTP status (Status) and one exit code (Exit).
const (
	InvalidRequest      Code = "invalid_request"         // the caller's input is wrong
	Unauthenticated     Code = "unauthenticated"         // no or wrong credential
	Forbidden           Code = "forbidden"               // foreign Host or Origin, missing scope
	NotFound            Code = "not_found"               // no such thing for this owner
	Gone                Code = "gone"                    // it was there, and has ended or was collected
	ModelNotFound       Code = "model_not_found"         // unknown public model id
	AdapterNotFound     Code = "adapter_not_found"       // no adapter of that name
	OrphanToolTurn      Code = "orphan_tool_turn"        // a tool result that no open call awaits
	ContextExceeded     Code = "context_length_exceeded" // the view does not fit; the message has the numbers
	TooLarge            Code = "too_large"               // a body, header, list or field over its limit
	Unsupported         Code = "unsupported"             // the backend or build cannot do what was asked
	Overloaded          Code = "overloaded"              // queue full; RetryAfter says when
	RateLimited         Code = "rate_limited"            // a key or tenant has used up what it may; RetryAfter says when
	BudgetSpent         Code = "budget_spent"            // a key or tenant has spent its money; RetryAfter says when there is more
	UpstreamUnavailable Code = "upstream_unavailable"    // the engine below does not answer
	ModelLoading        Code = "model_loading"           // the model is not there yet; RetryAfter says when to ask again
	UpstreamFailed      Code = "upstream_failed"         // the engine below answered with an error
	FormatInvalid       Code = "format_invalid"          // a malformed file: GGUF, safetensors, TOML, JSON
	ChecksumMismatch    Code = "checksum_mismatch"       // bytes are not the named bytes
	SourceUnreachable   Code = "source_unreachable"      // no named source delivered the file
	AddressInUse        Code = "address_in_use"          // the port is taken
	HomeLocked          Code = "home_locked"             // another process uses this MACARON_HOME
	StorageFull         Code = "storage_full"            // no space left
	StorageFailed       Code = "storage_failed"          // any other failure of disk or database
	Canceled            Code = "canceled"                // the client went away or the deadline passed
	Internal            Code = "internal"                // a defect of ours
)

// Error is a coded error. Message says what happened and Next what the person
// can do; both are shown. Field names the offending input, if one does. Err is the
// cause, for the operator's log only.
type Error struct {
	Code       Code
	Message    string
	Next       string
	Field      string
	RetryAfter time.Duration
	Err        error
}

// New returns a coded error; next may be empty when the message says it all.
func New(code Code, message, next string) *Error {
	return &Error{Code: code, Message: message, Next: next}
}

// Newf is New with a formatted message and no advice.
func Newf(code Code, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

// Wrap gives a cause a code; a nil cause gives nil.
func Wrap(code Code, err error, message, next string) error {
	if err == nil {
		return nil
	}
	return &Error{Code: code, Message: message, Next: next, Err: err}
}

// In names the input field that is at fault.
func (e *Error) In(field string) *Error {
	e.Field = field
	return e
}

// Error gives the operator's line: code, message, cause.
func (e *Error) Error() string {
	s := string(e.Code) + ": " + e.Message
	if e.Field != "" {
		s += " (" + e.Field + ")"
	}
	if e.Err != nil {
		s += ": " + e.Err.Error()
	}
	return s
}

// Unwrap gives the cause.
func (e *Error) Unwrap() error { return e.Err }

// As returns the coded error inside err. An error without a code becomes
// Internal with a message that gives nothing away; nil stays nil.
func As(err error) *Error {
	if err == nil {
		return nil
	}
	var e *Error
	if errors.As(err, &e) {
		return e
	}
	return &Error{Code: Internal, Message: "an internal error occurred", Next: "look at the log of this process", Err: err}
}

// CodeOf returns the code of err, Internal for an uncoded one and "" for nil.
func CodeOf(err error) Code {
	if err == nil {
		return ""
	}
	return As(err).Code
}
