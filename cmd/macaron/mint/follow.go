package mint

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"strings"
	"time"

	"macaron/cmd/macaron/cli"
	"macaron/internal/disk"
	"macaron/internal/errs"
	"macaron/internal/train/curve"
)

// watched says how a run is watched, and what of it was seen.
type watched struct {
	planned int64 // steps that it will have; 0: what the lines say
	end     int64 // the step behind which nothing is shown; 0: none
	once    bool
	trains  func() bool // whether a process has the recipe's work directory; nil: the run is of no recipe
	first   curve.Line  // since the process that trains took it up
	last    curve.Line
}

// follow prints lines as they come. Those that a run drops when it goes on from a checkpoint come
// again; those that it keeps are not printed twice.
func follow(ctx context.Context, e *cli.Env, path string, w *watched) error {
	printed := math.Inf(-1) // time of the last line before the file was cut
	for at := int64(0); ; {
		over := w.trains != nil && !w.trains() // before the lines are read, so that an end has them all
		lines, next, err := curve.Read(path, at, 1000)
		if errs.CodeOf(err) == errs.InvalidRequest && at > 0 {
			at, printed = 0, w.last["time"]
			continue
		}
		if err != nil {
			return err
		}
		at = next
		for _, l := range lines {
			if l["time"] <= printed {
				continue
			}
			w.see(l)
			if err := printLine(e, l, w); err != nil {
				return err
			}
			if w.end > 0 && l["step"] >= float64(w.end) {
				return nil
			}
		}
		if len(lines) == 0 && (w.once || over && w.complete()) {
			return nil
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(300 * time.Millisecond):
		}
	}
}

// see takes a line up.
func (w *watched) see(l curve.Line) {
	if w.first == nil || w.first["resumed"] != l["resumed"] {
		w.first = l
	}
	w.last = l
}

// complete tells whether the last step that the recipe planned was seen.
func (w *watched) complete() bool {
	return w.last["planned"] > 0 && w.last["step"] >= w.last["planned"]
}

// steps is how many the run will have; 0: nobody says.
func (w *watched) steps(l curve.Line) float64 { return cmp.Or(float64(w.planned), l["planned"]) }

// left is the time from a line to the last step, at the pace since the first line of the process
// that trains: steps wait for what the client does between them. After the first it is by what that step took itself.
func (w *watched) left(l curve.Line) time.Duration {
	pace := l["seconds"]
	if steps := l["step"] - w.first["step"]; steps > 0 {
		pace = (l["time"] - w.first["time"]) / steps
	}
	seconds := min(pace*(w.steps(l)-l["step"]), 1e9)
	return time.Duration(seconds * float64(time.Second)).Round(time.Second)
}

func printLine(e *cli.Env, l curve.Line, w *watched) error {
	if e.JSON {
		return e.PrintJSON(l)
	}
	var out strings.Builder
	fmt.Fprintf(&out, "step %d", int(l["step"]))
	if steps := w.steps(l); l["step"] <= steps {
		fmt.Fprintf(&out, "/%.0f", steps)
	}
	if text := glance(l); text != "" {
		fmt.Fprintf(&out, " %s", text)
	}
	if x, ok := l["tokens_per_second"]; ok {
		fmt.Fprintf(&out, " %.0f tok/s", x)
	}
	if x, ok := l["memory_bytes"]; ok {
		fmt.Fprintf(&out, " %.0f MiB", x/(1<<20))
	}
	if left := w.left(l); left > 0 && w.steps(l) > 0 {
		fmt.Fprintf(&out, ", %s left", left)
	}
	_, err := fmt.Fprintln(e.Out, out.String())
	return disk.Error(err, "the output cannot be written")
}
