package recipe

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"time"

	"macaron/internal/disk"
	"macaron/internal/engine/lora"
	"macaron/internal/errs"
	"macaron/internal/ids"
	"macaron/internal/train"
	"macaron/internal/train/curve"
)

// Options of a run.
type Options struct {
	Fresh bool // begin anew, whatever checkpoint is there
	Stop  int  // stop after so many steps of this call, with a checkpoint; 0: at the end
	Tell  func(step, steps int, metrics map[string]float64)
}

// Check refuses options that no run can have.
func (o *Options) Check() error {
	if o.Stop < 0 {
		return errs.New(errs.InvalidRequest, fmt.Sprintf("a run cannot stop after %d steps", o.Stop), "give --stop-after a number of steps, or leave it out to train to the end").In("stop-after")
	}
	return nil
}

// Result is what a run made, and from what: it is written beside the adapter as
// provenance.json.
type Result struct {
	Dir      string             `json:"-"`
	Done     bool               `json:"-"` // else it was stopped before its end
	Revision ids.Digest         `json:"revision"`
	Base     ids.Digest         `json:"base"`
	Parent   ids.Digest         `json:"parent,omitempty"` // the adapter it began from
	Recipe   ids.Digest         `json:"recipe"`
	Data     ids.Digest         `json:"data"`
	Dataset  ids.Digest         `json:"dataset,omitempty"` // that the data are a file of; its provenance.jsonl says where each row comes from
	HeldOut  ids.Digest         `json:"held_out,omitempty"`
	Teacher  ids.Digest         `json:"teacher,omitempty"`
	Method   string             `json:"method"`
	Gradient string             `json:"gradient,omitempty"` // where it is not exact
	Seed     uint64             `json:"seed"`
	Steps    int                `json:"steps"`
	Tokens   int64              `json:"tokens"`
	Metrics  map[string]float64 `json:"metrics"` // of the last evaluation
}

// cursor is what a checkpoint of a run keeps beside the trainer's state.
type cursor struct {
	Recipe ids.Digest `json:"recipe"`
	Data   ids.Digest `json:"data"`
	Tokens int64      `json:"tokens"`

	Parent  ids.Digest `json:"parent,omitempty"` // these two are files that the recipe names
	Teacher ids.Digest `json:"teacher,omitempty"`
}

// run is one call of Train.
type run struct {
	r      *Recipe
	m      *Machine
	o      Options
	t      *train.Trainer
	method method
	start  *lora.Adapter // nil: the base
	from   int64         // steps that earlier processes took
	made   Result
	log    *log
}

// Train trains by a recipe, or goes on from the last checkpoint of its work directory. It
// refuses to go on when recipe or data are not the checkpoint's.
func (r *Recipe) Train(ctx context.Context, m Machine, o Options) (Result, error) {
	if err := o.Check(); err != nil {
		return Result{}, err
	}
	if _, err := os.Lstat(r.path(r.Out)); err == nil {
		return Result{}, errs.New(errs.InvalidRequest, r.path(r.Out)+" is there already", "remove it, or give another out")
	}
	mine, err := r.claim()
	if err != nil {
		return Result{}, err
	}
	defer mine.Close() // which gives it back
	x := &run{r: r, m: &m, o: o, made: Result{Dir: r.path(r.Out), Base: m.Base.Base, Recipe: r.Hash, Method: r.Method, Gradient: r.gradient(), Seed: r.Seed}}
	if err := x.prepare(); err != nil {
		return Result{}, err
	}
	if err := x.open(); err != nil {
		return Result{}, err
	}
	defer x.t.Close()
	if err := x.loop(ctx); err != nil || !x.made.Done {
		return x.made, err
	}
	return x.made, x.finish(ctx)
}

// gradient is the way of gradients where it is not the exact one.
func (r *Recipe) gradient() string {
	if r.Run.Gradient == train.Exact.String() {
		return ""
	}
	return r.Run.Gradient
}

