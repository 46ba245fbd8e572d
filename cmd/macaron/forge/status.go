package forge

import (
	"context"
	"fmt"
	"time"

	"macaron/cmd/macaron/cli"
	"macaron/internal/auth"
	"macaron/internal/errs"
	"macaron/internal/jobs"
	"macaron/internal/mindforge"
	"macaron/internal/mindforge/ledger"
	"macaron/internal/mindforge/loop"

	storejobs "macaron/internal/store/jobs"
)

// current is the job that is worked on, or the last one.
func current(all []jobs.Status) (s jobs.Status) {
	for _, s = range all {
		if !s.State.Ended() {
			return s
		}
	}
	return s
}

// told says how far a job of a run's is, and what is left of it and of all.
func told(s jobs.Status, all []jobs.Status, so loop.Spent) string {
	if w, ok := loop.WaitsFor(s.Progress.Note); ok {
		return fmt.Sprintf("waits for approval of %s: %s", w.Candidate.Short(), w.Why)
	}
	line := s.Progress.Note
	if s.Progress.Total > 0 {
		line += fmt.Sprintf("  %d of %d", s.Progress.Done, s.Progress.Total)
	}
	if left, ok := s.Progress.Left(); ok {
		line += ", about " + rounded(left)
	}
	if left, by := loop.Left(all, so); by != "" {
		line += "; of the run " + estimated(left, by)
	}
	return line
}

// estimated says that a time is an estimate, and by what where that is not what was measured.
func estimated(left time.Duration, by string) string {
	out := "about " + rounded(left)
	if by == loop.ByPlan {
		out += ", by what is planned"
	}
	return out
}

func rounded(d time.Duration) string { return d.Round(time.Second).String() }

// forgeStatus is how a run stands.
type forgeStatus struct {
	Run        string         `json:"run"`
	State      string         `json:"state"` // running, stopped, paused, waiting, failed, ended
	Generation int            `json:"generation"`
	Stage      string         `json:"stage,omitempty"`
	Done       int            `json:"done"`
	Total      int            `json:"total"`
	LeftMS     int64          `json:"left_ms,omitempty"` // of the stage, at its measured pace
	RunLeftMS  *int64         `json:"run_left_ms"`       // of the run, an estimate; null: not known yet, as no attempt was made
	RunLeftBy  string         `json:"run_left_by,omitempty"`
	Waits      *loop.Wanted   `json:"waits,omitempty"`
	Error      *jobs.Failure  `json:"error,omitempty"`
	Promoted   int            `json:"promoted"`
	Rejected   int            `json:"rejected"`
	Spent      mindforge.Cost `json:"spent"`
	End        string         `json:"end,omitempty"`
}

// exit is the exit code of a run that stands still.
func (s forgeStatus) exit() error {
	switch {
	case s.Error != nil:
		return cli.Reported(s.Error.Code)
	case s.State != "ended":
		return cli.Exit(12)
	case s.Promoted == 0:
		return cli.Exit(11)
	}
	return nil
}

// queued is how the queue has a run.
type queued struct {
	jobs           []jobs.Status
	paused, worked bool // somebody paused it; a worker is at it
}

// abandoned reports whether nobody works on a run that has not ended, whose last open job is j. Between
// the tries of a job that failed a worker waits longer than its lease, and tells nobody.
func (at queued) abandoned(j jobs.Status) bool {
	return !at.worked && (j.State != jobs.Waiting || j.Last == nil)
}

// forgeState puts together what the ledger and the queue say of a run.
func forgeState(run string, all []ledger.Entry, at queued) (forgeStatus, error) {
	s := forgeStatus{Run: run, State: "running"}
	var so loop.Spent
	for _, en := range all {
		b, err := en.Decode()
		if err != nil {
			return s, err
		}
		s.add(en.Key, b)
		so.Add(b)
	}
	s.Spent = so.All()
	c := current(at.jobs)
	s.Stage, s.Done, s.Total = c.Progress.Note, c.Progress.Done, c.Progress.Total
	if left, ok := c.Progress.Left(); ok {
		s.LeftMS = left.Milliseconds()
	}
	if left, by := loop.Left(at.jobs, so); by != "" {
		ms := left.Milliseconds()
		s.RunLeftMS, s.RunLeftBy = &ms, by
	}
	w, waits := loop.WaitsFor(c.Progress.Note)
	switch {
	case s.End != "":
		s.State, s.Stage, s.Done, s.Total, s.LeftMS, s.RunLeftMS, s.RunLeftBy = "ended", "", 0, 0, 0, new(int64), ""
	case c.State == jobs.Failed:
		s.State, s.Error = "failed", c.Last
	case waits:
		s.State, s.Waits, s.Stage = "waiting", &w, "gate"
	case at.paused:
		s.State = "paused"
	case at.abandoned(c):
		s.State = "stopped"
	}
	return s, nil
}

