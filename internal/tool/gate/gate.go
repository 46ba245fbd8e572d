// Package gate is the one way to call a tool. Each call passes, in this order: is the
// tool known; was the call made before; do its arguments fit the schema; does the policy
// allow the effect; is there budget; does a person approve. Then the ledger has it on
// record, and only then is it invoked, with a time limit and with further attempts where
// they do no harm; the result is bounded and checked, and on record before anybody sees it.
package gate

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"macaron/internal/errs"
	"macaron/internal/ids"
	"macaron/internal/tool"
)

// Ledger keeps what was called and what came of it.
type Ledger interface {
	// Past gives the recorded result of a call that this run has made before; nil if it
	// has not. It fails for a call that began, may have had its effect and must not be repeated.
	Past(ctx context.Context, c tool.Call, d tool.Def) (*tool.Result, error)
	// Begin records that a call is about to happen. It is durable when Begin returns.
	Begin(ctx context.Context, c tool.Call, d tool.Def) error
	// End records a result. A call that was refused (Error.Refused) has no Begin.
	End(ctx context.Context, c tool.Call, r tool.Result) error
}

// Options are what a gate enforces, beside the definitions of its tools.
type Options struct {
	Tools  []tool.Tool
	Ledger Ledger
	Policy Policy
	Limits Limits
	// Approve asks a person. An error of the code Forbidden is a no and becomes the call's
	// result; any other ends the attempt and goes to the caller. Without Approve nobody can
	// say yes.
	Approve func(ctx context.Context, c tool.Call, d tool.Def) error
	Wait    func(ctx context.Context, d time.Duration) error // between attempts; nil: a timer
}

// Policy narrows what tools may do.
type Policy struct {
	Effects []tool.Effect // allowed; nil: all
	Approve []tool.Effect // that a person must approve, beside tools that say so themselves
	InCode  []tool.Effect // allowed to code (calls with a Parent); nil: all that are allowed
	Look    bool          // after a tool with Observe, the cell that called it calls nothing more
}

// Limits bound one run; zero takes the default.
type Limits struct {
	Calls     int           // of all tools together; 0: no bound
	Arguments int           // bytes of one call's arguments; default 1 MiB
	Result    int           // bytes of one result's value; default 8 MiB
	Timeout   time.Duration // of one attempt of a tool that names none; default 60 s
}

// Gate holds the tools of one run. It is safe for concurrent use.
type Gate struct {
	o     Options
	tools map[string]guarded
	defs  []tool.Def
	taint tool.Taint

	mu     sync.Mutex
	total  int
	calls  map[string]int
	looked map[string]string // cell -> tool whose result is to be looked at first
	inside map[string]*inner // calls of tools that are under way, by id
}

// guarded is a tool with its schemas ready.
type guarded struct {
	tool.Tool
	def           tool.Def
	takes, yields *schema
}

// New checks every definition and compiles its schemas.
func New(o Options) (*Gate, error) {
	if o.Ledger == nil {
		return nil, errs.New(errs.Internal, "a gate without a ledger", "")
	}
	o.Limits = o.Limits.filled()
	if o.Wait == nil {
		o.Wait = wait
	}
	g := &Gate{o: o, tools: map[string]guarded{}, calls: map[string]int{}, looked: map[string]string{}, inside: map[string]*inner{}}
	for _, t := range o.Tools {
		if err := g.add(t); err != nil {
			return nil, err
		}
	}
	return g, nil
}

func (g *Gate) add(t tool.Tool) error {
	d := t.Def()
	d.Parameters = d.Schema()
	if err := d.Check(); err != nil {
		return err
	}
	if _, twice := g.tools[d.Name]; twice {
		return errs.New(errs.InvalidRequest, "two tools are called "+d.Name, "give one of them another name")
	}
	takes, err := compile(d.Name+".parameters", d.Parameters)
	if err != nil {
		return err
	}
	yields, err := compile(d.Name+".returns", d.Returns)
	if err != nil {
		return err
	}
	g.tools[d.Name] = guarded{t, d, takes, yields}
	g.defs = append(g.defs, d)
	return nil
}

// Defs lists the tools in the order in which they were given.
func (g *Gate) Defs() []tool.Def { return slices.Clone(g.defs) }

// Hash names what the gate offers, for the run's record.
func (g *Gate) Hash() (ids.Digest, error) { return tool.Hash(g.defs) }

// Def gives one tool's definition.
func (g *Gate) Def(name string) (tool.Def, bool) {
	t, ok := g.tools[name]
	return t.def, ok
}

// Restore counts a call of an earlier process against the budgets and learns its NoAI values.
func (g *Gate) Restore(c tool.Call, r tool.Result) error {
	t, ok := g.tools[c.Name]
	if !ok {
		return nil
	}
	if r.Error == nil || !r.Error.Refused {
		g.count(c.Name)
	}
	return g.taint.Learn(t.def, r)
}

// Spent lists the tools that have been called as often as they may.
func (g *Gate) Spent() []string {
	g.mu.Lock()
	defer g.mu.Unlock()
	var out []string
	for _, d := range g.defs {
		if d.MaxCalls > 0 && g.calls[d.Name] >= d.MaxCalls {
			out = append(out, d.Name)
		}
	}
	return out
}

// Calls is how many calls were let through.
func (g *Gate) Calls() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.total
}

// ForModel gives what a model is told of a result, without any NoAI value of this run.
func (g *Gate) ForModel(name string, r tool.Result, limit int) string {
	return tool.Bounded(g.taint.Clean(r.ForModel(g.tools[name].def, g.o.Limits.Result)), limit)
}

// Clean takes the NoAI values of this run out of a text that goes to the model, such as
// the output of a cell.
func (g *Gate) Clean(text string) string { return g.taint.Clean(text) }

func (g *Gate) names() string {
	var names []string
	for _, d := range g.defs {
		names = append(names, d.Name)
	}
	return strings.Join(names, ", ")
}

func (l Limits) filled() Limits {
	if l.Arguments <= 0 {
		l.Arguments = 1 << 20
	}
	if l.Result <= 0 {
		l.Result = 8 << 20
	}
	if l.Timeout <= 0 {
		l.Timeout = time.Minute
	}
	return l
}

func wait(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return errs.Wrap(errs.Canceled, ctx.Err(), "the run was stopped", "")
	}
}

// refusal is a result of a call that was not let through.
func refusal(code errs.Code, format string, args ...any) *tool.Result {
	return &tool.Result{Error: &tool.Error{Code: code, Message: fmt.Sprintf(format, args...), Refused: true}}
}