// prepare reads the data and makes the method.
func (x *run) prepare() error {
	lines, heldOut, err := x.read()
	if err != nil {
		return err
	}
	if dir := x.r.Adapter.Init; dir != "" {
		if x.start, err = x.m.Load(x.r.path(dir)); err != nil {
			return err
		}
		x.made.Parent = x.start.Revision.Hash
	}
	x.method, err = x.newMethod(lines, heldOut)
	return err
}

func (x *run) newMethod(lines, heldOut []line) (method, error) {
	switch x.r.Method {
	case "sft":
		return newSFT(x.r, x.m, lines, heldOut)
	case "dpo":
		return newDPO(x.r, x.m, lines, heldOut, x.start)
	case "grpo", "ppo":
		return newPolicy(x.r, x.m, lines, heldOut)
	}
	var teacher *lora.Adapter
	if name := x.r.Distill.Teacher; name != "base" {
		var err error
		if teacher, err = x.m.Load(x.r.path(name)); err != nil {
			return nil, err
		}
		x.made.Teacher = teacher.Revision.Hash
	}
	if x.r.Distill.Top > 0 {
		return newSoft(x.r, x.m, lines, heldOut, teacher)
	}
	return newOwn(x.r, x.m, lines, teacher)
}

// open makes the trainer, new or from the last checkpoint.
func (x *run) open() (err error) {
	work := x.r.path(x.r.Work)
	if x.o.Fresh {
		if err := clear(work); err != nil {
			return err
		}
	}
	c, err := train.Latest(work)
	switch {
	case errs.CodeOf(err) == errs.NotFound:
		err = x.begin()
	case err == nil:
		err = x.resume(c)
	}
	if err != nil {
		return err
	}
	x.from = x.t.Steps()
	x.log, err = openLog(x.r.Metrics(), x.from)
	return err
}

func (x *run) begin() (err error) {
	if x.start != nil {
		x.t, err = train.From(x.m.Passes, x.m.Base, x.m.Context, x.start)
		return err
	}
	a := x.r.Adapter
	s := train.Spec{Rank: a.Rank, Alpha: a.Alpha, RsLoRA: a.RsLoRA, Targets: a.Targets, Seed: x.r.Seed}
	if len(a.Targets) == 0 {
		s.Attn, s.MLP = true, true
	}
	x.t, err = train.New(x.m.Passes, x.m.Base, x.m.Context, s)
	return err
}

func (x *run) resume(c *train.Checkpoint) (err error) {
	var at cursor
	if err := json.Unmarshal([]byte(c.Cursor), &at); err != nil || at.Recipe != x.r.Hash || at.Data != x.made.Data {
		return errs.New(errs.InvalidRequest, "the checkpoint in "+x.r.path(x.r.Work)+" is of another recipe or of other data", "restore these, or begin anew with --fresh")
	}
	for _, c := range []struct {
		key      string
		was, now ids.Digest
	}{{"adapter.init", at.Parent, x.made.Parent}, {"distill.teacher", at.Teacher, x.made.Teacher}} {
		if c.was != "" && c.was != c.now {
			return errs.New(errs.InvalidRequest, fmt.Sprintf("the run began with the revision %s as %s, which is %s now", c.was.Short(), c.key, c.now.Short()), "restore that adapter, or begin anew with --fresh")
		}
	}
	x.made.Tokens = at.Tokens
	x.t, err = train.Resume(x.m.Passes, x.m.Base, x.m.Context, c, train.Optimizer)
	return err
}

// loop takes the steps that are left.
func (x *run) loop(ctx context.Context) error {
	steps := x.method.steps()
	for taken := 0; int(x.t.Steps()) < steps; taken++ {
		step := int(x.t.Steps())
		if x.o.Stop > 0 && taken >= x.o.Stop && x.method.whole(step) {
			return x.keep()
		}
		if err := x.step(ctx, step, steps); err != nil {
			return x.interrupted(ctx, err)
		}
	}
	x.made.Done = true
	return nil
}