func (s *forgeStatus) add(key string, b ledger.Body) {
	switch b := b.(type) {
	case ledger.Step:
		s.Generation = max(s.Generation, b.Generation)
		if key == "end" {
			s.End = b.Note
		}
	case ledger.Decision:
		switch {
		case !b.Decision.Pass:
			s.Rejected++
		case b.Decision.Stage == mindforge.Champion:
			s.Promoted++
		}
	}
}

// done is how far the stage is; "": that is not known, as of a training.
func (s forgeStatus) done() string {
	if s.Total == 0 {
		return ""
	}
	return fmt.Sprintf("%d/%d", s.Done, s.Total)
}

func (s forgeStatus) left() string {
	if s.LeftMS == 0 {
		return ""
	}
	return rounded(time.Duration(s.LeftMS) * time.Millisecond)
}

func (s forgeStatus) runLeft() string {
	switch {
	case s.End != "":
		return ""
	case s.RunLeftMS == nil:
		return "not known yet"
	}
	return estimated(time.Duration(*s.RunLeftMS)*time.Millisecond, s.RunLeftBy)
}

func showForge(e *cli.Env, all ...forgeStatus) error {
	if e.JSON {
		return e.PrintJSON(map[string]any{"runs": all})
	}
	return tellForge(e, all)
}

func tellForge(e *cli.Env, all []forgeStatus) error {
	rows := [][]string{{"run", "state", "generation", "stage", "done", "left", "run left (estimate)", "promoted", "rejected", "attempts", "trained", "usd"}}
	for _, s := range all {
		rows = append(rows, []string{s.Run, s.State, fmt.Sprint(s.Generation), s.Stage, s.done(), s.left(), s.runLeft(), fmt.Sprint(s.Promoted), fmt.Sprint(s.Rejected),
			fmt.Sprint(s.Spent.Attempts), fmt.Sprint(s.Spent.Trained), fmt.Sprintf("%.2f", s.Spent.USD)})
	}
	if err := e.Table(rows...); err != nil {
		return err
	}
	for _, s := range all {
		switch {
		case s.Waits != nil:
			fmt.Fprintf(e.Out, "%s waits for approval of %s: %s\n  macaron forge approve %s --key KEY\n", s.Run, s.Waits.Candidate.Short(), s.Waits.Why, s.Run)
		case s.Error != nil:
			fmt.Fprintf(e.Out, "%s failed (%s): %s\n", s.Run, s.Error.Code, s.Error.Message)
			if s.Error.Next != "" {
				fmt.Fprintf(e.Out, "  %s\n", s.Error.Next)
			}
			fmt.Fprintf(e.Out, "  macaron forge resume %s, then run it again\n", s.Run)
		case s.State == "stopped":
			fmt.Fprintf(e.Out, "%s is not worked on: it was stopped, or its process is gone; the `macaron forge run` that began it goes on with it\n", s.Run)
		case s.End != "":
			fmt.Fprintf(e.Out, "%s ended: %s\n", s.Run, s.End)
		}
	}
	return nil
}

func forgeAt(ctx context.Context, l *ledger.Ledger, q *storejobs.Queue, run string) (forgeStatus, error) {
	entries, err := l.All(ctx, auth.Local, run)
	if err != nil {
		return forgeStatus{}, err
	}
	return forgeOf(ctx, q, run, entries)
}

// forgeOf is forgeAt, of entries that were read already.
func forgeOf(ctx context.Context, q *storejobs.Queue, run string, entries []ledger.Entry) (forgeStatus, error) {
	list, err := q.List(ctx, run)
	if err != nil {
		return forgeStatus{}, err
	}
	if len(entries) == 0 && len(list) == 0 {
		return forgeStatus{}, errs.New(errs.NotFound, "there is no run "+errs.Clip(run), "`macaron forge status` lists them")
	}
	at := queued{jobs: list}
	if at.paused, err = q.Paused(ctx, run); err != nil {
		return forgeStatus{}, err
	}
	if at.worked, err = q.Worked(ctx, run); err != nil {
		return forgeStatus{}, err
	}
	return forgeState(run, entries, at)
}
