package harness

import (
	"context"
	"encoding/json"

	"macaron/internal/errs"
	"macaron/internal/ids"
	"macaron/internal/record"
	"macaron/internal/tool"
)

// Saver keeps tools that runs have written, each for its owner alone. What was saved before
// is the same tool and keeps its first trajectory, so that a call which is made again after
// a crash saves nothing twice.
type Saver interface {
	Save(ctx context.Context, owner string, t record.ToolSaved) (Saved, error)
}

// Saved is what whoever saves a tool is told.
type Saved struct {
	Tool       ids.Digest      `json:"tool"`
	Status     string          `json:"status"`
	Parameters json.RawMessage `json:"parameters"`
	Trajectory string          `json:"trajectory,omitempty"` // of the first who saved it
}

// saveSchema are the arguments of the tool that saves one.
var saveSchema = object(`"name":{"type":"string"},"source":{"type":"string","description":"Python that defines the function"},"effect":{"enum":["pure","read","write","irreversible"]},`+
	`"uses":{"type":"array","items":{"type":"string"},"description":"tools that it calls"},`+
	`"examples":{"type":"array","items":{"type":"object","properties":{"args":{"type":"object"},"value":{}},"required":["args","value"],"additionalProperties":false}},`+
	`"doc":{"type":"string"},"parameters":{"type":"object"},"result":{"type":"object"}`, `"name","source"`)

// saver is the tool that saves one.
func (r *run) saver() ownTool {
	return ownTool{def: tool.Def{Description: "Keep a Python function as a tool. Nothing calls it before somebody else has judged it.", Effect: tool.Write, Parameters: saveSchema}, do: r.saveTool, again: true}
}

// saveTool keeps a tool of this run. What must not leave the run would leave it with the
// source, so such a tool is refused and not altered.
func (r *run) saveTool(ctx context.Context, _ string, args json.RawMessage) (any, error) {
	t, err := record.WrittenTool(args, r.id)
	if err != nil {
		return nil, err
	}
	if r.clean(string(args)) != string(args) {
		return nil, errs.New(errs.InvalidRequest, "the tool quotes a secret, or a value that is not for the model", "have the value come in as an argument")
	}
	return r.h.Saver.Save(ctx, r.owner, t)
}
