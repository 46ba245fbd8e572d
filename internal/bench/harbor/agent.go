package harbor

import (
	"context"
	"encoding/json"
	"path/filepath"

	"macaron/internal/errs"
	"macaron/internal/harness"
	"macaron/internal/record"
	"macaron/internal/tool"
	"macaron/internal/tool/builtin"
)

// Act has the model of a harness work on the task, with a shell in the environment and the
// file tools on /app. What it ends with is in the report; what it did, in the environment.
func (tr *Trial) Act(ctx context.Context, d harness.Deps, owner string, seed uint64) (harness.Report, error) {
	d.Tools = func(context.Context, harness.Bench) ([]tool.Tool, func() error, error) {
		out := []tool.Tool{shell{tr}}
		for name, t := range (builtin.Files{Dir: filepath.Join(tr.Dir, "app"), MaxBytes: 256 << 20, MaxFiles: 10_000}).Tools() {
			if name == "files.read" || name == "files.write" || name == "files.list" {
				out = append(out, t)
			}
		}
		return out, func() error { return nil }, nil
	}
	h := harness.New(d)
	defer h.Close()
	limits := record.RunLimits{WallMS: int64(tr.Task.Config.Agent.Seconds * 1000)}
	return h.Run(ctx, owner, harness.Task{ID: tr.Task.Name, Instruction: tr.Task.Instruction, Purpose: record.Evaluation, Seed: seed, Suite: "harbor"}, harness.Options{Limits: limits})
}

// shell is the environment's.
type shell struct{ tr *Trial }

// Def implements tool.Tool.
func (shell) Def() tool.Def {
	return tool.Def{Name: "shell", Description: "Run a bash command in the environment, which has no network. /app can be written.", Effect: tool.Write,
		Parameters: json.RawMessage(`{"type":"object","properties":{"command":{"type":"string","minLength":1,"maxLength":65536}},"required":["command"],"additionalProperties":false}`)}
}

// Invoke implements tool.Tool.
func (s shell) Invoke(ctx context.Context, c tool.Call) (tool.Result, error) {
	var args struct{ Command string }
	if err := json.Unmarshal(c.Arguments, &args); err != nil {
		return tool.Result{}, errs.New(errs.InvalidRequest, "the arguments cannot be read", "")
	}
	exit, err := s.tr.Shell(ctx, args.Command, 0, nil)
	if err != nil {
		return tool.Result{}, err
	}
	value, err := json.Marshal(map[string]any{"exit": exit.Code, "output": exit.Output, "reason": exit.Reason})
	return tool.Result{Value: value}, err
}
