package cli

import (
	"errors"
	"fmt"
	"strings"

	"macaron/internal/errs"
)

// Exit is a result that is told already, with its exit code.
type Exit int

// Error implements error; nothing is left to say.
func (Exit) Error() string { return "" }

// Reported is a failure that what was printed has told already.
type Reported errs.Code

// Error implements error.
func (r Reported) Error() string { return string(r) }

// Behind is a failure that comes behind a report: with --json the report is the one value.
func (e *Env) Behind(err error) error {
	if e.JSON && err != nil {
		return Reported(errs.CodeOf(err))
	}
	return err
}

// Fail tells the person what happened and what to do next, and gives the exit code.
func (e *Env) Fail(err error) int {
	var told Reported
	if errors.As(err, &told) {
		return errs.Code(told).Exit()
	}
	var end Exit
	if errors.As(err, &end) {
		return int(end)
	}
	c := errs.As(err)
	if e.JSON {
		// The process is about to end with the code: there is no one left to tell.
		_ = e.PrintJSON(map[string]any{"error": map[string]any{"code": c.Code, "message": c.Message, "next": c.Next, "field": c.Field}})
		return c.Code.Exit()
	}
	if c.Code == errs.Canceled {
		fmt.Fprintln(e.Err, "macaron: stopped")
		return c.Code.Exit()
	}
	fmt.Fprintln(e.Err, "macaron: "+Plain(c.Message))
	if c.Code == errs.Internal && c.Err != nil {
		fmt.Fprintln(e.Err, "  cause: "+Plain(c.Err.Error()))
	}
	if c.Next != "" {
		fmt.Fprintln(e.Err, "  next: "+strings.ReplaceAll(Plain(c.Next), "\n", "\n  "))
	}
	return c.Code.Exit()
}
