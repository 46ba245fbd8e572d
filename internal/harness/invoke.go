package harness

import (
	"context"
	"encoding/json"
	"errors"

	"macaron/internal/contract"
	"macaron/internal/errs"
	"macaron/internal/record"
	"macaron/internal/repl"
	"macaron/internal/tool"
)

// invoke makes a call through the hooks and the gate. An error means that the run stands
// still; what the model or code can mend is in the result.
func (r *run) invoke(ctx context.Context, c tool.Call) (tool.Result, error) {
	if k := r.call(c.ID); k == nil || k.Called == nil && k.Returned == nil { // the hooks were asked before, else
		no, err := r.toolHooks(ctx, contract.OnBeforeTool, c, nil)
		if err != nil {
			return tool.Result{}, err
		}
		if no != "" {
			refused := tool.Result{Error: &tool.Error{Code: errs.Forbidden, Message: no, Refused: true}}
			return refused, ledger{r}.End(ctx, c, refused)
		}
	}
	out, err := r.gate.Invoke(ctx, c)
	if err != nil {
		return out, err
	}
	return out, r.after(ctx, c, out)
}

// nested makes a call that a tool of the run makes while it is called itself.
func (r *run) nested(ctx context.Context, parent, name string, args json.RawMessage) (json.RawMessage, error) {
	out, err := r.gate.Nested(ctx, parent, name, args, r.invoke)
	if err != nil {
		return nil, err
	}
	if e := out.Error; e != nil {
		return nil, &repl.CallError{Code: string(e.Code), Message: e.Message, Retryable: e.Retryable}
	}
	return r.scrub(out.Value), nil
}

// after asks the hooks about a call that was made. What they say goes to the model.
func (r *run) after(ctx context.Context, c tool.Call, out tool.Result) error {
	why, err := r.toolHooks(ctx, contract.OnAfterTool, c, &out)
	if err != nil || why == "" {
		return err
	}
	return r.append(ctx, record.RunNote{Note: record.NoteMessage, Text: why})
}

// approve asks a person for a call: the run stands still until there is an answer.
func (r *run) approve(ctx context.Context, c tool.Call, d tool.Def) error {
	k := r.call(c.ID)
	switch {
	case k != nil && k.Approved != nil && *k.Approved:
		return nil
	case k != nil && k.Approved != nil:
		return errs.New(errs.Forbidden, firstOf(k.Refusal, "no reason is given"), "")
	case k == nil || !k.Asked:
		text, err := json.Marshal(map[string]any{"name": c.Name, "arguments": c.Arguments, "effect": d.Effect})
		if err != nil {
			return err
		}
		if err := r.append(ctx, record.RunNote{Note: record.NoteApprovalAsked, Name: c.Name, Call: c.ID, Item: c.Parent, Text: r.secrets.Replace(string(text))}); err != nil {
			return err
		}
	}
	return &halt{status: record.RunWaiting, call: c.ID, reason: "the call " + c.ID + " of " + c.Name + " waits for a person's yes or no"}
}

func firstOf(texts ...string) string {
	for _, t := range texts {
		if t != "" {
			return t
		}
	}
	return ""
}

// halting gives the halt inside an error, nil if there is none.
func halting(err error) *halt {
	var h *halt
	if errors.As(err, &h) {
		return h
	}
	return nil
}
