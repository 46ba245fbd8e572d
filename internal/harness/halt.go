package harness

import (
	"context"
	"errors"
	"fmt"

	"macaron/internal/errs"
	"macaron/internal/record"
)

// halt ends the work on a run with a status: it is how every budget, wait and doubt gets
// from where it is noticed to where the run is closed.
type halt struct {
	status record.RunStatus
	reason string
	call   string
}

func (h *halt) Error() string { return fmt.Sprintf("the run is %s: %s", h.status, h.reason) }

// The causes of the end of a run's context.
var (
	errStopping  = errors.New("this process is shutting down")
	errCancelled = errors.New("a person cancelled it")
)

// errLost says that another process goes on with the run: this one writes nothing more.
var errLost = errors.New("another process has gone on with the run")

// ending turns an error into what the run is closed as.
func ending(ctx context.Context, err error) *halt {
	var h *halt
	if errors.As(err, &h) {
		return h
	}
	switch cause := context.Cause(ctx); {
	case ctx.Err() == nil:
	case errors.Is(cause, errCancelled):
		return &halt{status: record.RunCancelled, reason: cause.Error()}
	case errors.Is(cause, context.DeadlineExceeded):
		return &halt{status: record.RunTime, reason: "its time is used up"}
	default:
		return &halt{status: record.RunStopped, reason: errs.Clip(cause.Error())}
	}
	e := errs.As(err)
	switch e.Code {
	case errs.StorageFull, errs.StorageFailed:
		return &halt{status: record.RunStopped, reason: e.Message}
	}
	return &halt{status: record.RunFailed, reason: string(e.Code) + ": " + e.Message}
}
