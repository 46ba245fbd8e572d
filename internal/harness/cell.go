package harness

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"time"

	"macaron/internal/contract"
	"macaron/internal/errs"
	"macaron/internal/ids"
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
	space, err := r.python(ctx)
	if err != nil {
		return err
	}
	inside, stop := context.WithCancel(ctx)
	defer stop()
	r.calling.begin(s.act.ID, stop)
	r.h.Point("cell")
	out, err := space.Run(inside, repl.Cell{ID: s.act.ID, Code: code})
	if err := r.calling.end(); err != nil {
		return err // a call has stopped the run: the cell is as if it had not run
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
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

// calling is the cell that runs, as its calls see it.
type calling struct {
	mu      sync.Mutex
	cell    string // "": none runs
	stop    func()
	made    int
	stopped error
	open    sync.WaitGroup // calls that have no result yet
}

func (c *calling) begin(cell string, stop func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.cell, c.stop, c.made, c.stopped = cell, stop, 0, nil
}

// end waits for the calls that are under way still, as where the Python was killed beneath
// them, and gives what has stopped the run from inside the cell: what came of every call is on
// record before the run goes on.
func (c *calling) end() error {
	c.mu.Lock()
	c.cell, c.stop = "", nil
	c.mu.Unlock()
	c.open.Wait()
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.stopped
}

// number counts the calls of the cell, in the order in which they come. One that has a number
// is open until c.open is told.
func (c *calling) number(cell string) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.stopped != nil {
		return 0, c.stopped
	}
	if c.cell != cell {
		return 0, errs.New(errs.Canceled, "the cell has ended", "")
	}
	c.made++
	c.open.Add(1)
	return c.made, nil
}

// fail stops the cell and the run: code could catch the error of its call and go on.
func (c *calling) fail(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.stopped == nil {
		c.stopped = err
	}
	if c.stop != nil {
		c.stop()
	}
}

// answer is the repl.Caller of the run: a call that code makes goes the way of every call.
func (r *run) answer(ctx context.Context, cell, name string, args json.RawMessage) (json.RawMessage, error) {
	n, err := r.calling.number(cell)
	if err != nil {
		return nil, err
	}
	defer r.calling.open.Done()
	c := tool.Call{ID: fmt.Sprintf("%s/%d", cell, n), Name: name, Arguments: args, Parent: cell}
	before := r.call(c.ID)
	out, err := r.invoke(ctx, c)
	if err == nil && before != nil && before.Returned != nil {
		err = r.redo(ctx, c, out)
	}
	if err != nil {
		r.calling.fail(err)
		return nil, errs.New(errs.Canceled, "the run has stopped", "")
	}
	if e := out.Error; e != nil {
		return nil, &repl.CallError{Code: string(e.Code), Message: e.Message, Retryable: e.Retryable}
	}
	return r.scrub(out.Value), nil
}

// redo has a call that is answered from the record take effect on the workspace again: a
// cell that begins anew has the files of before the call. Other effects are not repeated.
func (r *run) redo(ctx context.Context, c tool.Call, was tool.Result) error {
	if k := r.call(c.ID); k != nil {
		for _, x := range k.Calls {
			if x.Called == nil || x.Returned == nil {
				continue
			}
			if err := r.redo(ctx, call(x), result(*x.Returned)); err != nil {
				return err
			}
		}
	}
	t, ok := r.contract.Tool(c.Name)
	if was.Error != nil || !ok || !strings.HasPrefix(t.Use, contract.UseBuiltin+"files.") {
		return nil
	}
	_, err := r.tools[c.Name].Invoke(ctx, c)
	return err
}

// python gives the run's session, opened and brought to where the record stands.
func (r *run) python(ctx context.Context) (*repl.Session, error) {
	if r.space != nil && !r.space.Ended() {
		return r.space, nil
	}
	if r.space != nil { // killed from outside between two cells: the record brings it back
		if err := r.space.Close(); err != nil {
			return nil, err
		}
		r.space = nil
	}
	o := repl.SessionOptions{ID: r.id, Workspace: r.dir, Stubs: Stubs(r.stubDefs()), Call: r.answer, Seed: r.t.Opened.Seed, Frozen: true,
		Limits: Limits(r.contract.Sandbox)}
	pool, err := r.sandbox(ctx)
	if err != nil {
		return nil, err
	}
	journal, policy := r.journal()
	if len(journal) == 0 {
		return r.begin(ctx, pool, o)
	}
	set, err := r.variables()
	if err != nil {
		return nil, err
	}
	if set != "" {
		journal = append([]repl.Entry{{Cell: "environment", Code: set, Status: repl.OK}}, journal...)
	}
	files := r.files()
	r.space, err = pool.Restore(ctx, o, repl.Snapshot{Policy: policy, Journal: journal})
	if err == nil {
		return r.space, r.restore(files)
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	r.h.Logger.Warn("a run's Python could not be restored", "run", r.id, "err", err)
	note := record.RunNote{Note: record.NoteReset, Text: errs.As(err).Message}
	word := record.RunNote{Note: record.NoteMessage, Text: "The Python session had to be begun anew: its names are gone. Files are as they were."}
	if _, err := r.begin(ctx, pool, o); err != nil {
		return nil, err
	}
	if err := r.restore(files); err != nil {
		return nil, err
	}
	return r.space, r.append(ctx, note, word)
}

// begin opens a session in which nothing has run.
func (r *run) begin(ctx context.Context, pool *repl.Pool, o repl.SessionOptions) (*repl.Session, error) {
	s, err := pool.Session(ctx, o)
	if err != nil {
		return nil, err
	}
	r.space = s
	return s, r.environ(ctx, s)
}

// Limits are a contract's bounds of a sandbox.
func Limits(b contract.Sandbox) repl.Limits {
	return repl.Limits{MemoryMB: b.MemoryMB, PIDs: b.PIDs, CPUSeconds: b.CPUSeconds, DiskMB: b.DiskMB, WallMS: b.WallMS, OutputBytes: b.OutputBytes}
}

// journal is what the session's cells were, since its names were lost the last time, and
// the policy of the sandbox that they ran in.
func (r *run) journal() (entries []repl.Entry, policy ids.Digest) {
	r.state.Lock()
	defer r.state.Unlock()
	var reset time.Time
	for _, n := range r.t.Notes {
		if n.Note == record.NoteReset {
			reset = n.Time
		}
	}
	for _, c := range r.t.Cells() {
		if c.Ran.Status == string(repl.Died) || !c.At.After(reset) {
			continue
		}
		policy = c.Ran.Policy
		e := repl.Entry{Cell: c.ID, Code: c.Ran.Code, Now: c.Ran.Now, Status: repl.Status(c.Ran.Status)}
		for _, k := range c.Calls {
			e.Calls = append(e.Calls, callRecord(k))
		}
		entries = append(entries, e)
	}
	return entries, policy
}

// callRecord is a call of a cell as a journal has it.
func callRecord(k *transcript.Call) repl.CallRecord {
	out := repl.CallRecord{}
	if k.Called != nil {
		out.Name, out.Args = k.Called.Name, k.Called.Arguments
	}
	if b := k.Returned; b != nil {
		out.Name, out.Value = b.Name, b.Value
		if e := b.Error; e != nil {
			out.Value, out.Error = nil, &repl.CallError{Code: e.Code, Message: e.Message, Retryable: e.Retryable}
		}
	}
	return out
}