// line begins a line of the metrics: the step that was taken, and how far it is of the end.
func (x *run) line(now time.Time) curve.Line {
	l := curve.Line{"step": float64(x.t.Steps()), "planned": float64(x.method.steps()), "time": float64(now.UnixMilli()) / 1000}
	if x.from > 0 {
		l["resumed"] = float64(x.from)
	}
	return l
}

// interrupted keeps what was trained when a run is told to stop. Gradients of the step
// that was cut short are in the checkpoint and are dropped when it is read.
func (x *run) interrupted(ctx context.Context, err error) error {
	if ctx.Err() == nil || !x.method.whole(int(x.t.Steps())) {
		return err
	}
	if failed := x.keep(); failed != nil {
		return failed
	}
	return err
}

// step is passes, an optimizer step, and what is due after it.
func (x *run) step(ctx context.Context, step, steps int) error {
	began := x.m.Clock.Now()
	rep, err := x.method.pass(ctx, x.t, step)
	if err != nil {
		return err
	}
	adam := x.r.adam(step, steps)
	if rep.empty {
		adam.LearningRate = 0 // nothing was learned, and momentum shall not act alone
	}
	took, err := x.t.OptimStep(ctx, adam)
	if err != nil {
		return err
	}
	x.made.Tokens += int64(rep.tokens)
	now := x.m.Clock.Now()
	m := x.line(now).Stamp(now, int64(rep.tokens), now.Sub(began))
	m["tokens"], m["grad_norm"], m["learning_rate"] = float64(x.made.Tokens), took["grad_norm:mean"], adam.LearningRate
	maps.Copy(m, rep.metrics)
	if every := x.r.Run.EvaluateEvery; every > 0 && (step+1)%every == 0 && step+1 < steps {
		if err := x.evaluate(ctx, m); err != nil {
			return err
		}
	}
	if err := x.log.add(m); err != nil {
		return err
	}
	if x.o.Tell != nil {
		x.o.Tell(step+1, steps, m)
	}
	if every := x.r.Run.CheckpointEvery; every > 0 && (step+1)%every < x.r.RL.Updates && x.method.whole(step+1) {
		return x.keep()
	}
	return nil
}

func (x *run) evaluate(ctx context.Context, into map[string]float64) error {
	m, err := x.method.evaluate(ctx, x.t)
	for k, v := range m {
		into[k] = v
	}
	x.made.Metrics = m
	return err
}

func (x *run) keep() error {
	text, err := json.Marshal(cursor{x.r.Hash, x.made.Data, x.made.Tokens, x.made.Parent, x.made.Teacher})
	if err != nil {
		return err
	}
	_, err = x.t.Keep(x.r.path(x.r.Work), string(text))
	return err
}

// finish evaluates, and writes the adapter with where it comes from.
func (x *run) finish(ctx context.Context) error {
	last := x.line(x.m.Clock.Now())
	if err := x.evaluate(ctx, last); err != nil {
		return err
	}
	if err := x.log.add(last); err != nil {
		return err
	}
	if err := x.keep(); err != nil {
		return err
	}
	a, err := x.t.Adapter()
	if err != nil {
		return err
	}
	x.made.Revision, x.made.Steps = a.Revision.Hash, int(x.t.Steps())
	if err := os.MkdirAll(filepath.Dir(x.made.Dir), 0o755); err != nil {
		return disk.Error(err, x.made.Dir+" cannot be made")
	}
	raw, err := json.MarshalIndent(x.made, "", "  ")
	if err != nil {
		return fmt.Errorf("provenance: %w", err)
	}
	return x.t.Export(x.made.Dir, lora.Beside{Name: "provenance.json", Bytes: append(raw, '\n')})
}
