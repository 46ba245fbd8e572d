package forge

import (
	"context"
	"errors"
	"fmt"

	"macaron/cmd/macaron/cli"
	"macaron/internal/app"
	"macaron/internal/config"
	"macaron/internal/errs"
	"macaron/internal/mindforge/loop"
)

// live refuses a run whose canary nobody would meet: the trial would never end.
func live(set loop.Settings, c config.Config, serve bool) error {
	switch {
	case serve && set.Actor != loop.Harness:
		return errs.New(errs.InvalidRequest, "a scripted run has nothing to serve", "leave --serve out, or set actor = \"harness\"").In("serve")
	case set.Actor == loop.Harness && set.Canary.Share > 0 && !serve && c.Store.URL == "":
		return errs.New(errs.InvalidRequest, "nobody serves while this loop works, so a canary would be tried on no conversation",
			"add --serve; or keep the log in Postgres and serve on another machine; or say that there is no canary: canary.share = 0, and gates.canary.requests = 0 in the evaluation contract").In("canary.share")
	}
	return nil
}

// forgeServed serves while the loop works, and after it, until ctx ends. The exit code is the run's.
func forgeServed(ctx context.Context, e *cli.Env, c config.Config, set loop.Settings, command string, o app.Options) error {
	l, err := app.Listen(ctx, c.Listen)
	if err != nil {
		return err
	}
	o.Hurry, o.Settings = e.Hurry, e.Config
	f, err := app.OpenForge(ctx, c, set, command, o)
	if err != nil {
		return errors.Join(err, l.Close())
	}
	if !e.JSON {
		fmt.Fprintf(e.Err, "Macaron listens at %s\n", c.Scheme()+l.Addr().String())
	}
	serving, stop := context.WithCancel(context.WithoutCancel(ctx))
	working, abort := context.WithCancel(ctx)
	defer abort()
	served := make(chan error, 1)
	go func() {
		served <- f.Serve(serving, l)
		abort() // nobody is served any more: the loop ends too
	}()
	run := forgeRun(working, e, f, true)
	if working.Err() == nil && !e.JSON {
		fmt.Fprintln(e.Err, "The run is over; serving goes on. Stop with Ctrl-C.")
	}
	<-working.Done()
	stop()
	return errors.Join(<-served, run, f.Close())
}
