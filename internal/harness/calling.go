package harness

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"

	"macaron/internal/contract"
	"macaron/internal/errs"
	"macaron/internal/repl"
	"macaron/internal/tool"
)

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
