package harness

import (
	"context"
	"fmt"
	"strings"

	"macaron/internal/contract"
	"macaron/internal/errs"
	"macaron/internal/record"
	"macaron/internal/repl"
	"macaron/internal/tool"
	"macaron/internal/transcript"
)

// cell runs the code of an act. Its tool calls are on record one by one as they are made,
// the cell when it has ended: one that a crash cut short is run anew, and what it had
// called is answered from the record.
func (r *run) cell(ctx context.Context, s step) error {
	var err error
	code, why := source(s)
	if why == "" {
		why, err = r.permitted(ctx, s, code)
	}
	if err != nil {
		return err
	}
	if why != "" {
		return r.reply(ctx, s.act.ID, why)
	}
	if err := r.checkpoint(ctx, s.act.ID); err != nil {
		return err
	}
	space, out, err := r.inPython(ctx, repl.Cell{ID: s.act.ID, Code: code})
	if err != nil {
		return err
	}
	r.h.Point("cell.done")
	ran := record.CellRan{Cell: s.act.ID, Code: code, Status: string(out.Status), Output: r.clean(out.Output), Value: r.clean(out.Value), Traceback: r.clean(out.Traceback), Reason: out.Reason,
		Truncated: out.Truncated, Calls: out.Calls, Wall: out.Wall, CPU: out.CPU, Now: out.Now, Policy: space.Policy()}
	if out.Artifact != "" {
		ran.Artifact = &record.RunFile{Path: out.Artifact}
	}
	ran.Shown = r.shown(ran)
	bodies := []record.Body{ran}
	if len(out.Refused) > 0 {
		bodies = append(bodies, record.RunNote{Note: record.NoteSandbox, Call: s.act.ID, Text: out.Refused.String()})
	}
	if out.Status == repl.Died {
		bodies = append(bodies, record.RunNote{Note: record.NoteReset, Text: "the Python ended (" + out.Reason + "), and its names with it"})
		if err := space.Restart(ctx); err != nil {
			return err
		}
		if err := r.environ(ctx, space); err != nil {
			return err
		}
	}
	if err := r.append(ctx, bodies...); err != nil {
		return err
	}
	r.h.Point("cell.recorded")
	return nil
}

// inPython runs a cell where the record stands. A Python that was gone before the cell came to it
// is brought back, once: one that what is on record ends again has died.
func (r *run) inPython(ctx context.Context, c repl.Cell) (space *repl.Session, out repl.Outcome, err error) {
	for again := true; ; again = false {
		if space, err = r.python(ctx); err != nil {
			return nil, out, err
		}
		inside, stop := context.WithCancel(ctx)
		r.calling.begin(c.ID, stop)
		r.h.Point("cell")
		out, err = space.Run(inside, c)
		halted := r.calling.end()
		stop()
		switch {
		case halted != nil:
			return nil, out, halted // a call has stopped the run: the cell is as if it had not run
		case ctx.Err() != nil:
			return nil, out, context.Cause(ctx)
		case err == nil || !space.Ended():
			return space, out, err
		case !again:
			return space, repl.Outcome{Status: repl.Died, Reason: errs.As(err).Message}, nil
		}
	}
}

// permitted asks a person for code, where the contract says so, and gives a no in words.
func (r *run) permitted(ctx context.Context, s step, code string) (string, error) {
	d := r.own[transcript.Python].def
	if !d.Approval {
		return "", nil
	}
	args, err := plain(map[string]string{"code": code})
	if err != nil {
		return "", err
	}
	err = r.approve(ctx, tool.Call{ID: s.act.ID, Name: transcript.Python, Arguments: args}, d)
	if e := errs.As(err); err != nil && halting(err) == nil && e.Code == errs.Forbidden {
		return "Not run: a person refused it: " + e.Message, nil
	}
	return "", err
}

// source is the code of an act, or why there is none.
func source(s step) (code, why string) {
	if s.act.Fenced {
		code, _ = transcript.Code(s.turn.Hop.Message.Text())
		return code, ""
	}
	code, err := argument(arguments(s.turn, s.act.ID), "code")
	if err != nil {
		return "", errs.As(err).Message + ": give the code as {\"code\": \"...\"}"
	}
	return code, ""
}

// clean takes secrets, and what the model must not see, out of a text of the sandbox.
func (r *run) clean(text string) string { return r.secrets.Replace(r.gate.Clean(text)) }

// shown is what the model is told of a cell: what it printed, its value, how it failed,
// and which calls it made. In the report that modes were compared by, code did worse than
// calls one by one; one cause is results that a program swallows. So calls that failed are
// named, and so are the results of those that must be observed, printed or not.
func (r *run) shown(ran record.CellRan) string {
	var b strings.Builder
	b.WriteString(ran.Output)
	line := func(text string) {
		if b.Len() > 0 && !strings.HasSuffix(b.String(), "\n") {
			b.WriteString("\n")
		}
		b.WriteString(text)
	}
	if ran.Value != "" && ran.Value != "None" {
		line(ran.Value)
	}
	if ran.Traceback != "" {
		line(ran.Traceback)
	}
	if ran.Reason != "" {
		line("[" + ran.Reason + "]")
	}
	if ran.Status == string(repl.Died) {
		line("[A new Python goes on. Its names are gone; files are as they are.]")
	}
	if ran.Truncated && ran.Artifact != nil {
		line("[the whole output is in " + ran.Artifact.Path + "]")
	}
	text := clip(b.String(), r.contract.Agent.ResultChars)
	for _, l := range r.callLines(ran.Cell) {
		text += "\n" + l
	}
	if text = strings.TrimSpace(text); text == "" {
		return "[no output]"
	}
	return text
}

// callLines tell of the calls of a cell what its output may not.
func (r *run) callLines(id string) []string {
	r.state.Lock()
	defer r.state.Unlock()
	c := r.t.Cell(id)
	if c == nil {
		return nil
	}
	var out []string
	failed := 0
	for _, k := range c.Calls {
		if k.Returned == nil {
			continue
		}
		d, _ := r.gate.Def(k.Returned.Name)
		switch {
		case k.Returned.Error != nil && failed < 5:
			failed++
			out = append(out, fmt.Sprintf("[%s failed: %s]", d.Name, clip(r.clean(k.Returned.Error.Message), 200)))
		case d.Observe && k.Returned.Error == nil:
			out = append(out, fmt.Sprintf("[%s gave: %s]", d.Name, clip(r.secrets.Replace(r.gate.ForModel(d.Name, result(*k.Returned), 4*r.contract.Agent.ResultChars)), r.contract.Agent.ResultChars)))
		}
	}
	if len(c.Calls) > 0 {
		out = append(out, fmt.Sprintf("[%d tool calls]", len(c.Calls)))
	}
	return out
}

// clip bounds a text for the model and says how much is gone.
func clip(text string, chars int) string {
	if len(text) <= chars {
		return text
	}
	if n := len([]rune(text)); n > chars {
		return contract.Clip(text, chars) + fmt.Sprintf("\n[%d of %d characters are left out]", n-chars, n)
	}
	return text
}
