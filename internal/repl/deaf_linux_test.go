package repl

import (
	"testing"

	"golang.org/x/sys/unix"

	"macaron/internal/errs"
)

// deaf is an engine that was killed, of which nobody has heard yet.
type deaf struct{ engine }

func (deaf) send(request) error { return unix.EPIPE }

// A cell that could not be sent has not run: that is an error, and no outcome of the cell.
func TestACellThatCannotBeSentHasNotRun(t *testing.T) {
	s := session(t, pool(t, Options{}), SessionOptions{})
	run(t, s, "x = 1")
	s.mu.Lock()
	s.engine = deaf{s.engine}
	s.mu.Unlock()
	if out, err := s.Run(t.Context(), Cell{Code: "x = 2"}); errs.CodeOf(err) != errs.NotFound {
		t.Errorf("%+v, %v", out, err)
	}
	if !s.Ended() {
		t.Error("the session does not know that its Python has ended")
	}
}
