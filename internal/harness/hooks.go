package harness

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"macaron/internal/contract"
	"macaron/internal/record"
	"macaron/internal/repl"
	"macaron/internal/tool"
	"macaron/internal/transcript"
)

// start runs the hooks of the beginning, once: they are on record.
func (r *run) start(ctx context.Context) error {
	for _, h := range r.contract.HooksOn(contract.OnStart) {
		if r.passed(h.Name) {
			continue
		}
		why, err := r.check(ctx, h, event{Task: r.t.Opened.Task.Instruction})
		if err != nil {
			return err
		}
		ok := why == ""
		if err := r.append(ctx, record.RunNote{Note: record.NoteHook, Name: h.Name, OK: &ok, Text: why}); err != nil {
			return err
		}
		if !ok {
			return &halt{status: record.RunFailed, reason: "the hook " + h.Name + " does not let it begin: " + why}
		}
	}
	return nil
}

func (r *run) passed(hook string) bool {
	r.state.Lock()
	defer r.state.Unlock()
	return slices.ContainsFunc(r.t.Notes, func(n transcript.Note) bool {
		return n.Note == record.NoteHook && n.Name == hook && n.OK != nil && *n.OK
	})
}

// toolHooks asks the hooks of a point about a call and gives the first no, in its words.
func (r *run) toolHooks(ctx context.Context, on contract.Point, c tool.Call, out *tool.Result) (string, error) {
	for _, h := range r.contract.HooksOn(on) {
		if len(h.Tools) > 0 && !slices.Contains(h.Tools, c.Name) {
			continue
		}
		e := event{Task: r.t.Opened.Task.Instruction, Tool: c.Name, Arguments: c.Arguments}
		if out != nil {
			e.Result = out.Value
			if out.Error != nil {
				e.Error = out.Error.Message
			}
		}
		why, err := r.check(ctx, h, e)
		if err != nil {
			return "", err
		}
		if why == "" {
			continue
		}
		no := false
		return h.Name + ": " + why, r.append(ctx, record.RunNote{Note: record.NoteHook, Name: h.Name, Call: c.ID, OK: &no, Text: why})
	}
	return "", nil
}

// gates runs the stop-gates: the run does not end before all of them pass. What the first
// one that does not says goes back to the model; after its rounds the run has failed.
func (r *run) gates(ctx context.Context, s step) (bool, error) {
	r.h.Point("gates")
	for _, h := range r.contract.HooksOn(contract.OnStop) {
		why, err := r.check(ctx, h, event{Task: r.t.Opened.Task.Instruction, Answer: s.answer})
		if err != nil {
			return false, err
		}
		ok, round := why == "", r.rounds(h.Name)+1
		note := record.RunNote{Note: record.NoteHook, Name: h.Name, OK: &ok, Text: why, Round: round}
		if ok {
			if err := r.append(ctx, note); err != nil {
				return false, err
			}
			continue
		}
		word := record.RunNote{Note: record.NoteMessage, Text: r.contract.GateMessage(why)}
		if s.act != nil {
			word.Call = s.act.ID
		}
		if err := r.append(ctx, note, word); err != nil {
			return false, err
		}
		if round >= h.MaxRounds {
			return false, &halt{status: record.RunGated, reason: fmt.Sprintf("the gate %s has said no %d times: %s", h.Name, round, why)}
		}
		return false, nil
	}
	return true, nil
}

// rounds counts how often a gate has said no.
func (r *run) rounds(hook string) int {
	r.state.Lock()
	defer r.state.Unlock()
	n := 0
	for _, note := range r.t.Notes {
		if note.Note == record.NoteHook && note.Name == hook && note.OK != nil && !*note.OK {
			n++
		}
	}
	return n
}

// check asks one hook; "" is yes, anything else is why not.
func (r *run) check(ctx context.Context, h contract.Hook, e event) (string, error) {
	if h.Python != "" {
		return r.python3(ctx, h, e)
	}
	c, ok := checks[h.Check]
	if !ok {
		return "", noCheck(h)
	}
	why, err := c(r, h, e)
	return clip(why, r.contract.Agent.ResultChars), err
}

// event is what a hook is asked about.
type event struct {
	Task      string `json:"task"`
	Answer    string `json:"answer,omitempty"`
	Tool      string `json:"tool,omitempty"`
	Arguments any    `json:"arguments,omitempty"`
	Result    any    `json:"result,omitempty"`
	Error     string `json:"error,omitempty"`
}

// python3 runs the source of a hook in a sandbox of its own, which the model has not
// touched, on a copy of the workspace. The value of its last expression is the verdict:
// True and None are yes, a text is why not.
func (r *run) python3(ctx context.Context, h contract.Hook, e event) (string, error) {
	pool, err := r.sandbox(ctx)
	if err != nil {
		return "", err
	}
	text, err := plain(e)
	if err != nil {
		return "", err
	}
	s, err := pool.Session(ctx, repl.SessionOptions{ID: r.id + "-" + h.Name, Seed: r.t.Opened.Seed})
	if err != nil {
		return "", err
	}
	defer s.Close() // the session is ours alone
	if err := r.copyTo(s.Workspace); err != nil {
		return "", err
	}
	for _, code := range []string{"import json as _json\nevent = _json.loads(" + literal(string(text)) + ")", h.Python} {
		out, err := s.Run(ctx, repl.Cell{Code: code})
		if err != nil {
			return "", err
		}
		if why := verdict(out); why != "" {
			return clip(r.clean(why), r.contract.Agent.ResultChars), nil
		}
	}
	return "", nil
}

// verdict reads what a hook's code came to.
func verdict(out repl.Outcome) string {
	switch {
	case out.Status == repl.Raised:
		lines := strings.Split(strings.TrimSpace(out.Traceback), "\n")
		return lines[len(lines)-1]
	case out.Status != repl.OK:
		return "the check did not end: " + out.Reason
	case out.Value == "" || out.Value == "None" || out.Value == "True":
		return ""
	case out.Value == "False":
		return firstOf(strings.TrimSpace(out.Output), "the check says no")
	}
	return strings.Trim(out.Value, `'"`)
}

// literal writes a text as Python source.
func literal(text string) string {
	b, err := plain(text)
	if err != nil {
		return `""`
	}
	return string(b) // JSON's strings are Python's, but for surrogates, which plain never writes
}
