package jobs

import (
	"encoding/json"
	"strings"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/rivertype"

	"macaron/internal/errs"
	"macaron/internal/jobs"
)

// died is what is written of a try whose worker gave no sign of life.
const died = "its worker gave no sign of life"

// ends are River's words for a try that ended because the job was cancelled: as the worker told
// it in earlier builds, and as River does if it is asked, which then drops what the worker told.
var ends = []string{river.JobCancel(jobs.ErrCancelled).Error(), rivertype.ErrJobCancelledRemotely.Error()}

// final is what River puts before an error after which no other try comes.
var final = strings.TrimSuffix(ends[0], jobs.ErrCancelled.Error())

// written is an error as River keeps it: its text is a jobs.Failure in JSON.
func written(err error) error { return text{err} }

type text struct{ error }

func (t text) Unwrap() error { return t.error }

// Error implements error.
func (t text) Error() string {
	e := errs.As(t.error)
	raw, _ := json.Marshal(jobs.Failure{Code: e.Code, Message: strings.TrimPrefix(t.error.Error(), string(e.Code)+": "), Next: e.Next}) //nolint:errchkjson // strings alone
	return string(raw)
}

// last reads why the last try failed; nil if none did. What no handler wrote (a panic, a kind that
// River does not know) is internal.
func last(row *rivertype.JobRow) *jobs.Failure {
	for i := len(row.Errors) - 1; i >= 0; i-- {
		said := row.Errors[i].Error
		if !failure(said) {
			continue
		}
		said = strings.TrimPrefix(said, final)
		var f jobs.Failure
		if err := json.Unmarshal([]byte(said), &f); err != nil || f.Code == "" {
			f = jobs.Failure{Code: errs.Internal, Message: said, Next: "look at the log of the worker"}
		}
		return &f
	}
	return nil
}

// failures counts the tries of a job that its handler failed.
func failures(row *rivertype.JobRow) (n int) {
	for _, e := range row.Errors {
		if failure(e.Error) {
			n++
		}
	}
	return n
}

// failure reports whether a try failed: not, if its worker died or it was cancelled.
func failure(said string) bool { return said != died && said != ends[0] && said != ends[1] }

// cancelled tells a job that somebody cancelled from one that failed for good, which are one state
// to River. It notes when the former was asked for, also where no worker had the job, and forgets
// it when the job is tried again.
func cancelled(row *rivertype.JobRow) bool {
	var asked struct {
		At string `json:"cancel_attempted_at"`
	}
	if json.Unmarshal(row.Metadata, &asked) == nil && asked.At != "" {
		return true
	}
	n := len(row.Errors)
	return n == 0 || !failure(row.Errors[n-1].Error)
}
