package harness

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"macaron/internal/canonical"
	"macaron/internal/errs"
	"macaron/internal/record"
	"macaron/internal/tool"
	"macaron/internal/transcript"
)

// ledger keeps a run's calls in the log: it is the gate's record of what was done.
type ledger struct{ r *run }

// assumed is the result of a call that a person says was carried out.
var assumed = json.RawMessage(`{"status":"a person says that this call was carried out; what it gave is not known"}`)

// Past gives what a call gave when it was made before. One that changes things and of which
// nobody knows halts the run, until a person says.
func (l ledger) Past(ctx context.Context, c tool.Call, d tool.Def) (*tool.Result, error) {
	k := l.r.call(c.ID)
	if k == nil {
		return nil, nil
	}
	if err := same(k, c); err != nil {
		return nil, err
	}
	if _, own := l.r.own[c.Name]; k.InDoubt() && !own {
		return nil, inDoubt(c.ID, c.Name, "has no result on record")
	}
	if k.Doubt == record.NoteAssumeDone {
		done := tool.Result{Value: assumed}
		return &done, l.End(ctx, c, done)
	}
	if k.Returned == nil {
		return nil, nil
	}
	r := result(*k.Returned)
	return &r, nil
}

// inDoubt halts a run at a call that may have taken effect.
func inDoubt(id, name, how string) *halt {
	return &halt{status: record.RunInDoubt, call: id, reason: fmt.Sprintf("the call %s of %s %s, and it may have taken effect: see whether it has, then resume with --assume-done or --retry", id, name, how)}
}

// same holds a call that is made again to what it was: code that runs anew after a crash
// must ask for what it asked before.
func same(k *transcript.Call, c tool.Call) error {
	switch {
	case k.Returned != nil && k.Returned.Name != c.Name, k.Called != nil && k.Called.Name != c.Name:
	case k.Called != nil && !equal(k.Called.Arguments, c.Arguments):
	default:
		return nil
	}
	return &halt{status: record.RunFailed, call: c.ID, reason: fmt.Sprintf("run anew after a crash, the code does not make the call %s as it did before", c.ID)}
}

func equal(a, b json.RawMessage) bool {
	if len(b) == 0 {
		b = json.RawMessage("{}")
	}
	x, wrong := canonical.JSON(a)
	y, bad := canonical.JSON(b)
	return wrong == nil && bad == nil && bytes.Equal(x, y)
}

// Begin has a call on record before it takes effect.
func (l ledger) Begin(ctx context.Context, c tool.Call, d tool.Def) error {
	if err := ctx.Err(); err != nil {
		return errs.Wrap(errs.Canceled, context.Cause(ctx), "the run was stopped", "")
	}
	attempt := 1
	if k := l.r.call(c.ID); k != nil && k.Called != nil {
		attempt = k.Called.Attempt + 1
	}
	l.r.h.Point("call.begin")
	err := l.r.append(ctx, record.ToolCalled{Call: c.ID, Name: c.Name, Arguments: c.Arguments, Visible: l.r.showable(c), Effect: string(d.Effect), Parent: c.Parent, Attempt: attempt})
	l.r.h.Point("call.begun")
	if err == nil && ctx.Err() != nil { // cancelled from elsewhere while it was written
		err = errs.Wrap(errs.Canceled, context.Cause(ctx), "the run was stopped", "")
		r := tool.Result{Error: &tool.Error{Code: errs.Canceled, Message: "the run was stopped before the call was made", Retryable: true}}
		return joined(l.End(ctx, c, r), err)
	}
	return err
}

// showable are the arguments of a call that code made as they may be shown, if that is not
// all of them.
func (r *run) showable(c tool.Call) json.RawMessage {
	clean := r.clean(string(c.Arguments))
	switch {
	case c.Parent == "" || clean == string(c.Arguments):
		return nil
	case !json.Valid([]byte(clean)):
		return json.RawMessage(`"` + tool.Hidden + `"`)
	}
	return json.RawMessage(clean)
}

func joined(first, second error) error {
	if first != nil {
		return first
	}
	return second
}

// doubtful are the failures of a call that changes things after which nobody knows.
var doubtful = []errs.Code{errs.Canceled, errs.UpstreamUnavailable, errs.UpstreamFailed, errs.Internal}

// End has what a call gave on record. A call that may or may not have taken effect halts
// the run: the model must not make it again in other words.
func (l ledger) End(ctx context.Context, c tool.Call, r tool.Result) error {
	l.r.h.Point("call.done")
	b := record.ToolReturned{Call: c.ID, Name: c.Name, Parent: c.Parent, Value: l.r.scrub(r.Value)}
	if e := r.Error; e != nil {
		b.Error = &record.RunError{Code: string(e.Code), Message: l.r.secrets.Replace(e.Message), Retryable: e.Retryable, Refused: e.Refused,
			Unknown: e.Unknown && slices.Contains(doubtful, e.Code)}
	}
	if k := l.r.call(c.ID); k != nil && k.Called != nil {
		b.Wall = l.r.h.Clock.Now().Sub(k.Time)
	}
	for _, a := range r.Artifacts {
		b.Artifacts = append(b.Artifacts, record.RunArtifact{Name: a.Name, MIME: a.MIME, Bytes: a.Bytes, Digest: a.Digest, NoAI: a.NoAI})
	}
	if c.Parent == "" {
		b.Shown = l.r.secrets.Replace(l.r.gate.ForModel(c.Name, r, 4*l.r.contract.Agent.ResultChars))
		b.Shown = clip(b.Shown, l.r.contract.Agent.ResultChars)
	}
	err := l.r.append(ctx, b)
	l.r.h.Point("call.ended")
	if err == nil && b.Error != nil && b.Error.Unknown {
		return inDoubt(c.ID, c.Name, "failed: "+l.r.clean(b.Error.Message))
	}
	return err
}

// result is what a record says, in the gate's words.
func result(b record.ToolReturned) tool.Result {
	r := tool.Result{Value: b.Value}
	if e := b.Error; e != nil {
		r.Error = &tool.Error{Code: errs.Code(e.Code), Message: e.Message, Retryable: e.Retryable, Refused: e.Refused, Unknown: e.Unknown}
	}
	for _, a := range b.Artifacts {
		r.Artifacts = append(r.Artifacts, tool.Artifact{Name: a.Name, MIME: a.MIME, Bytes: a.Bytes, Digest: a.Digest, NoAI: a.NoAI})
	}
	return r
}

// call finds what is on record of a call, as a copy.
func (r *run) call(id string) *transcript.Call {
	r.state.Lock()
	defer r.state.Unlock()
	k := r.t.Call(id)
	if k == nil {
		return nil
	}
	copied := *k
	return &copied
}
