package discovery

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"os"

	"macaron/internal/bench"
	"macaron/internal/canonical"
	"macaron/internal/errs"
	"macaron/internal/ids"
	"macaron/internal/mindforge"
	"macaron/internal/mindforge/world"
	"macaron/internal/tool"
	"macaron/internal/tool/builtin"
)

// replays is the world of tasks from production: each is opened with what it carries.
type replays struct{}

// Replays is the world of tasks from production.
func Replays() world.World { return replays{} }

// Name implements mindforge.World.
func (replays) Name() string { return "production" }

// Families implements mindforge.World: there are none to draw from.
func (replays) Families() []string { return nil }

// Tools implements world.World: runs have the contract's own.
func (replays) Tools() []world.ToolDoc { return nil }

// Make implements mindforge.World.
func (replays) Make(string, int, uint64) (mindforge.Task, error) {
	return mindforge.Task{}, errs.New(errs.Unsupported, "a task of production is not drawn", "it comes with its record")
}

// Harder implements mindforge.World.
func (replays) Harder(mindforge.Task, mindforge.Way, uint64) (mindforge.Task, error) {
	return mindforge.Task{}, errs.New(errs.Unsupported, "a task of production has no variants", "")
}

// Free implements world.World.
func (replays) Free(f world.Free) (mindforge.Task, error) {
	if err := f.Check(); err != nil {
		return mindforge.Task{}, err
	}
	family, err := templated(f)
	if err != nil {
		return mindforge.Task{}, err
	}
	raw, err := canonical.Bytes(f)
	if err != nil {
		return mindforge.Task{}, err
	}
	seed := binary.BigEndian.Uint64([]byte(ids.DigestOf(raw).Hex())[:8])
	t := mindforge.Task{World: "production", Family: family, Seed: seed, Instruction: f.Instruction, Answer: f.Answer}
	t.ID = world.ID(t.World, t.Family, 0, seed, nil)
	t.Canary = world.Canary(t.ID)
	t.Judged.Solution, t.Judged.Failing = f.Solution, f.Failing
	different := map[string]bool{}
	for _, c := range f.Solution.Calls {
		different[c.Tool] = true
	}
	t.Shape = mindforge.Shape{Calls: len(f.Solution.Calls), Tools: len(different), Depth: len(f.Solution.Calls)}
	t.Judged.Spec, err = canonical.Bytes(world.Verifier{Goal: f.Goal, Free: &f})
	return t, err
}

// Open implements world.World.
func (r replays) Open(t mindforge.Task) (bench.Case, error) {
	var v world.Verifier
	if err := strictly(t.Judged.Spec, maxLine, &v); err != nil || v.Free == nil {
		return nil, errs.New(errs.NotFound, "the task comes without what it is opened with", "")
	}
	again, err := r.Free(*v.Free)
	if err != nil {
		return nil, err
	}
	if again.ID != t.ID {
		return nil, errs.New(errs.NotFound, "the task is not what its name says", "")
	}
	return &replay{free: *v.Free, task: again}, nil
}

// replay is such a task under way.
type replay struct {
	free world.Free
	task mindforge.Task
	left map[string]string
}

// Steps implements bench.Case.
func (*replay) Steps() int { return 1 }

// Step implements bench.Case.
func (c *replay) Step(context.Context, int, []string) (bench.Step, error) {
	step := bench.Step{Instruction: world.Prompt(c.task), Files: map[string][]byte{}, Offer: func(workspace string) map[string]tool.Tool {
		return builtin.Files{Dir: workspace}.Tools()
	}}
	for name, text := range c.free.Files {
		step.Files[name] = []byte(text)
	}
	return step, nil
}

// Look implements bench.Witness.
func (c *replay) Look(_ context.Context, _ int, workspace string) (err error) {
	c.left, err = world.Left(workspace, c.free.Goal)
	return err
}

// Score implements bench.Case.
func (c *replay) Score(_ context.Context, answers []string) (bench.Score, error) {
	if len(answers) == 0 {
		return c.free.Goal.Judge("", c.left), nil
	}
	return c.free.Goal.Judge(answers[0], c.left), nil
}

// Close implements bench.Case.
func (*replay) Close() error { return nil }

// replayable makes the task, if every call gives again what it gave.
func replayable(ctx context.Context, f world.Free, recorded []json.RawMessage) (mindforge.Task, *Refusal, error) {
	t, err := (replays{}).Free(f)
	if err != nil {
		return t, no(Unreplayed, "%s", err), nil //nolint:nilerr // that is the finding
	}
	files := map[string][]byte{}
	for name, text := range f.Files {
		files[name] = []byte(text)
	}
	dir, err := world.Lay(files)
	if err != nil {
		return t, nil, err
	}
	defer os.RemoveAll(dir) // a temporary directory
	tools := builtin.Files{Dir: dir}.Tools()
	for i, c := range f.Solution.Calls {
		got, err := world.Invoke(ctx, tools[c.Tool], c.Args)
		if err != nil || !same(got, recorded[i]) {
			return t, no(Unreplayed, "the call %d of %s gives something else", i, c.Tool), nil //nolint:nilerr // that is the finding
		}
	}
	return t, nil, nil
}

// same compares a result with the recorded one, as JSON.
func same(got string, recorded json.RawMessage) bool {
	a, err1 := canonical.JSON([]byte(got))
	b, err2 := canonical.JSON(recorded)
	return err1 == nil && err2 == nil && bytes.Equal(a, b)
}
