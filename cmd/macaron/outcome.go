package main

import (
	"errors"
	"fmt"
	"strings"

	"macaron/internal/errs"
)

// exit is a result that is told already, with its exit code.
type exit int

func (exit) Error() string { return "" }

// reported is a failure that what was printed has told already.
type reported errs.Code

func (r reported) Error() string { return string(r) }

// behind is a failure that comes behind a report: with --json the report is the one value.
func (e *env) behind(err error) error {
	if e.json && err != nil {
		return reported(errs.CodeOf(err))
	}
	return err
}

// fail tells the person what happened and what to do next, and gives the exit code.
func (e *env) fail(err error) int {
	var told reported
	if errors.As(err, &told) {
		return errs.Code(told).Exit()
	}
	var end exit
	if errors.As(err, &end) {
		return int(end)
	}
	c := errs.As(err)
	if e.json {
		// The process is about to end with the code: there is no one left to tell.
		_ = e.printJSON(map[string]any{"error": map[string]any{"code": c.Code, "message": c.Message, "next": c.Next, "field": c.Field}})
		return c.Code.Exit()
	}
	if c.Code == errs.Canceled {
		fmt.Fprintln(e.err, "macaron: stopped")
		return c.Code.Exit()
	}
	fmt.Fprintln(e.err, "macaron: "+plain(c.Message))
	if c.Code == errs.Internal && c.Err != nil {
		fmt.Fprintln(e.err, "  cause: "+plain(c.Err.Error()))
	}
	if c.Next != "" {
		fmt.Fprintln(e.err, "  next: "+strings.ReplaceAll(plain(c.Next), "\n", "\n  "))
	}
	return c.Code.Exit()
}
